import type { Statements } from '../../platform/access/guard.ts';
import { raw, type Sql, sql } from '../../platform/db/sql.ts';
import { livePageMeant } from './write-text.ts';

/**
 * The pages below a page, in the trash or not: page_id. Each step is a look into an index (`offset 0`), and the pages are handed
 * on as an array, of which the planner expects ten elements: it expects many rows of a recursion, and would read all pages of the
 * wiki to join them.
 */
export function subtree(wiki_id: string, page_id: string, only: Sql = raw('true')): Sql {
  return sql`
    select b.page_id from unnest(array(
      with recursive below as (
        select c.page_id from pages c where c.wiki_id = ${wiki_id} and c.parent_page_id = ${page_id} and ${only}
        union all
        select c.page_id from below b cross join lateral (
          select c.page_id from pages c where c.wiki_id = ${wiki_id} and c.parent_page_id = b.page_id and ${only} offset 0) c
      )
      select page_id from below)) b (page_id)`;
}

/**
 * The steps that take the pages of step `below` along when the page of step `edited` has moved from `old_path`, and note
 * where they all were. `also` sets more of those below (as `c`).
 */
export function moveCtes(wiki_id: string, old_path: string, also: Sql = raw('')): Record<string, Sql> {
  return {
    moved: sql`
      update pages c set path = e.path || right(c.path, -length(${old_path}::text)),
        parent_path = e.path || right(c.parent_path, -length(${old_path}::text))${also}
      from below b, edited e
      where c.wiki_id = ${wiki_id} and c.page_id = b.page_id
      returning c.page_id, ${old_path}::text || right(c.path, -length(e.path)) as old_path, c.path, c.trashed_at`,
    remembered: sql`
      insert into page_paths (wiki_id, path, page_id)
      select ${wiki_id}, old_path, page_id from (
        select page_id, ${old_path}::text as old_path, path, trashed_at from edited
        union all select page_id, old_path, path, trashed_at from moved) arrived
      where trashed_at is null and path <> old_path
      on conflict (wiki_id, path) do update set page_id = excluded.page_id, moved_at = now()`,
  };
}

/** The step that makes room at a position among siblings for the page of step `edited`, where another one is there. */
export function shiftSiblings(wiki_id: string, parent_page_id: string, page_id: string, position: number): Sql {
  const others = sql`${childrenOf(wiki_id, parent_page_id)} and s.page_id <> ${page_id}`;
  return sql`
    update pages s set position = s.position + 1 from edited e
    where ${others} and s.position >= ${position}
      and exists (select from pages s where ${others} and s.position = ${position})`;
}

/**
 * The first of these slugs that no page below `parent_path` has (null at the root): one row, or none. The paths are
 * materialized, because under row-level security a column may be the key of a look into an index, and not what is made of
 * columns there and then.
 */
export function freeSlug(wiki_id: string, slugs: readonly string[], parent_path: Sql): Sql {
  return sql`
    with candidates as materialized (
      select c.slug, c.preference, coalesce(${parent_path} || '/', '') || c.slug as path
      from unnest(${slugs}::text[]) with ordinality c (slug, preference)
    )
    select c.slug from candidates c
    where not exists (
      select from pages p where p.wiki_id = ${wiki_id} and p.trashed_at is null and p.path = c.path offset 0)
    order by c.preference limit 1`;
}

/** The pages right below a page; at the root for "". */
export function childrenOf(wiki_id: string, parent_page_id: string): Sql {
  const below = parent_page_id === '' ? sql`s.parent_page_id is null` : sql`s.parent_page_id = ${parent_page_id}`;
  return sql`s.wiki_id = ${wiki_id} and ${below} and s.trashed_at is null`;
}

