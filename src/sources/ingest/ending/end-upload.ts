import { exportOf } from '@ibid/documents/exports/recognize.ts';
import { lossesInWords } from '@ibid/documents/formats/loss-words.ts';
import type { Loss } from '@ibid/documents/formats/losses.ts';
import { LEFT_OUT_NAMED } from '@ibid/documents/formats/zip/unpack.ts';
import { changedFields } from '../../../platform/access/audit-record.ts';
import { newId } from '../../../platform/core/ids.ts';
import type { Query } from '../../../platform/db/db.ts';
import { sql } from '../../../platform/db/sql.ts';
import { givenUp, hasFailedBytes } from '../../uploads/upload-file.ts';
import { USED_FOR_ORDER } from '../order-files.ts';
import { NOT_SHOWN, OF_EXPORT, SAME_TABLE } from '../surroundings/attached-files.ts';
import { type Gone, HIDDEN_LEFT_OUT } from '../sync-folder.ts';
import { type BrokenLinks, findBrokenLinks } from './broken-links.ts';
import { findNotUnderstood, type NotUnderstood } from './not-understood.ts';

interface Counts {
  files: number;
  usable: number;
  failed: number;
  new_sources: number;
  known_sources: number;
  new_pages: number;
  updated_pages: number;
  merged_pages: number;
  kept_pages: number;
  moved_pages: number;
  lost_sections: number;
  attached: number;
  used_for_order: number;
  left_out: number;
  same_tables: number;
  of_export: number;
  hidden: number;
}

/** A page that users and its file changed in the same places. */
interface Conflict {
  /** "" for a draft, because users who must not see drafts can read the summary. */
  path: string;
  filename: string;
}

/** Results of an upload that its rows do not contain. */
interface Outcome {
  lost_sections: number;
  gone: Gone;
  ignored: readonly string[];
}

/** Maximum number of failures, or of unmerged pages, that a summary names; it counts the rest. */
const NAMED = 5;

/**
 * Ends an upload, completed or failed with `error`, and writes its audit record. `lost_sections` counts pages of
 * document parts that no longer exist, `gone` has the pages of files that the sync no longer contains, and `ignored`
 * names unusable order files.
 */
export async function endUpload(
  query: Query,
  upload: { wiki_id: string; upload_id: string },
  error: string,
  { lost_sections, gone, ignored }: Outcome,
) {
  const { wiki_id, upload_id } = upload;
  if (error !== '') {
    await query(sql`
      update upload_files set status = 'failed', error = ${error}
      where wiki_id = ${wiki_id} and upload_id = ${upload_id} and kind = 'file' and status = 'pending'`);
  }
  const [counts] = await query<Omit<Counts, 'lost_sections'>>(sql`
    select count(*) filter (where kind = 'file' and not ${isHiddenLeftOut})::int as files,
      count(*) filter (where kind = 'file' and status = 'done' and not is_attachment)::int as usable,
      count(*) filter (where is_attachment and status = 'done' and error = ${SAME_TABLE})::int as same_tables,
      count(*) filter (where is_attachment and status = 'done' and error = ${OF_EXPORT})::int as of_export,
      count(*) filter (where kind = 'file' and status <> 'done' and not ${isLeftOut})::int as failed,
      count(*) filter (where is_attachment and status = 'done' and error = '')::int as attached,
      count(*) filter (where ${isUsedForOrder})::int as used_for_order,
      count(*) filter (where ${isLeftOut})::int as left_out,
      count(*) filter (where ${isHiddenLeftOut})::int as hidden,
      count(*) filter (where new_source)::int as new_sources,
      count(*) filter (where kind = 'file' and status = 'done' and not new_source and not is_attachment)::int as known_sources,
      count(*) filter (where page_change = 'new')::int as new_pages,
      count(*) filter (where page_change = 'updated')::int as updated_pages,
      count(*) filter (where page_change = 'merged')::int as merged_pages,
      count(*) filter (where page_change = 'kept')::int as kept_pages,
      count(*) filter (where renamed_from <> '' and status = 'done' and exists (
        select from page_paths o join uploads u on u.wiki_id = o.wiki_id and u.upload_id = f.upload_id
        where o.wiki_id = f.wiki_id and o.page_id = f.page_id and o.moved_at >= u.created_at))::int as moved_pages
    from upload_files f where wiki_id = ${wiki_id} and upload_id = ${upload_id}`);
  const failures = await query<{ filename: string; error: string }>(sql`
    select filename, error from upload_files
    where wiki_id = ${wiki_id} and upload_id = ${upload_id} and kind = 'file' and status <> 'done' and not ${isLeftOut}
    order by file_no limit ${NAMED}`);
  const left = await query<{ filename: string }>(sql`
    select filename from upload_files where wiki_id = ${wiki_id} and upload_id = ${upload_id} and ${isLeftOut}
    order by file_no limit ${NAMED}`);
  const hidden = await query<{ filename: string }>(sql`
    select filename from upload_files where wiki_id = ${wiki_id} and upload_id = ${upload_id} and ${isHiddenLeftOut}
    order by file_no limit ${LEFT_OUT_NAMED}`);
  const conflicts = await query<Conflict>(sql`
    select case when p.status = 'draft' then '' else p.path end as path, f.filename from upload_files f
    join pages p on p.wiki_id = f.wiki_id and p.page_id = f.page_id
    where f.wiki_id = ${wiki_id} and f.upload_id = ${upload_id} and f.page_change = 'kept'
    order by f.file_no limit ${NAMED}`);
  if (!counts) throw new Error('the files of an upload cannot be counted');
  const incomplete = await incompleteSources(query, upload);
  const broken = await findBrokenLinks(query, upload, NAMED);
  const status = counts.usable > 0 ? 'completed' : 'failed';
  const summary =
    summarize(
      { ...counts, lost_sections },
      failures,
      conflicts,
      left.map(({ filename }) => filename),
      hidden.map(({ filename }) => filename),
      incomplete,
      gone,
      broken,
      ignored,
    ) +
    describeVerbatim(await findNotUnderstood(query, upload, NAMED)) +
    (await recognized(query, upload));
  const problem = status === 'completed' ? '' : error || failures[0]?.error || 'no_usable_file: no file could be used';
  // Only a failed upload can be retried, and one that exceeds a limit has to make room.
  if (status === 'completed' || problem.startsWith('quota_exceeded:')) {
    await query(sql`
      update upload_files f set ${givenUp} where f.wiki_id = ${wiki_id} and f.upload_id = ${upload_id} and ${hasFailedBytes}`);
  }
  await query(sql`
    with before as (
      select status, source_count, error from uploads where wiki_id = ${wiki_id} and upload_id = ${upload_id}
    ), ended as (
      update uploads set status = ${status}, source_count = ${counts.new_sources}, summary = ${summary}, error = ${problem},
        updated_at = now(), finished_at = now()
      where wiki_id = ${wiki_id} and upload_id = ${upload_id}
      returning status, source_count, error
    )
    insert into audit_events (event_id, workspace_id, type, target_kind, target_id, request_id, address, before, after)
    select ${newId('evt')}, w.workspace_id, ${`upload.${status}`}, 'upload', ${upload_id}, '', '',
      ${changedFields('was', 'became')}, ${changedFields('became', 'was')}
    from (select to_jsonb(before) as was, to_jsonb(ended) as became from before, ended) changes, wikis w
    where w.wiki_id = ${wiki_id}`);
  return { status, summary, error: problem } as const;
}

