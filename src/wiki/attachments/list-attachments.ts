import { Type } from 'typebox';
import { onWiki } from '../../platform/access/access-rule.ts';
import { Paging } from '../../platform/core/paging.ts';
import { sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { listOfPage } from '../pages/list-of-page.ts';
import { PageParams } from '../pages/schema.ts';
import { Attachment, attachmentColumns, exampleAttachment } from './schema.ts';

export const listAttachments = endpoint({
  method: 'GET',
  path: '/v1/wikis/:wiki_id/pages/:page_id/attachments',
  summary: "List a page's attachments",
  access: onWiki('pages:read'),
  params: PageParams,
  query: Paging,
  paging: { keys: { 'a.attachment_id': 'text' } },
  reply: Type.Array(Attachment),
  example: { reply: [exampleAttachment] },
  run: ({ params, paging, many }) =>
    listOfPage(
      many,
      params,
      sql`select ${attachmentColumns} from attachments a where a.wiki_id = p.wiki_id and a.page_id = p.page_id
        ${paging.clause}`,
    ),
});
