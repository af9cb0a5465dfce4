import { Type } from 'typebox';
import { onWiki } from '../../../platform/access/access-rule.ts';
import { raw, sql } from '../../../platform/db/sql.ts';
import { endpoint } from '../../../platform/http/endpoint.ts';
import { abandonedLinksCtes, refuseUnmanaged, subtree, unmanagedParts } from '../place-page.ts';
import { PageParams, pageColumns } from '../schema.ts';

export const trashPage = endpoint({
  method: 'DELETE',
  path: '/v1/wikis/:wiki_id/pages/:page_id',
  summary: 'Delete a page',
  description:
    'Moves the page and the pages below it to the trash. They can be restored for 30 days, or for as long as the retention settings of the workspace say.',
  access: onWiki('pages:write'),
  event: 'page.deleted',
  params: PageParams,
  status: 204,
  reply: Type.Null(),
  example: { reply: null },
  run: ({ params: { wiki_id, page_id }, transaction }) =>
    // Under the lock of the wiki, so that no page is added below a page that is being trashed.
    transaction(async (tx) => {
      await tx.one({
        before: sql`
          select ${pageColumns} from pages p join access a on a.wiki_id = p.wiki_id
          where p.wiki_id = ${wiki_id} and p.page_id = ${page_id} and p.trashed_at is null
          for no key update of p`,
        below: subtree(wiki_id, page_id, raw('c.trashed_at is null')),
        // `offset 0`: if the text of a page is written concurrently, PostgreSQL rechecks the new version of its row
        // (EvalPlanQual). An update that takes its rows directly from a "union all" would lose this row, and the page
        // would stay.
        going: sql`
          select page_id from (select page_id from before union all select b.page_id from below b, before) g offset 0`,
        trashed: sql`
          update pages p set trashed_at = now(), trashed_by = a.user_id, trashed_with = ${page_id}
          from going g, access a
          where p.wiki_id = a.wiki_id and p.page_id = g.page_id and p.trashed_at is null
          returning p.page_id`,
        result: sql`select from trashed p where p.page_id = ${page_id}`,
      });
      const row = await tx.maybeOne<{ parts: number }>({
        ...abandonedLinksCtes({ wiki_id, page_id }),
        result: sql`select ${unmanagedParts({ wiki_id, page_id })} as parts`,
      });
      refuseUnmanaged(row?.parts ?? 0);
      return null;
    }),
});
