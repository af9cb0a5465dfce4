import { Type } from 'typebox';
import { onWiki } from '../../platform/access/access-rule.ts';
import type { Statements } from '../../platform/access/guard.ts';
import { ApiError } from '../../platform/core/errors.ts';
import { type Sql, sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { PageParams } from '../pages/schema.ts';
import { findPageToRestrict, refuseUnlessManaged } from './page-to-restrict.ts';
import { examplePageAccess, GivenGrant, GRANTS_MAX, type Level, PageAccess, pageAccess } from './schema.ts';

type Levels = ReadonlyMap<string, Level>;

export const restrictPage = endpoint({
  method: 'PUT',
  path: '/v1/wikis/:wiki_id/pages/:page_id/access',
  summary: 'Restrict a page',
  description:
    'Restricts the page and the pages below it to these people, or replaces the people of a restriction that the page already has. ' +
    'For everybody else, owners included, the pages do not exist. The caller of a new restriction gets `manage`. ' +
    'A restriction inside another one admits people whom both admit.',
  access: onWiki('pages:write'),
  event: 'page.restricted',
  params: PageParams,
  body: Type.Object({ grants: Type.Array(GivenGrant, { maxItems: GRANTS_MAX }) }),
  reply: PageAccess,
  errors: ['invalid_request', 'quota_exceeded'],
  example: {
    body: { grants: examplePageAccess.grants.map(({ user_id, level }) => ({ user_id, level })) },
    reply: examplePageAccess,
  },
  run: ({ params, body: { grants }, transaction }) =>
    transaction(async (tx) => {
      const page = await findPageToRestrict(tx, params);
      refuseUnlessManaged(page);
      const wanted = new Map(grants.map(({ user_id, level }) => [user_id, level]));
      if (!page.is_restricted) wanted.set(page.caller_id, 'manage');
      await refuseInvalid(tx, grants, wanted);
      const current = page.is_restricted ? await tx.maybeOne<PageAccess>(pageAccess(params)) : undefined;
      const given: Levels = new Map(current?.grants.map(({ user_id, level }) => [user_id, level]));
      const [before, after] = [difference(given, wanted), difference(wanted, given)];
      if (current && before.size + after.size === 0) return current;
      if (!current) {
        await tx.execute(sql`
          insert into page_acls (wiki_id, acl_no, page_id, restricted_by)
          select p.wiki_id, 0, p.page_id, a.user_id from access a
          join pages p on p.wiki_id = a.wiki_id and p.page_id = ${params.page_id}`);
      }
      await tx.one(
        replaceGrants(params.page_id, wanted, before, after),
        current ? 'page.access_changed' : 'page.restricted',
      );
      const access = await tx.maybeOne<PageAccess>(pageAccess(params));
      if (!access) throw new Error('a restricted page cannot be read');
      return access;
    }),
});

/**
 * Throws 400 for grants that cannot be stored. Locks users and memberships until the commit, so that a membership ends
 * after its grant exists, and the grant with it. Users first: the deletion of an account locks them in this order.
 */
async function refuseInvalid(tx: Statements, grants: readonly GivenGrant[], wanted: Levels): Promise<void> {
  const seen = new Set<string>();
  const twice = grants.findIndex(({ user_id }) => seen.size === seen.add(user_id).size);
  if (twice >= 0) throw invalidGrant(grants, twice, 'is in the list twice');
  if (wanted.size > GRANTS_MAX) {
    throw new ApiError('invalid_request', `You get access too, so at most ${GRANTS_MAX - 1} other people can.`);
  }
  if (![...wanted.values()].includes('manage')) {
    throw new ApiError('invalid_request', 'At least one person needs the level "manage".');
  }
  const row = await tx.maybeOne<{ active: string[] }>(sql`
    select array(
      select m.user_id from access a cross join unnest(${[...wanted.keys()]}::text[]) w (user_id)
      cross join lateral (
        select m.user_id from users u join memberships m on m.user_id = u.user_id
        where u.user_id = w.user_id and m.workspace_id = a.workspace_id and m.status = 'active'
        offset 0 for key share of u, m) m) as active`);
  const active = new Set(row?.active);
  const stranger = grants.findIndex(({ user_id }) => !active.has(user_id));
  if (stranger >= 0) throw invalidGrant(grants, stranger, 'is not an active member of the workspace');
}

function invalidGrant(grants: readonly GivenGrant[], i: number, problem: string): ApiError {
  return new ApiError('invalid_request', `grants[${i}]: "${grants[i]?.user_id.slice(0, 64)}" ${problem}.`);
}

/** Returns the grants of `levels` that `others` lacks or has with another level. */
function difference(levels: Levels, others: Levels): Levels {
  return new Map([...levels].filter(([user_id, level]) => others.get(user_id) !== level));
}

/** CTEs that write the grants. `before` and `after`: the grants that differ, for the audit record. */
function replaceGrants(page_id: string, wanted: Levels, before: Levels, after: Levels): Record<string, Sql> {
  const users = [...wanted.keys()];
  const record = (levels: Levels) =>
    sql`select ${page_id}::text as page_id, ${JSON.stringify(Object.fromEntries(levels))}::jsonb as grants from access`;
  return {
    before: record(before),
    ended: sql`
      delete from page_grants g using access a, page_acls k
      where k.wiki_id = a.wiki_id and k.page_id = ${page_id} and g.wiki_id = k.wiki_id and g.acl_no = k.acl_no
        and g.user_id <> all (${users}::text[])`,
    given: sql`
      insert into page_grants as g (wiki_id, acl_no, user_id, level, granted_by)
      select k.wiki_id, k.acl_no, w.user_id, w.level, a.user_id
      from access a join page_acls k on k.wiki_id = a.wiki_id and k.page_id = ${page_id}
      cross join unnest(${users}::text[], ${[...wanted.values()]}::text[]) w (user_id, level)
      on conflict (wiki_id, acl_no, user_id) do update
        set level = excluded.level, granted_at = now(), granted_by = excluded.granted_by
        where g.level <> excluded.level`,
    after: record(after),
    result: sql`select 1 from access`,
  };
}
