import { possibleWikiTargets } from '@ibid/markdown/wiki-link-syntax.ts';
import { pathOfTarget } from '@ibid/markdown/wiki-links.ts';
import { type Sql, sql } from '../../../platform/db/sql.ts';

/** Maximum number of targets per text, more than any real text has; further targets are shown as missing. */
const TARGETS_MAX = 2_000;

/**
 * Returns the paths of the pages that the wiki links of a text mean, by target. `[[Guide/Setup]]`, or a slug, means the
 * page at that path. Otherwise `[[Setup]]` means the page with that title, of several the nearest to the root.
 * Otherwise it means a page with that slug that `from_page_id` already links to, because it may have been renamed.
 */
export async function knownTargets(
  maybeOne: <T>(statement: Sql) => Promise<T | undefined>,
  wiki_id: string,
  markdown: string,
  from_page_id: Sql = sql`null::text`,
): Promise<ReadonlyMap<string, string>> {
  const targets = possibleWikiTargets(markdown).slice(0, TARGETS_MAX);
  if (targets.length === 0) return new Map();
  const given = targets.map((target) => ({ target, path: pathOfTarget(target) }));
  const found = await maybeOne<{ paths: Record<string, string> | null }>(sql`
    select json_object_agg(g.target, coalesce(found.path, linked.path)) as paths
    from (
      select target, path, lower(target) as title_key from jsonb_to_recordset(${JSON.stringify(given)}::jsonb) as g (target text, path text)
      offset 0) g
    left join lateral (
      select p.path, 0 as place from pages p where p.wiki_id = ${wiki_id} and p.path = g.path and p.trashed_at is null
      union all
      (select p.path, 1 from pages p where p.wiki_id = ${wiki_id} and p.title_key = g.title_key and p.trashed_at is null
        order by length(p.path), p.page_id limit 1)
      order by place limit 1) found on true
    left join (
      select distinct on (t.slug) t.slug, t.path
      from (
        select k.to_page_id from page_links k
        where k.wiki_id = ${wiki_id} and k.from_page_id = ${from_page_id} and k.to_page_id is not null offset 0) l
      cross join lateral (
        select p.slug, p.path from pages p
        where p.wiki_id = ${wiki_id} and p.page_id = l.to_page_id and p.trashed_at is null offset 0) t
      order by t.slug, length(t.path), t.path) linked on linked.slug = g.path
    where coalesce(found.path, linked.path) is not null`);
  return new Map(Object.entries(found?.paths ?? {}));
}
