import { buffer } from 'node:stream/consumers';
import { cleanFilename } from '@ibid/documents/filename.ts';
import { onWiki } from '../../platform/access/access-rule.ts';
import { notFound } from '../../platform/core/errors.ts';
import { newId } from '../../platform/core/ids.ts';
import { sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { PageParams } from '../pages/schema.ts';
import { Attachment, attachmentColumns, exampleAttachment } from './schema.ts';
import { SNIFFED_BYTES, sniffType } from './sniff-type.ts';

/**
 * Attaches a file to a page. Bytes that the page already has are not attached again, whatever the file name: the
 * existing attachment is returned.
 */
export const createAttachment = endpoint({
  method: 'POST',
  path: '/v1/wikis/:wiki_id/pages/:page_id/attachments',
  summary: 'Attach a file to a page',
  description:
    'Send the file as one multipart field with a file name. If the page already has these bytes, the existing attachment is returned. Markdown refers to an attachment as `attachment:<attachment_id>`. `![words](attachment:<attachment_id>#name.mp4)` shows a player if the extension is an audio or video format.',
  access: onWiki('pages:write'),
  event: 'attachment.created',
  params: PageParams,
  consumes: 'multipart',
  form: {
    file: 'attachment',
    target: ({ wiki_id, page_id }) => sql`
      select 1 from pages p where p.wiki_id = ${wiki_id} and p.page_id = ${page_id} and p.trashed_at is null`,
  },
  status: 201,
  reply: Attachment,
  errors: ['quota_exceeded', 'invalid_request', 'payload_too_large', 'unsupported_media_type', 'storage_unavailable'],
  example: { reply: exampleAttachment },
  run: async ({ params, files, services, many, maybeOne }) => {
    const [file] = files;
    if (!file) throw new Error('multipart bodies without a file must be rejected earlier');
    const { sha256, byte_size } = file.blob;
    const filename = cleanFilename(file.filename).split('/').at(-1);
    const start = await buffer(await services.blobs.stream(sha256, { start: 0, end: SNIFFED_BYTES - 1 }));
    const content_type = await sniffType(start);
    const [made] = await many<Attachment>({
      a: sql`
        insert into attachments (wiki_id, attachment_id, page_id, filename, content_type, byte_size, sha256, created_by)
        select access.wiki_id, ${newId('attachment')}, p.page_id, ${filename}, ${content_type}, ${byte_size}, ${sha256},
          access.user_id
        from access join pages p on p.wiki_id = access.wiki_id and p.page_id = ${params.page_id} and p.trashed_at is null
        on conflict (wiki_id, page_id, sha256) do nothing
        returning *`,
      result: sql`select ${attachmentColumns} from a`,
    });
    if (made) return made;
    const known = await maybeOne<Attachment>(sql`
      select ${attachmentColumns} from attachments a join pages p on p.wiki_id = a.wiki_id and p.page_id = a.page_id
      where a.wiki_id = ${params.wiki_id} and a.page_id = ${params.page_id} and a.sha256 = ${sha256} and p.trashed_at is null`);
    if (!known) throw notFound();
    return known;
  },
});
