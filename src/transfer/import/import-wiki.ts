import { newId } from '../../core/ids.ts';
import { raw, sql } from '../../db/sql.ts';
import { folderOf } from '../../markdown/page-links.ts';
import { type ArchivedPage, ArchivedRevision, HISTORY_FILE, MANIFEST_FILE } from '../export/archive-format.ts';
import { ArchiveError, invalid } from './archive-error.ts';
import { attachFile } from './attach-file.ts';
import { editedText } from './edited-text.ts';
import { type ImportContext, inBatches } from './import-context.ts';
import { peopleHere } from './imported-people.ts';
import { shown } from './open-archive.ts';
import { readRecords, recordReader } from './read-records.ts';
import { readWikiArchive, type WikiArchive } from './wiki-archive.ts';
import { namesOfWiki } from './wiki-names.ts';
import {
  type ImportedAttachment,
  type ImportedPage,
  type ImportedRevision,
  insertAttachments,
  insertPages,
  insertRevisions,
} from './write-imported.ts';

const PAGES_AT_ONCE = 2_000;

const readRevision = recordReader(ArchivedRevision);

/** Makes an empty wiki what the archive of a wiki holds. Answers a line about it, and how many pages there are then. */
export async function importWiki(context: ImportContext): Promise<{ summary: string; pages: number }> {
  const { query, wiki_id, archive, onProgress } = context;
  const found = await readWikiArchive(archive);
  const idOf = await freeIds(context, found);
  const personOf = await peopleHere(query, wiki_id, found.people);
  const pages = found.pages.map((page) => ({ ...page, page_id: idOf(page.page_id) }));
  const idAt = new Map(pages.map(({ path, page_id }) => [path, page_id]));
  const rows = pages.map((page) => pageRow(page, idAt, personOf));
  for (let from = 0; from < rows.length; from += PAGES_AT_ONCE) {
    await insertPages(query, wiki_id, rows.slice(from, from + PAGES_AT_ONCE));
  }
  const former = pages.flatMap(({ page_id, former_paths }) => former_paths.map((path) => ({ page_id, path })));
  await query(sql`
    insert into page_paths (wiki_id, path, page_id)
    select ${wiki_id}, path, page_id from jsonb_to_recordset(${JSON.stringify(former)}::jsonb) as g (path text, page_id text)`);
  const edited = await importHistory(context, found, idOf, personOf);
  await importAttachments(context, found, idOf, personOf);
  await onProgress(1);
  const { revisions, attachments } = found.manifest;
  const more = edited === 0 ? '' : ` ${edited} files were changed in the archive and are new revisions.`;
  const summary = `${pages.length} pages with ${revisions} revisions and ${attachments} attachments.${more}`;
  return { summary, pages: pages.length };
}

/** The ids of the archive where no other wiki of the service has them, and new ones for the others. */
async function freeIds({ query }: ImportContext, { pages, attachments }: WikiArchive): Promise<(id: string) => string> {
  const ids = [...pages.map(({ page_id }) => page_id), ...attachments.map(({ attachment_id }) => attachment_id)];
  const taken = await query<{ id: string }>(sql`select ids_in_use(${ids}::text[]) as id`);
  const fresh = new Map(
    taken
      .map(({ id }) => id)
      .toSorted()
      .map((id) => [id, newId(id.startsWith('page_') ? 'page' : 'attachment')]),
  );
  return (id) => fresh.get(id) ?? id;
}

function pageRow(
  page: ArchivedPage,
  idAt: ReadonlyMap<string, string>,
  personOf: (id: string) => string,
): ImportedPage {
  const parent = folderOf(page.path);
  return {
    ...page,
    slug: page.path.slice(page.path.lastIndexOf('/') + 1),
    parent_page_id: idAt.get(parent) ?? null,
    parent_path: parent || null,
    created_by: personOf(page.created_by),
    updated_by: personOf(page.updated_by),
  };
}

/** Writes every revision, rendered again, and what was changed in the archive's Markdown files as one more. */
async function importHistory(
  context: ImportContext,
  { manifest, pages }: WikiArchive,
  idOf: (id: string) => string,
  personOf: (user_id: string) => string,
): Promise<number> {
  const { query, wiki_id, sandbox, onProgress } = context;
  const names = namesOfWiki(pages);
  let done = 0;
  let edited = 0;

  async function make(given: Given): Promise<ImportedRevision> {
    const { page, folder, title, revision, origin, created_at, isPresent } = given;
    const markdown = given.markdown.replace(/(?<=attachment:)attachment_[0-9a-hjkmnp-tv-z]{26}/g, idOf);
    const page_path = [...(folder ? [folder] : []), page.path.slice(page.path.lastIndexOf('/') + 1)].join('/');
    const rendered = await sandbox.render({ wiki_id, markdown, page_path, pagesByTarget: names.targetsOf(markdown) });
    const { html, outline, text, indexed } = rendered;
    const meant = new Map(page.meant.map(({ to_path, page_id }) => [to_path, page_id]));
    const links = names.resolved(rendered.links).map((link) => {
      const to = meant.get(link.to_path) ?? link.to_page_id;
      return { ...link, to_page_id: to === null ? null : idOf(to) };
    });
    if (given.isEdit) {
      edited += 1;
      await query(sql`
        update pages set revision = ${revision}, title = ${title}, description = ${rendered.description},
          word_count = ${rendered.word_count}, updated_at = ${created_at}::timestamptz, updated_by = ${context.creator}
        where wiki_id = ${wiki_id} and page_id = ${idOf(page.page_id)}`);
    }
    return {
      page_id: idOf(page.page_id),
      revision,
      title,
      markdown,
      html,
      outline,
      origin,
      folder,
      created_at,
      created_by: given.isEdit ? context.creator : personOf(given.created_by),
      present: isPresent ? { text, indexed, links } : undefined,
    };
  }

  async function write(made: ImportedRevision[]): Promise<void> {
    await insertRevisions(query, wiki_id, made);
    done += made.length;
    await onProgress((0.95 * done) / Math.max(manifest.revisions, 1));
  }

  await inBatches(givenRevisions(context, manifest.revisions, pages), ({ markdown }) => markdown.length, make, write);
  return edited;
}