/** The links that mean a page, which is a row with path and title_key: by its path, or as `[[wiki links]]` name it. */
export function linksThatMean(wiki_id: string, page: string): Sql {
  const links = sql`select l.from_page_id, l.to_path, l.to_page_id from page_links l where l.wiki_id = ${wiki_id}`;
  return sql`
    ${links} and l.to_path = ${raw(page)}.path
    union ${links} and l.wanted_title is not null and l.wanted_path = ${raw(page)}.path
    union ${links} and l.wanted_title = ${raw(page)}.title_key`;
}

/** Joins the page of each link `l`, locked, in the order that the links come in. */
function lockedLinkingPages(wiki_id: string): Sql {
  return sql`cross join lateral (
        select f.page_id from pages f where f.wiki_id = ${wiki_id} and f.page_id = l.from_page_id
        offset 0 for no key update) f`;
}

/**
 * Points links that waited for a page, or lead to one in the trash, at the page that they mean now: the page and
 * those below it, of which a new one has none. Runs under the lock of the wiki, so that no link and no page comes in
 * between. The linking pages are locked before their links, as an edit does.
 */
export async function resolvePendingLinks(
  tx: Statements,
  { wiki_id, page_id, isNew = false }: { wiki_id: string; page_id: string; isNew?: boolean },
) {
  const itself = sql`select ${page_id}::text as page_id`;
  await tx.execute({
    ...(!isNew && { below: subtree(wiki_id, page_id) }),
    // Each "offset 0" has what belongs to a page looked up by its index: the planner cannot know that the pages are few.
    arrived: sql`
      select p.page_id, p.path, p.title_key
      from access a, (${isNew ? itself : sql`${itself} union all select b.page_id from below b`}) n
      cross join lateral (
        select p.* from pages p
        where p.wiki_id = ${wiki_id} and p.page_id = n.page_id and p.trashed_at is null offset 0) p
      where p.wiki_id = a.wiki_id`,
    waiting: sql`
      select l.from_page_id, l.to_path, l.page_id
      from (
        select l.from_page_id, l.to_path, n.page_id
        from arrived n
        cross join lateral (${linksThatMean(wiki_id, 'n')}) l
        where l.to_page_id is null or not exists (
          select from pages t
          where t.wiki_id = ${wiki_id} and t.page_id = l.to_page_id and t.trashed_at is null offset 0)
        order by l.from_page_id offset 0) l
      ${lockedLinkingPages(wiki_id)}`,
    result: sql`
      update page_links l set to_page_id = w.page_id from waiting w
      where l.wiki_id = ${wiki_id} and l.from_page_id = w.from_page_id and l.to_path = w.to_path
      returning l.to_path`,
  });
}

/**
 * Points links to a page in the trash, or to those below it that went there too, at the page that they mean now, where
 * there is one: the page of a link may have moved, and another one come to where it was. Runs under the lock of the wiki.
 */
export async function resolveAbandonedLinks(
  tx: Statements,
  { wiki_id, page_id }: { wiki_id: string; page_id: string },
) {
  await tx.execute({
    below: subtree(wiki_id, page_id),
    abandoned: sql`
      select l.from_page_id, l.to_path, m.page_id
      from access a, (select ${page_id}::text as page_id union all select b.page_id from below b) n
      cross join lateral (
        select t.page_id from pages t
        where t.wiki_id = ${wiki_id} and t.page_id = n.page_id and t.trashed_at is not null offset 0) t
      cross join lateral (
        select l.*, coalesce(l.wanted_path, l.to_path) as path from page_links l
        where l.wiki_id = ${wiki_id} and l.to_page_id = t.page_id offset 0) l
      cross join lateral (select ${livePageMeant(wiki_id)} as page_id) m
      where a.wiki_id = ${wiki_id} and m.page_id is not null
      order by l.from_page_id offset 0`,
    locked: sql`select l.* from abandoned l ${lockedLinkingPages(wiki_id)}`,
    result: sql`
      update page_links l set to_page_id = m.page_id from locked m
      where l.wiki_id = ${wiki_id} and l.from_page_id = m.from_page_id and l.to_path = m.to_path
      returning l.to_path`,
  });
}
