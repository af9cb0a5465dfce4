import { planPaths } from '@ibid/documents/file-paths.ts';
import { isArchiveName } from '@ibid/documents/formats/zip/unpack.ts';
import { isHidden, isSystemFile } from '@ibid/documents/hidden-files.ts';
import { folderOf } from '@ibid/markdown/page-links.ts';
import { newId } from '../../../platform/core/ids.ts';
import { sql } from '../../../platform/db/sql.ts';
import type { CompileOutput } from '../../../platform/sandbox/sandbox.ts';
import { invalid } from './archive-error.ts';
import { attachFile } from './attach-file.ts';
import { type ImportContext, inBatches } from './import-context.ts';
import { shown } from './open-archive.ts';
import type { PreparedImport } from './publish-import.ts';
import { ATTACHMENTS, type ImportedAttachment, type ImportedRevision } from './staged-rows.ts';
import { namesOfWiki } from './wiki-names.ts';

/** Files that become pages. Other files become attachments of the pages that show or link to them. */
const DOCUMENT = /\.(?:md|markdown|mdx|txt|html?)$/i;

/** Maximum number of failures that the summary names; it counts the rest. */
const NAMED = 5;

/** A file, or a folder without a file for its page, and the page it becomes. */
interface Planned {
  /** Without the top folder of the archive. */
  filename: string;
  entry: string | undefined;
  position: number;
  path: string;
  page_id: string;
}

interface Compiled extends Planned {
  result: CompileOutput;
}

/** The plan of a folder import, made before any page is written. */
interface FolderPlan {
  entryOf: ReadonlyMap<string, string>;
  planned: readonly Planned[];
  /** Link targets by filename. */
  pages: ReadonlyMap<string, string>;
  /** Ids of possible attachments, by filename and by link address. */
  attachmentIds: ReadonlyMap<string, string>;
  idAt: ReadonlyMap<string, string>;
  /** Paths that have pages below them. */
  parents: ReadonlySet<string>;
  folderAt: ReadonlyMap<string, string>;
  names: ReturnType<typeof namesOfWiki>;
}

/** Prepares pages from an archive of documents that is not a wiki export. Existing pages of the wiki stay. */
export async function importFolder(context: ImportContext): Promise<PreparedImport> {
  const { archive, staging } = context;
  const plan = await planFolder(context);
  const claimed = new Map<string, string>();
  const failures: string[] = [];
  let prepared = 0;
  let done = 0;

  async function make(page: Planned): Promise<Compiled> {
    const { failure, ...compiled } = await compilePlanned(context, plan, page);
    if (failure !== undefined) failures.push(failure);
    return compiled;
  }

  async function write(made: Compiled[]): Promise<void> {
    const rows: ImportedRevision[] = [];
    for (const { result, ...page } of made) {
      if (!result.ok) continue;
      for (const link of result.links)
        if (plan.attachmentIds.has(link) && !claimed.has(link)) claimed.set(link, page.page_id);
      rows.push(revisionOf(context, plan, page, result));
    }
    prepared += rows.length;
    done += made.length;
    await staging.revisions(rows, (0.95 * done) / plan.planned.length);
  }

  await inBatches(plan.planned, ({ entry }) => (entry === undefined ? 0 : archive.size(entry)), make, write);
  if (prepared === 0) throw invalid(`No file can become a page. ${failures.slice(0, NAMED).join('; ')}`);
  await attachClaimed(context, plan.entryOf, plan.attachmentIds, claimed);
  const left = [...plan.attachmentIds.keys()].filter((name) => !claimed.has(name) && !isLeftOut(name)).length;
  return { summary: summarize(prepared, claimed.size, left, failures), people: [], wholeWiki: undefined };
}

