import { withCurrentLinks } from '@ibid/markdown/page-links.ts';
import type { RenderedPage } from '@ibid/markdown/render.ts';
import { slugTaken } from '../../platform/core/chosen-slug.ts';
import { ApiError, notFound } from '../../platform/core/errors.ts';
import { sql } from '../../platform/db/sql.ts';
import type { Context } from '../../platform/http/endpoint.ts';
import { knownTargets } from './links/wiki-targets.ts';
import { asPathError, editConflict, noSuchParent } from './page-input.ts';
import { closedParent, refuseUnmanaged, resolvePendingLinks } from './place-page.ts';
import { type FullPage, type FullPageRow, fullPageById } from './schema.ts';
import { shownPage } from './shown-page.ts';
import {
  type Change,
  type CurrentPage,
  currentPageStatement,
  type PageUpdate,
  updateCtes,
} from './update-statements.ts';

/** Maximum number of attempts of an update, which starts over if the page changed between its read and its write. */
const ATTEMPTS = 20;

type PageContext = Context<{ wiki_id: string; page_id: string }, unknown, unknown>;

/** The page after a write of a new text, without the columns that come from the text alone. */
type Written = Omit<FullPageRow, 'markdown' | 'html' | 'outline' | 'folder'>;

type UpdateContext = Pick<PageContext, 'params' | 'maybeOne' | 'many' | 'transaction' | 'services' | 'abandoned'>;

/** A rendered text, with the path that the page had at the time. */
interface RenderedAt {
  page: RenderedPage;
  path: string;
}

/**
 * Applies an update and returns the page. A changed text or title makes a new revision. Throws 404; 409 `edit_conflict`
 * if `base_revision` is not the current one, `slug_taken` or `conflict`.
 */
export async function updatePage(context: UpdateContext, update: PageUpdate): Promise<FullPage> {
  const { params, maybeOne } = context;
  let rendered: RenderedAt | undefined;
  // Changes of the tree need the lock of the wiki, which is taken before the lock of a page's row.
  const { slug, parent_page_id, position, status } = update;
  let needsLock = [slug, parent_page_id, position, status].some((value) => value !== undefined);
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const current = await maybeOne<CurrentPage>(currentPageStatement(params, update));
    if (!current) throw notFound();
    const change = diffUpdate(current, update);
    if (!change) return readPage(maybeOne, params);
    rendered = await renderChange(context, current, change, rendered);
    // Wiki links may be pending for a page with this title.
    needsLock ||= change.title !== current.title;
    const page = needsLock
      ? await writeUnderLock(context, update, current, rendered?.page)
      : await writeAlone(context, current, change, rendered?.page);
    if (page) return page;
    // The text may link to a missing page. A writer who creates that page concurrently must not miss the link.
    needsLock ||= (rendered?.page.links.length ?? 0) > 0;
  }
  throw new ApiError(
    'conflict',
    `The page of wiki ${params.wiki_id} is being changed too often. Try again in a moment.`,
  );
}

/**
 * Renders the new text, unless it was already rendered for the same path. Returns undefined if the text does not
 * change.
 */
async function renderChange(
  { params: { wiki_id, page_id }, maybeOne, services, abandoned }: UpdateContext,
  current: CurrentPage,
  { markdown, folder }: Change,
  rendered: RenderedAt | undefined,
): Promise<RenderedAt | undefined> {
  if (markdown === undefined || rendered?.path === current.path) return rendered;
  const pagesByTarget = await knownTargets(maybeOne, wiki_id, markdown, sql`${page_id}`);
  const page_path = [...(folder ? [folder] : []), current.slug].join('/');
  const { workspace_id, user_id, path } = current;
  const requester = { kind: 'save', workspace_id, user_id } as const;
  const page = { wiki_id, markdown, page_path, pagesByTarget };
  return { page: await services.renderPage(page, requester, abandoned()), path };
}

/**
 * Writes while no other request changes the tree of the wiki. Returns undefined if the page has changed since it was
 * read.
 */
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
    if (change.path !== locked.path) refuseUnmanaged(locked.parts);
    if (change.parent_page_id !== locked.parent_page_id && locked.is_closed) throw closedParent();
    const [written] = await tx.many(updateCtes(params, locked, change, rendered, true)).catch((error: unknown) => {
      throw asPathError(error);
    });
    // Another request wrote the text, which needs no lock of the wiki, while this one waited for the row.
    if (!written) return undefined;
    if (change.path !== locked.path || change.title !== locked.title) await resolvePendingLinks(tx, params);
    return readPage(tx.maybeOne, params);
  });
}

/**
 * Writes with a single statement. Returns undefined if the page has changed since it was read, or if the text links to
 * a missing page.
 */
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

/**
 * Returns the change that an update makes; undefined if it changes nothing. Throws if the update conflicts with the
 * current page.
 */
function diffUpdate(current: CurrentPage, update: PageUpdate): Change | undefined {
  const { slug = current.slug, status = current.status, title = current.title } = update;
  const parent_page_id = update.parent_page_id ?? current.parent_page_id;
  const parent_path = current.new_parent_path;
  if (parent_path === null) throw noSuchParent();
  const path = parent_path === '' ? slug : `${parent_path}/${slug}`;
  if (parent_page_id === current.page_id || parent_path.startsWith(`${current.path}/`)) {
    throw new ApiError('conflict', 'A page cannot be moved below itself or a page below it.');
  }
  if (update.base_revision !== undefined && update.base_revision !== current.revision) {
    throw editConflict(update.base_revision, current.revision);
  }
  if (path !== current.path && current.free_slug !== slug) throw slugTaken(slug, current.free_slug);
  const position = update.position === current.position && path === current.path ? undefined : update.position;
  // Clients receive links with the current paths of their pages; sending such a text back is no change.
  const isSame =
    update.markdown === undefined ||
    (update.folder === undefined
      ? update.markdown === current.markdown || equalsShownText(current, update.markdown)
      : update.markdown === current.markdown && update.folder === current.folder);
  const isRevision = !isSame || title !== current.title;
  if (!isRevision && path === current.path && position === undefined && status === current.status) return undefined;
  const markdown = isSame ? undefined : update.markdown;
  const { folder = current.parent_path } = update;
  return { title, markdown, folder, isRevision, path, parent_path, slug, parent_page_id, position, status };
}

function equalsShownText(current: CurrentPage, markdown: string): boolean {
  return (
    current.moved !== null &&
    withCurrentLinks({ ...current, html: '' }, current.folder, current.moved).markdown === markdown
  );
}
