import { Type } from 'typebox';
import { onWiki } from '../../platform/access/access-rule.ts';
import { sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { AttachmentParams, attachmentColumns } from './schema.ts';

/** Deletes only the reference from the page: a source, or an attachment of another page, may share the bytes. */
export const deleteAttachment = endpoint({
  method: 'DELETE',
  path: '/v1/wikis/:wiki_id/attachments/:attachment_id',
  summary: 'Delete an attachment',
  description: 'References to it, in the page and its history, no longer resolve.',
  access: onWiki('pages:write'),
  event: 'attachment.deleted',
  params: AttachmentParams,
  status: 204,
  reply: Type.Null(),
  errors: ['legal_hold'],
  example: { reply: null },
  run: async ({ params, one }) => {
    await one({
      a: sql`
        delete from attachments a using access
        where a.wiki_id = access.wiki_id and a.attachment_id = ${params.attachment_id}
        returning a.*`,
      before: sql`select ${attachmentColumns} from a`,
      result: sql`select from before`,
    });
    return null;
  },
});