interface Given extends ArchivedRevision {
  page: ArchivedPage;
  isPresent: boolean;
  /** Not in the history: the page's file was changed in the archive. */
  isEdit: boolean;
}

/** The history in its order, in which every page comes once, with its present revision last. */
async function* givenRevisions(
  context: ImportContext,
  count: number,
  pages: readonly ArchivedPage[],
): AsyncGenerator<Given> {
  const { archive, limits, now } = context;
  let at = 0;
  let before = 0;
  let seen = 0;
  for await (const given of readRecords(archive, HISTORY_FILE, readRevision)) {
    const page = pages[at];
    const where = `${HISTORY_FILE}: revision ${given.revision} of ${given.page_id}`;
    if (page?.page_id !== given.page_id || given.revision <= before || given.revision > page.revision) {
      throw invalid(
        `${where} is out of order; the pages are in the order of pages.jsonl, each with its present revision last.`,
      );
    }
    if (++seen > count) throw invalid(`${HISTORY_FILE} has more revisions than ${MANIFEST_FILE} says.`);
    if (Buffer.byteLength(given.markdown) > limits.markdown_bytes) {
      throw new ArchiveError(
        'archive_too_large',
        `${where} is longer than the ${limits.markdown_bytes} bytes that a page may have.`,
      );
    }
    if (given.folder !== '' && !/^[a-z0-9-]+(?:\/[a-z0-9-]+)*$/.test(given.folder))
      throw invalid(`${where} has a folder that cannot be.`);
    before = given.revision;
    const isLast = given.revision === page.revision;
    if (isLast && given.title !== page.title) throw invalid(`${where} has another title than the page.`);
    const edit = isLast ? await editedText(context, page, given.markdown) : undefined;
    yield { ...given, page, isPresent: isLast && !edit, isEdit: false };
    if (edit) {
      const revision = { ...given, ...edit, revision: given.revision + 1, origin: 'authored' as const };
      yield { ...revision, folder: folderOf(page.path), created_at: now, page, isPresent: true, isEdit: true };
    }
    if (isLast) {
      at += 1;
      before = 0;
    }
  }
  if (at < pages.length)
    throw invalid(`${HISTORY_FILE} lacks the present revision of ${shown(pages[at]?.path ?? '')}.`);
}

async function importAttachments(
  context: ImportContext,
  { attachments }: WikiArchive,
  idOf: (id: string) => string,
  personOf: (user_id: string) => string,
): Promise<void> {
  const { query, wiki_id, archive, blobs, limits, onProgress } = context;
  let rows: ImportedAttachment[] = [];
  for (const [i, given] of attachments.entries()) {
    const file = await attachFile(archive, given.file, { blobs, file_bytes: limits.file_bytes });
    if (file.sha256 !== given.sha256)
      throw invalid(`${shown(given.file)} is not the file that attachments.jsonl means: its hash is another one.`);
    rows.push({
      ...given,
      ...file,
      attachment_id: idOf(given.attachment_id),
      page_id: idOf(given.page_id),
      created_by: personOf(given.created_by),
    });
    if (rows.length < 100 && i < attachments.length - 1) continue;
    await insertAttachments(query, wiki_id, rows);
    await onProgress(0.95 + (0.05 * i) / attachments.length);
    rows = [];
  }
}

/** Fails where the wiki has other pages than these: what people did meanwhile is not mixed with what the archive brings: the archive of a wiki is a whole wiki. */
export async function refuseUnlessAlone({ query, wiki_id }: ImportContext, pages: number): Promise<void> {
  const [row] = await query<{ pages: number }>(sql`
    select count(*)::int as pages from pages where wiki_id = ${wiki_id} and ${raw('trashed_at is null')}`);
  if (row?.pages !== pages) throw notEmpty();
}

export function notEmpty(): ArchiveError {
  return new ArchiveError(
    'conflict',
    'The wiki has pages already, and the archive of a wiki goes into an empty one. Make a new wiki for it.',
  );
}
