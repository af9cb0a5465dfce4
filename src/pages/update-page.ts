import { slugTaken } from '../core/chosen-slug.ts';
import { ApiError, notFound } from '../core/errors.ts';
import { type Sql, sql } from '../db/sql.ts';
import type { Context } from '../http/endpoint.ts';
import { withPresentLinks } from '../markdown/page-links.ts';
import type { RenderedPage } from '../markdown/render.ts';
import { asPathError, editConflict, noSuchParent } from './page-input.ts';
import { linkArrived, moveSteps, roomStep, subtree } from './place-page.ts';
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
import { resolvedLinks, textSteps, titleSteps, writtenLinks } from './write-text.ts';

/** How often a write starts anew because the page changed between its read and its write. */
const ATTEMPTS = 20;

type PageContext = Context<{ wiki_id: string; page_id: string }, unknown, unknown>;

/** What somebody wants a page to be; undefined fields stay as they are. */
export interface Wish {
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

/** The page as it is, with what tells whether a text is another one, and the place that it is wished to. */
interface Seen extends Page, Pick<FullPageRow, 'markdown' | 'folder' | 'moved'> {
  parent_path: string;
  /** Null where the wished parent is no page. */
  wished_parent_path: string | null;
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

/**
 * Makes the page as it is wished, as a new revision where its text or title changes, and answers it. Errors: 404; 409
 * `edit_conflict` where `base_revision` is not the present one, `slug_taken` and `conflict`.
 */
export async function writeWish(
  {
    params,
    look,
    many,
    transaction,
    services,
  }: Pick<PageContext, 'params' | 'look' | 'many' | 'transaction' | 'services'>,
  wish: Wish,
): Promise<FullPage> {
  const { wiki_id } = params;
  const read = seenStatement(params, wish);
  let rendered: RenderedPage | undefined;
  let renderedAt = '';
  let isLocked = wish.slug !== undefined || wish.parent_page_id !== undefined || wish.position !== undefined;
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const seen = await look<Seen>(read);
    if (!seen) throw notFound();
    const change = changeOf(seen, wish);
    if (!change) return readPage(look, params);
    if (change.markdown !== undefined && (!rendered || renderedAt !== seen.path)) {
      const known = await knownTargets(look, params.wiki_id, change.markdown);
      const page_path = [...(change.folder ? [change.folder] : []), seen.slug].join('/');
      rendered = await services.renderPage({ wiki_id, markdown: change.markdown, page_path, known });
      renderedAt = seen.path;
    }
    // Wiki links may have waited for a page of this title.
    isLocked ||= change.title !== seen.title;
    if (isLocked) {
      const done = await transaction(async (tx) => {
        const again = await tx.look<Seen>(read);
        if (!again) throw notFound();
        if (again.revision !== seen.revision || again.path !== seen.path) return undefined;
        const now = changeOf(again, wish);
        if (!now) return readPage(tx.look, params);
        await tx.one(writeSteps(params, again, now, rendered, true)).catch((error: unknown) => {
          throw asPathError(error);
        });
        if (now.path !== again.path || now.title !== again.title) await linkArrived(tx, params);
        return readPage(tx.look, params);
      });
      if (done) return done;
    } else {
      const [written] = await many<Written>(writeSteps(params, seen, change, rendered));
      if (written && change.markdown !== undefined && rendered) {
        const { html, outline } = rendered;
        return shownPage({ ...written, markdown: change.markdown, html, outline, folder: change.folder });
      }
      if (written) return readPage(look, params);
    }
    // It links to a page that is not there: whoever makes that page at this moment must not miss the link.
    isLocked ||= (rendered?.links.length ?? 0) > 0;
  }
  throw new ApiError('conflict', `The page of wiki ${wiki_id} changes too often just now. Try again in a moment.`);
}

async function readPage(look: PageContext['look'], params: { wiki_id: string; page_id: string }): Promise<FullPage> {
  const page = await look<FullPageRow>(fullPageById(params));
  if (!page) throw notFound();
  return shownPage(page);
}

function seenStatement(params: { wiki_id: string; page_id: string }, wish: Wish): Sql {
  const slug = wish.slug ?? null;
  const parent_page_id = wish.parent_page_id ?? null;
  // `wished` is materialized, so that its path is a value and the page that lies there is found by pages_live_path.
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
        end as wished_parent_path
      from pages p where p.wiki_id = ${params.wiki_id} and p.page_id = ${params.page_id}
    ),
    wished as materialized (
      select parent_path, wished_parent_path,
        case wished_parent_path when '' then '' else wished_parent_path || '/' end || coalesce(${slug}::text, slug) as path
      from parent
    )
    select page.*, wished.parent_path, wished.wished_parent_path,
      exists (
        select from pages o
        where o.wiki_id = ${params.wiki_id} and o.trashed_at is null and o.path = wished.path and o.page_id <> ${params.page_id}
      ) as is_taken
    from page, wished`;
}

/** What there is to write; undefined where all is as it is wished. Throws what is wrong with the wish as things are. */
function changeOf(seen: Seen, wish: Wish): Change | undefined {
  const { slug = seen.slug, status = seen.status, title = seen.title } = wish;
  const parent_page_id = wish.parent_page_id ?? seen.parent_page_id;
  const parent_path = seen.wished_parent_path;
  if (parent_path === null) throw noSuchParent();
  const path = parent_path === '' ? slug : `${parent_path}/${slug}`;
  if (parent_page_id === seen.page_id || parent_path.startsWith(`${seen.path}/`)) {
    throw new ApiError('conflict', 'A page cannot lie under itself or under a page below it.');
  }
  if (wish.base_revision !== undefined && wish.base_revision !== seen.revision) {
    throw editConflict(wish.base_revision, seen.revision);
  }
  if (path !== seen.path && seen.is_taken) throw slugTaken(slug);
  const position = wish.position === seen.position && path === seen.path ? undefined : wish.position;
  // Links that were shown with the present paths of their pages come back so, and are no change.
  const isSame =
    wish.markdown === undefined ||
    (wish.folder === undefined
      ? wish.markdown === seen.markdown || isAsShown(seen, wish.markdown)
      : wish.markdown === seen.markdown && wish.folder === seen.folder);
  const isRevision = !isSame || title !== seen.title;
  if (!isRevision && path === seen.path && position === undefined && status === seen.status) return undefined;
  const markdown = isSame ? undefined : wish.markdown;
  const { folder = seen.parent_path } = wish;
  return { title, markdown, folder, isRevision, path, parent_path, slug, parent_page_id, position, status };
}

function isAsShown(seen: Seen, markdown: string): boolean {
  return seen.moved !== null && withPresentLinks({ ...seen, html: '' }, seen.folder, seen.moved).markdown === markdown;
}

/** `isLocked`: the wiki is, so that links to pages that are not there can be written. */
function writeSteps(
  { wiki_id, page_id }: { wiki_id: string; page_id: string },
  seen: Seen,
  { title, markdown, folder, isRevision, path, parent_path, slug, parent_page_id, position, status }: Change,
  rendered: RenderedPage | undefined,
  isLocked = false,
): Record<string, Sql> {
  const text = markdown !== undefined && rendered ? { title, markdown, folder, rendered } : undefined;
  const isMove = path !== seen.path;
  return {
    ...(text && { resolved: resolvedLinks(wiki_id, text.rendered.links) }),
    ...(isMove && { below: subtree(wiki_id, page_id) }),
    // Decided under the lock of the page's row: whoever comes second finds another revision, or another path.
    before: sql`
      select ${pageColumns} from pages p join access a on a.wiki_id = p.wiki_id
      where p.wiki_id = ${wiki_id} and p.page_id = ${page_id} and p.trashed_at is null
        and p.revision = ${seen.revision} and p.path = ${seen.path}
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
    ...(text ? textSteps(wiki_id, text) : isRevision ? titleSteps(wiki_id, title) : {}),
    ...(isMove && moveSteps(wiki_id, seen.path)),
    ...(position !== undefined && { shifted: roomStep(wiki_id, parent_page_id, page_id, position) }),
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
