import type { RenderedPage } from '@ibid/markdown/render.ts';
import { pageSlugCandidates } from '../../platform/core/chosen-slug.ts';
import { raw, type Sql, sql } from '../../platform/db/sql.ts';
import { isPossibleTarget, movedLinks, movedLinksOfPage } from './links/moved-links.ts';
import { moveCtes, shiftSiblings, subtree, unmanagedParts } from './place-page.ts';
import { citedSources, type FullPage, type FullPageRow, type Page, pageColumns } from './schema.ts';
import { resolvedLinks, textCtes, titleCtes, writtenLinks } from './write-text.ts';

/** An edit of a page; undefined fields are unchanged. */
export interface PageUpdate {
  title: string | undefined;
  markdown: string | undefined;
  slug: string | undefined;
  /** "" is the root. */
  parent_page_id: string | undefined;
  position: number | undefined;
  status: FullPage['status'] | undefined;
  base_revision: number | undefined;
  /** The path that the addresses of `markdown` start from, if it is not the path of the current parent. */
  folder?: string;
}

/** The current page, with the data to detect a changed text, and the destination of a move. */
export interface CurrentPage extends Page, Pick<FullPageRow, 'markdown' | 'folder' | 'moved'> {
  workspace_id: string;
  /** The user who makes the update. */
  user_id: string;
  parent_path: string;
  /** Null if the new parent is missing. */
  new_parent_path: string | null;
  /** If the path may change: number of restrictions in the way, which the caller does not manage. */
  parts: number;
  /** If the page may move: whether the restriction of the new parent does not let the caller add pages. */
  is_closed: boolean;
  /** If the path changes: the wanted slug, or if it is taken a free slug to choose instead; null if none is known. */
  free_slug: string | null;
}

/** The values to write; undefined fields are unchanged. */
export interface Change {
  title: string;
  markdown: string | undefined;
  /** The path that the addresses of `markdown` start from. */
  folder: string;
  isRevision: boolean;
  path: string;
  parent_path: string;
  slug: string;
  parent_page_id: string;
  position: number | undefined;
  status: FullPage['status'];
}

export function currentPageStatement(params: { wiki_id: string; page_id: string }, update: PageUpdate): Sql {
  const slug = update.slug ?? null;
  const parent_page_id = update.parent_page_id ?? null;
  const others = slug === null ? [] : (pageSlugCandidates(slug, '') as string[]);
  // `moved_to` is materialized, so that its path is a value and pages_live_path finds the page at that path.
  return sql`
    with page as (
      select ${pageColumns}, r.markdown, r.folder, ${movedLinksOfPage} as moved from pages p
      join revisions r on r.wiki_id = p.wiki_id and r.page_id = p.page_id and r.revision = p.revision
      where p.wiki_id = ${params.wiki_id} and p.page_id = ${params.page_id} and p.trashed_at is null
    ),
    parent as (
      select coalesce(p.parent_path, '') as parent_path, p.slug,
        case when ${parent_page_id}::text is null then coalesce(p.parent_path, '')
          when ${parent_page_id}::text = '' then ''
          else (select n.path from pages n
            where n.wiki_id = ${params.wiki_id} and n.page_id = ${parent_page_id} and n.trashed_at is null)
        end as new_parent_path
      from pages p where p.wiki_id = ${params.wiki_id} and p.page_id = ${params.page_id}
    ),
    moved_to as materialized (
      select parent_path, new_parent_path,
        case new_parent_path when '' then '' else new_parent_path || '/' end || coalesce(${slug}::text, slug) as path
      from parent
    )
    select page.*, ${slug === null && parent_page_id === null ? raw('0') : unmanagedParts(params, { parent_page_id: update.parent_page_id })} as parts,
      ${parent_page_id === null ? raw('false') : sql`is_closed_page(${params.wiki_id}, ${parent_page_id})`} as is_closed, access.workspace_id, access.user_id, moved_to.parent_path, moved_to.new_parent_path,
      case when moved_to.path <> page.path then free_slug(${params.wiki_id}, nullif(moved_to.new_parent_path, ''),
        coalesce(${slug}::text, page.slug) || ${others}::text[]) end as free_slug
    from page, moved_to, access`;
}

/** `isLocked`: the caller holds the lock of the wiki, so that links to missing pages can be written. */
export function updateCtes(
  { wiki_id, page_id }: { wiki_id: string; page_id: string },
  current: CurrentPage,
  { title, markdown, folder, isRevision, path, parent_path, slug, parent_page_id, position, status }: Change,
  rendered: RenderedPage | undefined,
  isLocked = false,
): Record<string, Sql> {
  const text = markdown !== undefined && rendered ? { title, markdown, folder, rendered } : undefined;
  const isMove = path !== current.path;
  return {
    ...(text && { resolved: resolvedLinks(wiki_id, text.rendered.links) }),
    ...(isMove && { below: subtree(wiki_id, page_id) }),
    // Checked under the lock of the page's row: a second writer sees a different revision or path.
    before: sql`
      select ${pageColumns} from pages p join access a on a.wiki_id = p.wiki_id
      where p.wiki_id = ${wiki_id} and p.page_id = ${page_id} and p.trashed_at is null
        and p.revision = ${current.revision} and p.path = ${current.path}
        and ${text && !isLocked ? allLinksAreKnown(wiki_id, page_id) : sql`true`}
      for no key update of p`,
    edited: sql`
      update pages p set title = ${title}, status = ${status}, path = ${path}, slug = ${slug},
        parent_page_id = nullif(${parent_page_id}, ''), parent_path = nullif(${parent_path}, ''),
        position = coalesce(${position ?? null}::int, p.position), revision = p.revision + ${isRevision ? 1 : 0},
        description = coalesce(${text?.rendered.description ?? null}::text, p.description),
        word_count = coalesce(${text?.rendered.word_count ?? null}::int, p.word_count),
        tags = coalesce(${text?.rendered.tags ?? null}::text[], p.tags),
        properties = coalesce(${text ? JSON.stringify(text.rendered.properties) : null}::jsonb, p.properties),
        stale = p.stale and not ${text !== undefined},
        gone_file = case when ${text === undefined} then p.gone_file end, updated_at = now(), updated_by = a.user_id
      from before, access a
      where p.wiki_id = a.wiki_id and p.page_id = before.page_id
      returning p.*`,
    ...(text ? textCtes(wiki_id, text) : isRevision ? titleCtes(wiki_id, title) : {}),
    ...(isMove && moveCtes(wiki_id, current.path)),
    ...(position !== undefined && { shifted: shiftSiblings(wiki_id, parent_page_id, page_id, position) }),
    // Under the lock of the wiki, the page is read again with the newly resolved links.
    result:
      text && !isLocked
        ? sql`
          select ${pageColumns}, ${movedLinks(writtenLinks(wiki_id), sql`${folder}::text`)} as moved, ${citedSources} as citations
          from edited p`
        : sql`select ${pageColumns} from edited p`,
  };
}

function allLinksAreKnown(wiki_id: string, page_id: string): Sql {
  return sql`not exists (
    select from resolved r where r.to_page_id is null and ${isPossibleTarget(sql`r.to_path`)} and not exists (
      select from page_links l where l.wiki_id = ${wiki_id} and l.from_page_id = ${page_id} and l.to_path = r.to_path))`;
}
