import { newId } from '../../core/ids.ts';
import { sql } from '../../db/sql.ts';
import { folderOf } from '../../markdown/page-links.ts';
import { type ArchivedPage, ArchivedRevision, HISTORY_FILE, MANIFEST_FILE } from '../export/archive-format.ts';
import { ArchiveError, invalid } from './archive-error.ts';
import { attachFile } from './attach-file.ts';
import { editedText } from './edited-text.ts';
import { type ImportContext, inBatches } from './import-context.ts';
import { peopleHere } from './imported-people.ts';
import { shown } from './open-archive.ts';
import type { PreparedImport } from './publish-import.ts';
import { readRecords, recordReader } from './read-records.ts';
import { ATTACHMENTS, type ImportedAttachment, type ImportedPage, type ImportedRevision } from './staged-rows.ts';
import { readWikiArchive, type WikiArchive } from './wiki-archive.ts';
import { namesOfWiki } from './wiki-names.ts';

const readRevision = recordReader(ArchivedRevision);

/** Prepares what the archive of a wiki makes of an empty one. */
export async function importWiki(context: ImportContext): Promise<PreparedImport> {
  const { query, wiki_id, archive } = context;
  const found = await readWikiArchive(archive);
  const idOf = await freeIds(context, found);
  const { personOf, strangers } = await peopleHere(query, wiki_id, found.people);
  const edited = await importHistory(context, found, idOf, personOf);
  await importAttachments(context, found, idOf, personOf);
  const { pages, revisions, attachments } = found.manifest;
  const more = edited === 0 ? '' : ` ${edited} files were changed in the archive and are new revisions.`;
  const summary = `${pages} pages with ${revisions} revisions and ${attachments} attachments.${more}`;
  const { home_page_id } = found.manifest.wiki;
  const wholeWiki = { home_page_id: home_page_id === undefined ? null : idOf(home_page_id) };
  return { summary, people: strangers, wholeWiki };
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

/** Prepares every revision, rendered again, and what was changed in the archive's Markdown files as one more. */
async function importHistory(
  context: ImportContext,
  { manifest, pages }: WikiArchive,
  idOf: (id: string) => string,
  personOf: (user_id: string) => string,
): Promise<number> {
  const { wiki_id, sandbox, staging } = context;
  const names = namesOfWiki(pages);
  const rowOf = pageRows(pages, idOf, personOf);
  let done = 0;
  let edited = 0;

  async function make(given: Given): Promise<ImportedRevision> {
    const { page, folder, title, revision, origin, created_at, isPresent, isEdit } = given;
    const markdown = given.markdown.replace(/(?<=attachment:)attachment_[0-9a-hjkmnp-tv-z]{26}/g, idOf);
    const page_path = [...(folder ? [folder] : []), page.path.slice(page.path.lastIndexOf('/') + 1)].join('/');
    const rendered = await sandbox.render({ wiki_id, markdown, page_path, pagesByTarget: names.targetsOf(markdown) });
    const { html, outline, text, indexed, description, word_count, tags, properties } = rendered;
    const meant = new Map(page.meant.map(({ to_path, page_id }) => [to_path, page_id]));
    const links = names.resolved(rendered.links).map((link) => {
      const to = meant.get(link.to_path) ?? link.to_page_id;
      return { ...link, to_page_id: to === null ? null : idOf(to) };
    });
    const created_by = isEdit ? context.creator : personOf(given.created_by);
    const edit = { revision, title, description, word_count, updated_at: created_at, updated_by: created_by };
    if (isEdit) edited += 1;
    const present = { page: { ...rowOf(page), tags, properties, ...(isEdit && edit) }, text, indexed, links };
    const page_id = idOf(page.page_id);
    const texts = { title, markdown, html, outline, folder };
    return { page_id, revision, origin, ...texts, created_at, created_by, present: isPresent ? present : undefined };
  }

  async function write(made: ImportedRevision[]): Promise<void> {
    done += made.length;
    await staging.revisions(made, (0.95 * done) / Math.max(manifest.revisions, 1));
  }

  await inBatches(givenRevisions(context, manifest.revisions, pages), ({ markdown }) => markdown.length, make, write);
  return edited;
}

/** The row of each page of the archive, under its id and people here. */
function pageRows(
  pages: readonly ArchivedPage[],
  idOf: (id: string) => string,
  personOf: (id: string) => string,
): (page: ArchivedPage) => Omit<ImportedPage, 'tags' | 'properties'> {
  const idAt = new Map(pages.map(({ path, page_id }) => [path, idOf(page_id)]));
  return (page) => {
    const parent = folderOf(page.path);
    return {
      ...page,
      gone_file: page.gone_file ?? null,
      page_id: idOf(page.page_id),
      slug: page.path.slice(page.path.lastIndexOf('/') + 1),
      parent_page_id: idAt.get(parent) ?? null,
      parent_path: parent || null,
      created_by: personOf(page.created_by),
      updated_by: personOf(page.updated_by),
    };
  };
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
  const { archive, blobs, limits, staging } = context;
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
    if (rows.length < ATTACHMENTS && i < attachments.length - 1) continue;
    await staging.attachments(rows, 0.95 + (0.05 * i) / attachments.length);
    rows = [];
  }
}
