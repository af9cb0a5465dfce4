import { onWiki } from '../../platform/access/access-rule.ts';
import { sql } from '../../platform/db/sql.ts';
import { Bytes } from '../../platform/http/bytes.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { type Attachment, AttachmentParams, attachmentColumns, exampleAttachment } from './schema.ts';
import { isShown } from './sniff-type.ts';

export const getAttachment = endpoint({
  method: 'GET',
  path: '/v1/wikis/:wiki_id/attachments/:attachment_id',
  summary: 'Get an attachment',
  description:
    'Returns the bytes; with `Range`, part of them. Browsers display raster images and download all other files.',
  access: onWiki('pages:read'),
  params: AttachmentParams,
  reply: Bytes,
  errors: ['range_not_satisfiable', 'storage_unavailable'],
  example: { reply: { ...exampleAttachment, inline: true } },
  run: async ({ params, one }) => {
    const { sha256, byte_size, content_type, filename } = await one<Attachment>(sql`
      select ${attachmentColumns} from attachments a join pages p on p.wiki_id = a.wiki_id and p.page_id = a.page_id
      where a.wiki_id = ${params.wiki_id} and a.attachment_id = ${params.attachment_id} and p.trashed_at is null
    `);
    return { sha256, byte_size, content_type, filename, inline: isShown(content_type) };
  },
});