async function planFolder({ query, wiki_id, archive }: ImportContext): Promise<FolderPlan> {
  const entryOf = filesOf(archive.names);
  const isDocument = (name: string) => DOCUMENT.test(name) && !isLeftOut(name);
  const documents = [...entryOf.keys()].filter(isDocument);
  const isOfArchives = entryOf.size > 0 && [...entryOf.keys()].every(isArchiveName);
  if (isOfArchives)
    throw invalid('The archive contains only archives. Upload it instead, or import each archive separately.');
  if (documents.length === 0)
    throw invalid('The archive contains no Markdown, text or HTML file that could become a page.');
  const existing = await query<{ page_id: string; path: string; title: string }>(sql`
    select page_id, path, title from pages where wiki_id = ${wiki_id} and trashed_at is null`);
  const pageAt = new Map<string, Existing>(existing.map((page) => [page.path, page]));
  const { planned, pages, folderAt } = await planAround({ query, wiki_id }, pageAt, () =>
    planPages(documents, entryOf, pageAt),
  );
  const attachmentIds = new Map<string, string>();
  for (const name of entryOf.keys()) {
    if (isDocument(name)) continue;
    const attachment_id = newId('attachment');
    attachmentIds.set(name, attachment_id);
    pages.set(name, `attachment:${attachment_id}`);
  }
  const all = [...existing, ...planned.map((page) => ({ ...page, title: '' }))];
  return {
    entryOf,
    planned,
    pages,
    folderAt,
    attachmentIds,
    idAt: new Map(all.map(({ path, page_id }) => [path, page_id])),
    parents: new Set(planned.map(({ path }) => folderOf(path))),
    names: namesOfWiki(all.map((page) => ({ ...page, former_paths: [] }))),
  };
}

/** A page of the wiki at some path; hidden from the person who imports, so that only its path is known. */
type Existing = object | 'hidden';

/** Plans again until no planned path is taken by a hidden page, which `pageAt` gets to know. */
async function planAround(
  { query, wiki_id }: Pick<ImportContext, 'query' | 'wiki_id'>,
  pageAt: Map<string, Existing>,
  plan: () => ReturnType<typeof planPages>,
): Promise<ReturnType<typeof planPages>> {
  for (;;) {
    const made = plan();
    const taken = await query<{ path: string }>(sql`
      select taken_paths(${wiki_id}, ${made.planned.map(({ path }) => path)}::text[]) as path`);
    if (taken.length === 0) return made;
    for (const { path } of taken) pageAt.set(path, 'hidden');
  }
}