/** The part of the summary about markup of other tools that pages show verbatim, and about formats without a reader. */
function describeVerbatim({ counts, pages, filenames, plain }: NotUnderstood): string {
  const signs = counts.map(([name, times]) => `${times} × ${name}`).join(', ');
  const syntax = `Unsupported syntax, shown as written: ${signs} on ${count(pages, 'page')} of`;
  return `${namedOf(syntax, filenames, pages).replace(' of: ', ': ')}${namedOf('Read as plain text', plain.filenames, plain.count)}`;
}

/** The part of the summary about the tool that the files were exported from; "" if none is recognized. */
async function recognized(
  query: Query,
  { wiki_id, upload_id }: { wiki_id: string; upload_id: string },
): Promise<string> {
  // For an archive, `error` holds a note that lists its hidden files.
  const files = await query<{ name: string }>(sql`
    select case kind when 'archive' then error else filename end as name from upload_files
    where wiki_id = ${wiki_id} and upload_id = ${upload_id} and kind in ('file', 'archive')`);
  const from = exportOf(files.map(({ name }) => name));
  return from ? ` Recognized as an export of ${from.name}.${from.advice ? ` ${from.advice}` : ''}` : '';
}

/** A file that was read for the order of the other files. */
const isUsedForOrder = sql`(is_attachment and status = 'done' and error = ${USED_FOR_ORDER})`;

/** A picture or drawing that no text refers to. */
const isLeftOut = sql`(is_attachment and status = 'failed' and error like ${`${NOT_SHOWN}:%`})`;

/** A hidden file that no text refers to, or a file that an operating system added. */
const isHiddenLeftOut = sql`(is_attachment and status = 'done' and error = ${HIDDEN_LEFT_OUT})`;

