import { Type } from 'typebox';
import { onWiki } from '../../platform/access/access-rule.ts';
import { notFound } from '../../platform/core/errors.ts';
import { sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { PageParams } from '../pages/schema.ts';
import { findPageToRestrict, refuseUnlessManaged } from './page-to-restrict.ts';

export const liftRestriction = endpoint({
  method: 'DELETE',
  path: '/v1/wikis/:wiki_id/pages/:page_id/access',
  summary: 'Lift a restriction',
  description:
    'The page and the pages below it are open again to everybody who sees the page above. Restrictions of pages below stay. ' +
    '404 if the page itself is not restricted.',
  access: onWiki('pages:write'),
  event: 'page.unrestricted',
  params: PageParams,
  status: 204,
  reply: Type.Null(),
  example: { reply: null },
  run: ({ params: { wiki_id, page_id }, transaction }) =>
    transaction(async (tx) => {
      const page = await findPageToRestrict(tx, { wiki_id, page_id });
      if (!page.is_restricted) throw notFound('restriction');
      refuseUnlessManaged(page);
      await tx.one({
        before: sql`
          select k.page_id, k.restricted_by, k.restricted_at, coalesce((
            select jsonb_object_agg(g.user_id, g.level) from page_grants g
            where g.wiki_id = k.wiki_id and g.acl_no = k.acl_no), '{}') as grants
          from access a join page_acls k on k.wiki_id = a.wiki_id and k.page_id = ${page_id}`,
        lifted: sql`
          delete from page_acls k using before b, access a
          where k.wiki_id = a.wiki_id and k.page_id = b.page_id
          returning k.page_id`,
        result: sql`select from lifted`,
      });
      return null;
    }),
});
