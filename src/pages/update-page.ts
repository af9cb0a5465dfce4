import { slugTaken } from '../core/chosen-slug.ts';
import { ApiError, notFound } from '../core/errors.ts';
import { type Sql, sql } from '../db/sql.ts';
import type { Context } from '../http/endpoint.ts';
import { withCurrentLinks } from '../markdown/page-links.ts';
import type { RenderedPage } from '../markdown/render.ts';
import { asPathError, editConflict, noSuchParent } from './page-input.ts';
import { moveCtes, resolvePendingLinks, shiftSiblings, subtree } from './place-page.ts';
import {
  citedSources,
  type FullPage,
  type FullPageRow,
  fullPageById,
  isVisible,
  movedLinks,
  movedLinksOfPage,
  type Page,
  pageColumns,
  shownPage,
} from './schema.ts';
import { knownTargets } from './wiki-targets.ts';
import { resolvedLinks, textCtes, titleCtes, writtenLinks } from './write-text.ts';

/** How often an update starts over because the page changed between its read and its write. */
const ATTEMPTS = 20;

type PageContext = Context<{ wiki_id: string; page_id: string }, unknown, unknown>;

/** An edit of a page; undefined fields stay as they are. */
export interface PageUpdate {
  title: string | undefined;
  markdown: string | undefined;
  slug: string | undefined;
  /** "" is the root. */
  parent_page_id: string | undefined;
  position: number | undefined;
  status: FullPage['status'] | undefined;
  base_revision: number | undefined;
  /** The path that the addresses of `markdown` start from, where that is not the one that the page lies under now. */
  folder?: string;
}

/** The page as it is, with what tells whether a text is another one, and the place that the update moves it to. */
interface CurrentPage extends Page, Pick<FullPageRow, 'markdown' | 'folder' | 'moved'> {
  parent_path: string;
  /** Null where there is no page for the new parent. */
  new_parent_path: string | null;
  is_taken: boolean;
}

/** The page as a new text of it was written, but for what comes of the text alone. */
type Written = Omit<FullPageRow, 'markdown' | 'html' | 'outline' | 'folder'>;

/** What is to be written; undefined fields stay as they are. */
interface Change {
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

type UpdateContext = Pick<PageContext, 'params' | 'maybeOne' | 'many' | 'transaction' | 'services'>;

/** A text as it was rendered for the path that the page had then. */
interface RenderedAt {
  page: RenderedPage;
  path: string;
}

/**
 * Applies the update, as a new revision where its text or title changes, and answers the page. Errors: 404; 409
 * `edit_conflict` where `base_revision` is not the current one, `slug_taken` and `conflict`.
 */
export async function updatePage(context: UpdateContext, update: PageUpdate): Promise<FullPage> {
  const { params, maybeOne } = context;
  let rendered: RenderedAt | undefined;
  let needsLock = update.slug !== undefined || update.parent_page_id !== undefined || update.position !== undefined;
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const current = await maybeOne<CurrentPage>(currentPageStatement(params, update));
    if (!current) throw notFound();
    const change = diffUpdate(current, update);
    if (!change) return readPage(maybeOne, params);
    rendered = await renderChange(context, current, change, rendered);
    // Wiki links may be pending for a page of this title.
    needsLock ||= change.title !== current.title;
    const page = needsLock
      ? await writeUnderLock(context, update, current, rendered?.page)
      : await writeAlone(context, current, change, rendered?.page);
    if (page) return page;
    // It links to a missing page: a writer who creates that page at this moment must not miss the link.
    needsLock ||= (rendered?.page.links.length ?? 0) > 0;
  }
  throw new ApiError(
    'conflict',
    `The page of wiki ${params.wiki_id} changes too often just now. Try again in a moment.`,
  );
}

/** The new text, rendered unless it was for the same path; undefined where the text stays as it is. */
async function renderChange(
  { params: { wiki_id }, maybeOne, services }: UpdateContext,
  current: CurrentPage,
  { markdown, folder }: Change,
  rendered: RenderedAt | undefined,
): Promise<RenderedAt | undefined> {
  if (markdown === undefined || rendered?.path === current.path) return rendered;
  const pagesByTarget = await knownTargets(maybeOne, wiki_id, markdown);
  const page_path = [...(folder ? [folder] : []), current.slug].join('/');
  return { page: await services.renderPage({ wiki_id, markdown, page_path, pagesByTarget }), path: current.path };
}

/** Writes while no other request changes the tree of the wiki; undefined where the page is another one by now. */
function writeUnderLock(
  { params, transaction }: UpdateContext,
  update: PageUpdate,
  current: CurrentPage,
  rendered: RenderedPage | undefined,
): Promise<FullPage | undefined> {
  return transaction(async (tx) => {
    const locked = await tx.maybeOne<CurrentPage>(currentPageStatement(params, update));
    if (!locked) throw notFound();
    if (locked.revision !== current.revision || locked.path !== current.path) return undefined;
    const change = diffUpdate(locked, update);
    if (!change) return readPage(tx.maybeOne, params);
    await tx.one(updateCtes(params, locked, change, rendered, true)).catch((error: unknown) => {
      throw asPathError(error);
    });
    if (change.path !== locked.path || change.title !== locked.title) await resolvePendingLinks(tx, params);
    return readPage(tx.maybeOne, params);
  });
}