/** Compiles a file. A file that fails and has pages below it becomes a folder page, with the reason in `failure`. */
async function compilePlanned(
  { wiki_id, sandbox, archive, limits }: ImportContext,
  { pages, parents, folderAt }: FolderPlan,
  page: Planned,
): Promise<Compiled & { failure?: string }> {
  const { entry, filename, path } = page;
  const file = { wiki_id, filename, content_type: '', page_path: path };
  const asFolder = (name: string) => {
    const bytes = Buffer.from(`# ${name.replace(/([\\`*_[\]<>#])/g, '\\$1')}\n`);
    return sandbox.compile({ ...file, filename: 'folder.md', content_type: 'text/markdown', bytes }, pages);
  };
  if (entry === undefined) return { ...page, result: await asFolder(filename.split('/').at(-1) ?? filename) };
  const result = await sandbox.compile({ ...file, bytes: await archive.read(entry, limits.file_bytes) }, pages);
  if (result.ok) return { ...page, result };
  const failure = `${filename} (${result.message})`;
  if (!parents.has(path)) return { ...page, result, failure };
  return { ...page, result: await asFolder(folderAt.get(path)?.split('/').at(-1) ?? filename), failure };
}

function revisionOf(
  { now, creator }: ImportContext,
  { idAt, names }: FolderPlan,
  { page_id, path, position }: Planned,
  result: CompileOutput & { ok: true },
): ImportedRevision {
  const { title, description, tags, properties, word_count, markdown, html, outline, text, indexed } = result;
  const parent = folderOf(path);
  const made = { revision: 1, origin: 'authored', created_at: now, created_by: creator };
  const place = {
    path,
    slug: path.slice(path.lastIndexOf('/') + 1),
    parent_page_id: idAt.get(parent) ?? null,
    parent_path: parent || null,
    position,
    former_paths: [],
  };
  const state = {
    status: 'published',
    stale: false,
    gone_file: null,
    word_count,
    updated_at: now,
    updated_by: creator,
  };
  const page = { page_id, title, description, tags, properties, ...place, ...state, ...made };
  const present = { page, text, indexed, links: names.resolved(result.page_links) };
  return { page_id, title, markdown, html, outline, folder: parent, ...made, claim: null, present };
}

/**
 * Maps filenames to archive entries. Strips the top folder if it contains everything, as in archives of repositories.
 */
function filesOf(names: readonly string[]): Map<string, string> {
  const kept = names.filter((name) => !isSystemFile(name));
  const visible = kept.filter((name) => !isLeftOut(name));
  const [top] = visible[0]?.split('/') ?? [];
  const isWrapped = visible.length > 0 && visible.every((name) => name.startsWith(`${top}/`));
  const within = (name: string) => (isWrapped && name.startsWith(`${top}/`) ? name.slice(`${top}/`.length) : name);
  return new Map(kept.toSorted().map((name) => [within(name), name]));
}

/** Hidden files become no pages, but can be attachments of pages that show or link to them. */
function isLeftOut(name: string): boolean {
  return /(?:^|\/)\./.test(name) || isHidden(name);
}

/** Assigns a page to each document and folder, parents first, and maps the link targets. */
function planPages(
  documents: readonly string[],
  entryOf: ReadonlyMap<string, string>,
  pageAt: ReadonlyMap<string, Existing>,
): Pick<FolderPlan, 'planned' | 'folderAt'> & { pages: Map<string, string> } {
  // An import creates only new pages; existing pages are unchanged.
  const paths = planPaths(documents, (path) => {
    const page = pageAt.get(path);
    return page === 'hidden' ? page : page && 'authored';
  });
  const pages = new Map(paths.folder_paths);
  pages.delete('');
  const planned: Planned[] = documents.map((filename, position) => {
    const path = paths.files[position] ?? '';
    pages.set(filename, path);
    return { filename, entry: entryOf.get(filename), position, path, page_id: '' };
  });
  for (const [folder, path] of paths.folder_paths) {
    if (!paths.folders.has(path) || pageAt.has(path)) continue;
    planned.push({ filename: folder, entry: undefined, position: planned.length, path, page_id: '' });
  }
  const depth = ({ path }: Planned) => path.split('/').length;
  planned.sort((a, b) => depth(a) - depth(b) || a.position - b.position);
  for (const page of planned) page.page_id = newId('page');
  const folderAt = new Map([...paths.folder_paths].map(([folder, path]) => [path, folder]));
  return { planned, pages, folderAt };
}

/** Attaches each claimed file to the first page that shows or links to it. */
async function attachClaimed(
  { staging, archive, blobs, limits, creator, now }: ImportContext,
  entryOf: ReadonlyMap<string, string>,
  ids: ReadonlyMap<string, string>,
  claimed: ReadonlyMap<string, string>,
): Promise<void> {
  let rows: ImportedAttachment[] = [];
  let done = 0;
  for (const [name, page_id] of claimed) {
    const entry = entryOf.get(name);
    const attachment_id = ids.get(name);
    if (entry === undefined || attachment_id === undefined)
      throw new Error(`a page claims ${shown(name)}, which does not exist`);
    const file = await attachFile(archive, entry, { blobs, file_bytes: limits.file_bytes });
    rows.push({ attachment_id, page_id, ...file, created_at: now, created_by: creator });
    done += 1;
    if (rows.length < ATTACHMENTS && done < claimed.size) continue;
    await staging.attachments(rows, 0.95 + (0.05 * done) / claimed.size);
    rows = [];
  }
}

function summarize(pages: number, attachments: number, left: number, failures: readonly string[]): string {
  const parts = [`${pages} new pages, ${attachments} attachments.`];
  if (left > 0) parts.push(`${left} files that no page refers to were left out.`);
  if (failures.length > 0) {
    const rest = failures.length - NAMED;
    parts.push(`Failed: ${failures.slice(0, NAMED).join('; ')}${rest > 0 ? `; and ${rest} more` : ''}.`);
  }
  return parts.join(' ');
}
