import type { Query } from '../../platform/db/db.ts';
import { raw, sql } from '../../platform/db/sql.ts';
import { moveCtes, subtree } from '../../wiki/pages/place-page.ts';
import type { PendingFile } from './compiled-upload.ts';

/** The new place of a page that moves with its file. */
export interface Move {
  page_id: string;
  parent_page_id: string | null;
  parent_path: string | null;
  slug: string;
  path: string;
}

/** Whether the page of a renamed file or folder should move to the path of the new name. */
export function isRenamed(file: PendingFile, present: { path: string; is_trashed: boolean } | undefined): boolean {
  const { renamed_from, page_path } = file;
  return renamed_from !== '' && present !== undefined && !present.is_trashed && present.path !== page_path;
}

/**
 * Moves a page with its descendants and keeps redirects from the old paths, like a move by a user. Does nothing if the
 * page would end up below itself, if any path is taken, if a part is restricted, or if pages may not be added there.
 * `planned` is its path if it was already moved along with a parent.
 */
export async function movePage(
  query: Query,
  { wiki_id, creator }: { wiki_id: string; creator: string },
  planned: string,
  to: Move,
): Promise<void> {
  const [page] = await query<{ path: string }>(sql`
    select path from pages where wiki_id = ${wiki_id} and page_id = ${to.page_id}`);
  if (!page || page.path === planned || to.path.startsWith(`${page.path}/`)) return;
  const below = subtree(wiki_id, to.page_id);
  const inTheWay = await query(sql`
    with below as (${below})
    , own as (
      select c.path from below b join pages c on c.wiki_id = ${wiki_id} and c.page_id = b.page_id and c.trashed_at is null
    )
    select from taken_paths(${wiki_id}, array(
      select ${to.path} || right(o.path, -length(${page.path}::text)) from own o)) t (path)
    where t.path not in (select o.path from own o)
    union all
    select where unmanaged_acls(${wiki_id}, ${to.page_id}, leaves_acl(${wiki_id}, ${to.page_id}, ${to.parent_page_id})) > 0 or is_closed_page(${wiki_id}, ${to.parent_page_id})
    limit 1`);
  if (inTheWay.length > 0) return;
  const { moved, remembered } = moveCtes(wiki_id, page.path);
  await query(sql`
    with below as (${below}),
    edited as (
      update pages p set path = ${to.path}, slug = ${to.slug}, parent_page_id = ${to.parent_page_id},
        parent_path = ${to.parent_path}, updated_at = now(), updated_by = ${creator}
      where p.wiki_id = ${wiki_id} and p.page_id = ${to.page_id}
      returning p.*
    ),
    moved as (${moved ?? raw('')}),
    remembered as (${remembered ?? raw('')})
    select from edited`);
}

/** A page that moves to the path of another page, or to a free path. */
export interface Exchange {
  page_id: string;
  from: string;
  to: string;
}

/**
 * Swaps the paths of pages, all or none. Every page must be at its expected path and have no children, and the last
 * target must be free and have an existing parent. Links that users wrote follow the pages; links of unedited pages
 * resolve to the page whose file has that name. Returns whether the swap was done.
 */
export async function exchangePages(
  query: Query,
  { wiki_id, creator }: { wiki_id: string; creator: string },
  exchanges: readonly Exchange[],
): Promise<boolean> {
  const given = JSON.stringify(
    exchanges.map((each) => ({ ...each, parent: parentOf(each.to), slug: slugOf(each.to) })),
  );
  const asGiven = sql`jsonb_to_recordset(${given}::jsonb) as g (page_id text, "from" text, "to" text, parent text, slug text)`;
  await query(sql`select from wikis where wiki_id = ${wiki_id} for no key update`);
  const fitting = await query(sql`
    select from ${asGiven} join pages p on p.wiki_id = ${wiki_id} and p.page_id = g.page_id and p.path = g."from" and p.trashed_at is null
    where length(p.path) < 900
      and not exists (select from pages c where c.wiki_id = p.wiki_id and c.parent_page_id = p.page_id)
      and (g.parent = '' or exists (
        select from pages a where a.wiki_id = p.wiki_id and a.path = g.parent and a.trashed_at is null
          and not is_closed_page(a.wiki_id, a.page_id)))
      and unmanaged_acls(p.wiki_id, p.page_id, true) = 0
      and not exists (
        select from taken_paths(p.wiki_id, array[g."to"]) t (path)
        where t.path <> all (${exchanges.map(({ from }) => from)}::text[]))`);
  if (fitting.length < exchanges.length) return false;
  // Paths are unique, so every page first moves to a temporary path.
  await query(sql`
    update pages p set slug = g.page_id, path = coalesce(p.parent_path || '/', '') || g.page_id
    from ${asGiven} where p.wiki_id = ${wiki_id} and p.page_id = g.page_id`);
  await query(sql`
    update pages p set path = g."to", slug = g.slug, updated_at = now(), updated_by = ${creator},
      parent_path = nullif(g.parent, ''), parent_page_id = (
        select a.page_id from pages a where a.wiki_id = ${wiki_id} and a.path = g.parent and a.trashed_at is null)
    from ${asGiven} where p.wiki_id = ${wiki_id} and p.page_id = g.page_id`);
  await query(sql`
    insert into page_paths (wiki_id, path, page_id) select ${wiki_id}, g."from", g.page_id from ${asGiven}
    on conflict (wiki_id, path) do update set page_id = excluded.page_id, moved_at = now()`);
  await query(sql`
    update page_links l set to_page_id = g.page_id
    from ${asGiven}, pages f, revisions r
    where l.wiki_id = ${wiki_id} and l.to_path = g."to" and f.wiki_id = l.wiki_id and f.page_id = l.from_page_id
      and r.wiki_id = f.wiki_id and r.page_id = f.page_id and r.revision = f.revision and r.origin = 'compiled'`);
  return true;
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}

function slugOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