/** Formats the summary in one line: counts of files by result, failures with reasons, and pages that need attention. */
function summarize(
  counts: Counts,
  failures: { filename: string; error: string }[],
  conflicts: Conflict[],
  left: string[],
  hidden: string[],
  incomplete: Incomplete,
  gone: Gone,
  broken: BrokenLinks,
  ignored: readonly string[],
): string {
  const parts = [
    count(counts.new_sources, 'new source'),
    counts.known_sources > 0 && `${count(counts.known_sources, 'file')} already known (same bytes)`,
    count(counts.new_pages, 'new page'),
    counts.updated_pages > 0 && `${count(counts.updated_pages, 'page')} updated`,
    counts.merged_pages > 0 && `${count(counts.merged_pages, 'page')} merged with manual edits`,
    counts.moved_pages > 0 && `${count(counts.moved_pages, 'page')} moved with their files`,
    counts.kept_pages > 0 && `${count(counts.kept_pages, 'page')} left unchanged because of manual edits (now stale)`,
    counts.lost_sections > 0 && `${count(counts.lost_sections, 'page')} of removed sections (now stale)`,
    gone.count > 0 && `${count(gone.count, 'page')} of missing files (now stale)`,
    broken.count > 0 && count(broken.count, 'broken link'),
    counts.attached > 0 && `${count(counts.attached, 'file')} attached to pages that show them`,
    counts.used_for_order > 0 && `${count(counts.used_for_order, 'file')} used for the order`,
    ignored.length > 0 && `${count(ignored.length, 'order file')} ignored`,
    counts.same_tables > 0 && `${count(counts.same_tables, 'partial table')} left out`,
    counts.of_export > 0 && `${count(counts.of_export, 'export file')} left out`,
    counts.left_out > 0 && `${count(counts.left_out, 'unreferenced file')} left out`,
    incomplete.to_review > 0 && `${count(incomplete.to_review, 'file')} not read completely`,
    incomplete.others > 0 &&
      `${count(incomplete.others, 'file')} read without surrounding content (navigation, headers, scripts)`,
    counts.hidden > 0 &&
      `${count(counts.hidden, 'hidden file')} left out (${hidden.join(', ')}${counts.hidden > hidden.length ? ', …' : ''})`,
    ...incomplete.archives.map(({ filename, error }) => `${error.replace(/^left_out: /, '')} of ${filename}`),
    counts.failed > 0 && `${count(counts.failed, 'file')} failed`,
  ].filter(Boolean);
  const named = failures.map(
    ({ filename, error }) => `${filename} (${error.replace(/^\w+: /, '') || 'not processed'})`,
  );
  const list = namedOf('Failed', named, counts.failed);
  const losses = incomplete.named.map(({ filename, losses }) => `${filename} (${lossesInWords(losses)})`);
  const unread = namedOf('Not read completely', losses, incomplete.to_review);
  return `${count(counts.files, 'file')}: ${parts.join(', ')}.${list}${unread}${namedOf('Left out', left, counts.left_out)}${namedOf('Order files ignored', ignored.slice(0, NAMED), ignored.length)}${namedOf('Gone; keep or delete', gone.paths.slice(0, NAMED), gone.count)}${gone.isUnknown ? ' Missing files are unknown because an archive could not be opened.' : ''}${namedOf('Broken links', broken.named, broken.count)}${describeConflicts(conflicts, counts.kept_pages)}`;
}

/** Sources of the upload whose text is incomplete, and archives that were only partly unpacked. */
interface Incomplete {
  /** Sources with losses that need review, and without. */
  to_review: number;
  others: number;
  /** The first sources to review. */
  named: { filename: string; losses: Loss[] }[];
  archives: { filename: string; error: string }[];
}

async function incompleteSources(
  query: Query,
  { wiki_id, upload_id }: { wiki_id: string; upload_id: string },
): Promise<Incomplete> {
  const incomplete = sql`
    from upload_files f join sources s on s.wiki_id = f.wiki_id and s.source_id = f.source_id
    where f.wiki_id = ${wiki_id} and f.upload_id = ${upload_id} and f.kind = 'file' and f.status = 'done' and s.loss_count > 0`;
  // Ignore comments and front matter: nearly every Markdown file has them, and its author knows that they are omitted.
  const [counts] = await query<{ to_review: number; others: number }>(sql`
    select count(*) filter (where s.losses_to_review > 0)::int as to_review,
      count(*) filter (where s.losses_to_review = 0 and exists (
        select from jsonb_array_elements(s.losses) l where l->>'kind' not in ('markup_comment', 'metadata')))::int as others
    ${incomplete}`);
  const named = await query<{ filename: string; losses: Loss[] }>(sql`
    select f.filename, s.losses ${incomplete} and s.losses_to_review > 0 order by f.file_no limit ${NAMED}`);
  const archives = await query<{ filename: string; error: string }>(sql`
    select filename, error from upload_files
    where wiki_id = ${wiki_id} and upload_id = ${upload_id} and kind = 'archive' and error like 'left_out:%'
    order by file_no limit ${NAMED}`);
  return { to_review: counts?.to_review ?? 0, others: counts?.others ?? 0, named, archives };
}

function namedOf(what: string, named: readonly string[], all: number): string {
  if (named.length === 0) return '';
  return ` ${what}: ${named.join('; ')}${all > named.length ? `; and ${all - named.length} more` : ''}.`;
}

function describeConflicts(conflicts: Conflict[], all: number): string {
  if (conflicts.length === 0) return '';
  const rest = all - conflicts.length;
  const named = conflicts
    .map(({ path, filename }) => (path === '' ? filename : `${path} (from ${filename})`))
    .join('; ');
  return ` People and the files changed the same places of: ${named}${rest > 0 ? `; and ${rest} more` : ''}. Copy the new text of the file into the page and save it.`;
}

function count(n: number, word: string): string {
  return `${n} ${word}${n === 1 ? '' : 's'}`;
}
