import { folderOf } from '@ibid/markdown/page-links.ts';
import { newId } from '../../../platform/core/ids.ts';
import { sql } from '../../../platform/db/sql.ts';
import { type ArchivedPage, ArchivedRevision, HISTORY_FILE, MANIFEST_FILE } from '../export/archive-format.ts';
import { ArchiveError, invalid } from './archive-error.ts';
import { attachFile } from './attach-file.ts';
import { editedText } from './edited-text.ts';
import { type ImportContext, inBatches } from './import-context.ts';
import { shown } from './open-archive.ts';
import { type Provenance, provenanceOf } from './provenance.ts';
import type { PreparedImport } from './publish-import.ts';
import { readRecords, recordReader } from './read-records.ts';
import { ATTACHMENTS, type ImportedAttachment, type ImportedPage, type ImportedRevision } from './staged-rows.ts';
import { readWikiArchive, type WikiArchive } from './wiki-archive.ts';
import { namesOfWiki } from './wiki-names.ts';

const readRevision = recordReader(ArchivedRevision);

/** Prepares the pages of a wiki archive for an empty wiki. */
export async function importWiki(context: ImportContext): Promise<PreparedImport> {
  const found = await readWikiArchive(context.archive);
  const provenance = await provenanceOf(context, found);
  const idOf = await assignIds(context, found, provenance);
  const edited = await importHistory(context, found, idOf, provenance);
  await importAttachments(context, found, idOf, provenance);
  const { pages, revisions, attachments } = found.manifest;
  const more = edited === 0 ? '' : ` ${edited} files were edited in the archive and became new revisions.`;
  const claimed = provenance.isOwn ? '' : ' Authors and dates are shown as claims of the archive.';
  const summary = `${pages} pages with ${revisions} revisions and ${attachments} attachments.${more}${claimed}`;
  const { home_page_id } = found.manifest.wiki;
  const wholeWiki = { home_page_id: home_page_id === undefined ? null : idOf(home_page_id) };
  return { summary, people: provenance.strangers, wholeWiki };
}

/**
 * Keeps ids of an archive that this service made unless they are in use, and replaces all others. A made-up id could
 * belong to a page that the audit log still names.
 */
async function assignIds(
  { query }: ImportContext,
  { pages, attachments }: WikiArchive,
  { isOwn }: Provenance,
): Promise<(id: string) => string> {
  const ids = [...pages.map(({ page_id }) => page_id), ...attachments.map(({ attachment_id }) => attachment_id)];
  const taken = isOwn
    ? await query<{ id: string }>(sql`select ids_in_use(${ids}::text[]) as id`)
    : ids.map((id) => ({ id }));
  const fresh = new Map(
    taken
      .map(({ id }) => id)
      .toSorted()
      .map((id) => [id, newId(id.startsWith('page_') ? 'page' : 'attachment')]),
  );
  return (id) => fresh.get(id) ?? id;
}

/**
 * Prepares every revision, rendered again. Markdown files that were edited in the archive become additional revisions.
 */
async function importHistory(
  context: ImportContext,
  { manifest, pages }: WikiArchive,
  idOf: (id: string) => string,
  provenance: Provenance,
): Promise<number> {
  const { wiki_id, sandbox, staging } = context;
  const names = namesOfWiki(pages);
  const rowOf = pageRows(pages, idOf, provenance);
  let done = 0;
  let edited = 0;

  async function make(given: Given): Promise<ImportedRevision> {
    const { page, folder, title, revision, isPresent, isEdit } = given;
    const made = isEdit ? editedBy(context) : provenance.revision(given);
    const markdown = given.markdown.replace(/(?<=attachment:)attachment_[0-9a-hjkmnp-tv-z]{26}/g, idOf);
    const page_path = [...(folder ? [folder] : []), page.path.slice(page.path.lastIndexOf('/') + 1)].join('/');
    const rendered = await sandbox.render({ wiki_id, markdown, page_path, pagesByTarget: names.targetsOf(markdown) });
    const { html, outline, text, indexed, description, word_count, tags, properties } = rendered;
    const meant = new Map(page.meant.map(({ to_path, page_id }) => [to_path, page_id]));
    const links = names.resolved(rendered.links).map((link) => {
      const to = meant.get(link.to_path) ?? link.to_page_id;
      return { ...link, to_page_id: to === null ? null : idOf(to) };
    });
    const { created_at: updated_at, created_by: updated_by } = made;
    const edit = { revision, title, updated_at, updated_by };
    if (isEdit) edited += 1;
    const derived = { description, word_count, tags, properties };
    const present = { page: { ...rowOf(page), ...derived, ...(isEdit && edit) }, text, indexed, links };
    const page_id = idOf(page.page_id);
    const texts = { title, markdown, html, outline, folder };
    return { page_id, revision, ...texts, ...made, present: isPresent ? present : undefined };
  }

  async function write(made: ImportedRevision[]): Promise<void> {
    done += made.length;
    await staging.revisions(made, (0.95 * done) / Math.max(manifest.revisions, 1));
  }

  await inBatches(givenRevisions(context, manifest.revisions, pages), ({ markdown }) => markdown.length, make, write);
  return edited;
}