/** Writes as one statement; undefined where the page is another one by now, or links to a missing page. */
async function writeAlone(
  { params, many, maybeOne }: UpdateContext,
  current: CurrentPage,
  change: Change,
  rendered: RenderedPage | undefined,
): Promise<FullPage | undefined> {
  const [written] = await many<Written>(updateCtes(params, current, change, rendered));
  if (!written) return undefined;
  const { markdown, folder } = change;
  if (markdown === undefined || !rendered) return readPage(maybeOne, params);
  return shownPage({ ...written, markdown, html: rendered.html, outline: rendered.outline, folder });
}

async function readPage(
  maybeOne: PageContext['maybeOne'],
  params: { wiki_id: string; page_id: string },
): Promise<FullPage> {
  const page = await maybeOne<FullPageRow>(fullPageById(params));
  if (!page) throw notFound();
  return shownPage(page);
}

function currentPageStatement(params: { wiki_id: string; page_id: string }, update: PageUpdate): Sql {
  const slug = update.slug ?? null;
  const parent_page_id = update.parent_page_id ?? null;
  // `moved_to` is materialized, so that its path is a value and the page that lies there is found by pages_live_path.
  return sql`
    with page as (
      select ${pageColumns}, r.markdown, r.folder, ${movedLinksOfPage} as moved from pages p
      join revisions r on r.wiki_id = p.wiki_id and r.page_id = p.page_id and r.revision = p.revision
      where p.wiki_id = ${params.wiki_id} and p.page_id = ${params.page_id} and ${isVisible}
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
    select page.*, moved_to.parent_path, moved_to.new_parent_path,
      exists (
        select from pages o
        where o.wiki_id = ${params.wiki_id} and o.trashed_at is null and o.path = moved_to.path and o.page_id <> ${params.page_id}
      ) as is_taken
    from page, moved_to`;
}

/** The columns that the update changes; undefined where it changes nothing. Throws where the update conflicts with the page as it is. */
function diffUpdate(current: CurrentPage, update: PageUpdate): Change | undefined {
  const { slug = current.slug, status = current.status, title = current.title } = update;
  const parent_page_id = update.parent_page_id ?? current.parent_page_id;
  const parent_path = current.new_parent_path;
  if (parent_path === null) throw noSuchParent();
  const path = parent_path === '' ? slug : `${parent_path}/${slug}`;
  if (parent_page_id === current.page_id || parent_path.startsWith(`${current.path}/`)) {
    throw new ApiError('conflict', 'A page cannot lie under itself or under a page below it.');
  }
  if (update.base_revision !== undefined && update.base_revision !== current.revision) {
    throw editConflict(update.base_revision, current.revision);
  }
  if (path !== current.path && current.is_taken) throw slugTaken(slug);
  const position = update.position === current.position && path === current.path ? undefined : update.position;
  // Links that were shown with the present paths of their pages come back so, and are no change.
  const isSame =
    update.markdown === undefined ||
    (update.folder === undefined
      ? update.markdown === current.markdown || isAsShown(current, update.markdown)
      : update.markdown === current.markdown && update.folder === current.folder);
  const isRevision = !isSame || title !== current.title;
  if (!isRevision && path === current.path && position === undefined && status === current.status) return undefined;
  const markdown = isSame ? undefined : update.markdown;
  const { folder = current.parent_path } = update;
  return { title, markdown, folder, isRevision, path, parent_path, slug, parent_page_id, position, status };
}

function isAsShown(current: CurrentPage, markdown: string): boolean {
  return (
    current.moved !== null &&
    withCurrentLinks({ ...current, html: '' }, current.folder, current.moved).markdown === markdown
  );
}

/** `isLocked`: the wiki is, so that links to pages that are not there can be written. */
function updateCtes(
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
    // Decided under the lock of the page's row: a second writer finds another revision, or another path.
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
        stale = p.stale and not ${text !== undefined}, updated_at = now(), updated_by = a.user_id
      from before, access a
      where p.wiki_id = a.wiki_id and p.page_id = before.page_id
      returning p.*`,
    ...(text ? textCtes(wiki_id, text) : isRevision ? titleCtes(wiki_id, title) : {}),
    ...(isMove && moveCtes(wiki_id, current.path)),
    ...(position !== undefined && { shifted: shiftSiblings(wiki_id, parent_page_id, page_id, position) }),
    // Under the lock the page is read again, with the links that have arrived.
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
    select from resolved r where r.to_page_id is null and not exists (
      select from page_links l where l.wiki_id = ${wiki_id} and l.from_page_id = ${page_id} and l.to_path = r.to_path))`;
}
