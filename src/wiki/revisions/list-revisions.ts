import { Type } from 'typebox';
import { onWiki } from '../../platform/access/access-rule.ts';
import { PAGING } from '../../platform/core/paging.ts';
import { withoutNulls } from '../../platform/core/records.ts';
import { sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { listOfPage } from '../pages/list-of-page.ts';
import { PageParams } from '../pages/schema.ts';
import { exampleRevision, Revision, revisionColumns } from './schema.ts';

export const listRevisions = endpoint({
  method: 'GET',
  path: '/v1/wikis/:wiki_id/pages/:page_id/revisions',
  summary: "List a page's revisions",
  description: 'Oldest first by default. Numbers may be missing because retention settings delete old revisions.',
  access: onWiki('pages:read'),
  params: PageParams,
  query: Type.Object({
    ...PAGING,
    order: Type.Optional(Type.Enum(['oldest', 'newest'], { description: 'Sort order; oldest first by default.' })),
  }),
  paging: { keys: { 'r.revision': 'integer' }, isDescending: ({ order }) => order === 'newest' },
  reply: Type.Array(Revision),
  example: { reply: [exampleRevision] },
  run: async ({ params, paging, many }) => {
    const revisions = await listOfPage<Revision>(
      many,
      params,
      // Walks the primary key and reads no texts, which are stored out of line.
      sql`select ${revisionColumns} from revisions r where r.wiki_id = p.wiki_id and r.page_id = p.page_id
        ${paging.clause}`,
    );
    return revisions.map(withoutNulls);
  },
});