function editedBy({ creator, now }: ImportContext) {
  return { created_at: now, created_by: creator, origin: 'authored', claim: null };
}

/** Builds the row of each page, under its new id. */
function pageRows(
  pages: readonly ArchivedPage[],
  idOf: (id: string) => string,
  provenance: Provenance,
): (page: ArchivedPage) => Omit<ImportedPage, 'tags' | 'properties'> {
  const idAt = new Map(pages.map(({ path, page_id }) => [path, idOf(page_id)]));
  return (page) => {
    const parent = folderOf(page.path);
    const { created_at, created_by } = provenance.made(page);
    const updated = provenance.made({ created_at: page.updated_at, created_by: page.updated_by });
    // Only uploads to this service can create pages that are compiled, stale, or have lost their file.
    const state = provenance.isOwn
      ? { origin: page.origin, stale: page.stale, gone_file: page.gone_file ?? null }
      : { origin: 'authored', stale: false, gone_file: null };
    return {
      ...page,
      ...state,
      page_id: idOf(page.page_id),
      slug: page.path.slice(page.path.lastIndexOf('/') + 1),
      parent_page_id: idAt.get(parent) ?? null,
      parent_path: parent || null,
      created_at,
      created_by,
      updated_at: updated.created_at,
      updated_by: updated.created_by,
    };
  };
}

interface Given extends ArchivedRevision {
  page: ArchivedPage;
  isPresent: boolean;
  /** Not in the history: the page's file was edited in the archive. */
  isEdit: boolean;
}

/** Yields the history in order. Checks that every page occurs, with its current revision last. */
async function* givenRevisions(
  context: ImportContext,
  count: number,
  pages: readonly ArchivedPage[],
): AsyncGenerator<Given> {
  const { archive, limits } = context;
  let at = 0;
  let before = 0;
  let seen = 0;
  for await (const given of readRecords(archive, HISTORY_FILE, readRevision)) {
    const page = pages[at];
    const where = `${HISTORY_FILE}: revision ${given.revision} of ${given.page_id}`;
    if (page?.page_id !== given.page_id || given.revision <= before || given.revision > page.revision) {
      throw invalid(
        `${where} is out of order. Revisions must follow the order of pages.jsonl, with the current revision of each page last.`,
      );
    }
    if (++seen > count) throw invalid(`${HISTORY_FILE} has more revisions than ${MANIFEST_FILE} states.`);
    if (Buffer.byteLength(given.markdown) > limits.markdown_bytes) {
      throw new ArchiveError(
        'archive_too_large',
        `${where} is longer than the limit of ${limits.markdown_bytes} bytes for a page.`,
      );
    }
    if (
      given.folder !== '' &&
      !given.folder.split('/').every((segment) => /^[-\p{Ll}\p{Lo}\p{Lm}\p{M}\p{N}]+$/u.test(segment))
    )
      throw invalid(`${where} has an invalid folder.`);
    before = given.revision;
    const isLast = given.revision === page.revision;
    if (isLast && given.title !== page.title) throw invalid(`${where} and its page have different titles.`);
    const edit = isLast ? await editedText(context, page, given.markdown) : undefined;
    yield { ...given, page, isPresent: isLast && !edit, isEdit: false };
    if (edit) {
      const revision = { ...given, ...edit, revision: given.revision + 1 };
      yield { ...revision, folder: folderOf(page.path), page, isPresent: true, isEdit: true };
    }
    if (isLast) {
      at += 1;
      before = 0;
    }
  }
  if (at < pages.length)
    throw invalid(`${HISTORY_FILE} lacks the current revision of ${shown(pages[at]?.path ?? '')}.`);
}

async function importAttachments(
  context: ImportContext,
  { attachments }: WikiArchive,
  idOf: (id: string) => string,
  provenance: Provenance,
): Promise<void> {
  const { archive, blobs, limits, staging } = context;
  let rows: ImportedAttachment[] = [];
  for (const [i, given] of attachments.entries()) {
    const file = await attachFile(archive, given.file, { blobs, file_bytes: limits.file_bytes });
    if (file.sha256 !== given.sha256)
      throw invalid(`${shown(given.file)} does not have the hash given in attachments.jsonl.`);
    rows.push({
      ...given,
      ...file,
      attachment_id: idOf(given.attachment_id),
      page_id: idOf(given.page_id),
      ...provenance.made(given),
    });
    if (rows.length < ATTACHMENTS && i < attachments.length - 1) continue;
    await staging.attachments(rows, 0.95 + (0.05 * i) / attachments.length);
    rows = [];
  }
}
