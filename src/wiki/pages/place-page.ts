import type { Statements } from '../../platform/access/guard.ts';
import { ApiError } from '../../platform/core/errors.ts';
import { raw, type Sql, sql } from '../../platform/db/sql.ts';
import { liveLinkTarget } from './write-text.ts';

/**
 * Selects the page_id of all pages below a page, in the trash or not. Each step is an index lookup (`offset 0`). The
 * ids are collected in an array, for which the planner expects ten rows; for a recursion it expects many, and would
 * read all pages of the wiki to join them.
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
 * CTEs that move the pages of the CTE `below` when the page of the CTE `edited` has moved from `old_path`, and record
 * their former paths. `also` sets further columns of the pages below (as `c`).
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

/**
 * The CTE that shifts the siblings from a position on, if a sibling occupies it, to make room for the page of the CTE
 * `edited`.
 */
export function shiftSiblings(wiki_id: string, parent_page_id: string, page_id: string, position: number): Sql {
  const others = sql`${childrenOf(wiki_id, parent_page_id)} and s.page_id <> ${page_id}`;
  return sql`
    update pages s set position = s.position + 1 from edited e
    where ${others} and s.position >= ${position}
      and exists (select from pages s where ${others} and s.position = ${position})`;
}

/** Selects the first of these slugs that is free below `parent_path` (null at the root); null if all are taken. */
export function freeSlug(wiki_id: string, slugs: readonly string[], parent_path: Sql): Sql {
  return sql`select free_slug(${wiki_id}, ${parent_path}, ${slugs}::text[]) as slug`;
}

/**
 * Selects the number of restrictions of a page, and of the pages below it, that the caller does not manage. `move`: the new
 * place of the page. A restriction that it leaves counts too; its own does not count if it keeps its parent.
 */
export function unmanagedParts(
  { wiki_id, page_id }: { wiki_id: string; page_id: string },
  move?: { parent_page_id: string | undefined },
): Sql {
  const to = move?.parent_page_id;
  const leaves = to === undefined ? raw(move ? 'null' : 'false') : sql`leaves_acl(${wiki_id}, ${page_id}, ${to})`;
  return sql`unmanaged_acls(${wiki_id}, ${page_id}, ${leaves})`;
}

/** Throws 403 if there are such restrictions: the caller would decide about pages that may be hidden from them. */
export function refuseUnmanaged(parts: number): void {
  if (parts === 0) return;
  const what = parts === 1 ? 'a restricted part' : `${parts} restricted parts`;
  throw new ApiError(
    'forbidden',
    `The page has ${what} that you do not manage. Ask a person who manages ${parts === 1 ? 'it' : 'them'}.`,
  );
}

/** Returns 403 for a new page below a page whose restriction does not let the caller add pages. */
export function closedParent(): ApiError {
  return new ApiError('forbidden', 'You can read the page above, but not add pages below it.');
}

/** Condition for `s` to be a child of a page; of the root for "". */
export function childrenOf(wiki_id: string, parent_page_id: string): Sql {
  const below = parent_page_id === '' ? sql`s.parent_page_id is null` : sql`s.parent_page_id = ${parent_page_id}`;
  return sql`s.wiki_id = ${wiki_id} and ${below} and s.trashed_at is null`;
}

/** Selects the links that mean a page, by its path or as a wiki link. `page`: a row with path and title_key. */
export function linksToPage(wiki_id: string, page: string): Sql {
  const links = sql`select l.from_page_id, l.to_path, l.to_page_id from page_links l where l.wiki_id = ${wiki_id}`;
  return sql`
    ${links} and l.to_path = ${raw(page)}.path
    union ${links} and l.wanted_title is not null and l.wanted_path = ${raw(page)}.path
    union ${links} and l.wanted_title = ${raw(page)}.title_key`;
}

/** Joins the linking page of each link `l`, locked, in the order of the links. */
function lockedLinkingPages(wiki_id: string): Sql {
  return sql`cross join lateral (
        select f.page_id from pages f where f.wiki_id = ${wiki_id} and f.page_id = l.from_page_id
        offset 0 for no key update) f`;
}

/**
 * Resolves pending links, and links to pages in the trash, to a page and the pages below it. A new page has no pages
 * below. Runs under the lock of the wiki, so that no link or page is added in between. Locks the linking pages before
 * their links, as an edit does.
 */
export async function resolvePendingLinks(
  tx: Statements,
  { wiki_id, page_id, isNew = false }: { wiki_id: string; page_id: string; isNew?: boolean },
) {
  const itself = sql`select ${page_id}::text as page_id`;
  await tx.execute({
    ...(!isNew && { below: subtree(wiki_id, page_id) }),
    // Each "offset 0" forces an index lookup per page: the planner cannot know that the pages are few.
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
        cross join lateral (${linksToPage(wiki_id, 'n')}) l
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
 * CTEs that resolve links to a page in the trash, and to the pages below that were trashed too, to the live pages that they
 * now mean, if any: after the linked page moved, another page may have been created at its former path. Runs under the lock
 * of the wiki.
 */
export function abandonedLinksCtes({ wiki_id, page_id }: { wiki_id: string; page_id: string }): Record<string, Sql> {
  return {
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
      cross join lateral (select ${liveLinkTarget(wiki_id)} as page_id) m
      where a.wiki_id = ${wiki_id} and m.page_id is not null
      order by l.from_page_id offset 0`,
    locked: sql`select l.* from abandoned l ${lockedLinkingPages(wiki_id)}`,
    resolved: sql`
      update page_links l set to_page_id = m.page_id from locked m
      where l.wiki_id = ${wiki_id} and l.from_page_id = m.from_page_id and l.to_path = m.to_path
      returning l.to_path`,
  };
}
