import { hash } from 'node:crypto';
import { ATTACHMENT_PREFIX, pageOfReference } from '@ibid/documents/links/find-file.ts';
import { uploadLinkResolver } from '@ibid/documents/upload-link-resolver.ts';
import { buildInfo } from '../../platform/core/package/package-files.ts';
import type { Db, Query } from '../../platform/db/db.ts';
import { sql } from '../../platform/db/sql.ts';
import type { ClaimedJob } from '../../platform/jobs/define-job.ts';
import { lockJob } from '../../platform/jobs/record-queue.ts';
import type { CompiledUploadFile, UploadWrite } from './compiled-upload.ts';
import type { AttachedFile } from './surroundings/attached-files.ts';
import type { FilesAround, KnownFiles } from './surroundings/files-around.ts';

/** A page with more references is never skipped. */
const REFERENCES_MAX = 5_000;

const BATCH = 500;

interface FileOfPage {
  filename: string;
  content_type: string;
  sha256: string;
  page_path: string;
}

/** Hashes everything that the page of a file depends on. Also returns the attached files among the dependencies. */
function dependencies(
  file: FileOfPage,
  refers_to: readonly string[],
  around: FilesAround,
): { digest: string; attached: AttachedFile[] } {
  const { filename, content_type, sha256, page_path } = file;
  const attached: AttachedFile[] = [];
  const byPlaceholder = indexByPlaceholder(around.attached);
  const { findPage } = uploadLinkResolver({ wiki_id: around.wiki_id, page_path }, around.pages);
  const targets = refers_to.map((reference) => {
    const target = pageOfReference(reference, { ...file, site_root: around.site_root }, around.pages) ?? '';
    if (!target.startsWith(ATTACHMENT_PREFIX)) {
      return target === '' && reference.startsWith('[[') ? (findPage(reference.slice(2))?.path ?? '') : target;
    }
    const shown = byPlaceholder.get(target.slice(ATTACHMENT_PREFIX.length));
    if (shown) attached.push(shown);
    return ATTACHMENT_PREFIX + (shown?.sha256 ?? '');
  });
  const all = [buildInfo().programs, filename, content_type, sha256, page_path, refers_to, targets];
  return { digest: hash('sha256', JSON.stringify(all)), attached };
}

const placeholders = new WeakMap<ReadonlyMap<string, AttachedFile>, ReadonlyMap<string, AttachedFile>>();

function indexByPlaceholder(attached: ReadonlyMap<string, AttachedFile>): ReadonlyMap<string, AttachedFile> {
  let files = placeholders.get(attached);
  if (!files) {
    files = new Map([...attached.values()].map((file) => [file.placeholder, file]));
    placeholders.set(attached, files);
  }
  return files;
}

/**
 * Records the dependencies of a batch's pages, in the transaction that writes them. Omits texts that fell back to plain
 * text for lack of time or memory, and texts with too many references, so that they are compiled again next time.
 */
export async function noteCompiled(
  query: Query,
  { wiki_id, upload_id }: UploadWrite,
  around: FilesAround,
  compiled: readonly CompiledUploadFile[],
  pageOf: ReadonlyMap<number, string>,
): Promise<void> {
  const rows = compiled.flatMap(({ file, result }) => {
    const page_id = pageOf.get(file.file_no);
    if (file.kind !== 'file' || !result.ok || page_id === undefined) return [];
    const isLasting = result.plain_reason === '' || result.plain_reason === 'too_complex';
    if (!isLasting || result.references.length > REFERENCES_MAX) return [];
    const { digest } = dependencies(file, result.references, around);
    return [{ page_id, file_no: file.file_no, refers_to: result.references, digest }];
  });
  if (rows.length === 0) return;
  await query(sql`
    insert into compiled_files (wiki_id, page_id, upload_id, file_no, refers_to, digest)
    select ${wiki_id}, g.page_id, ${upload_id}, g.file_no, array(select jsonb_array_elements_text(g.refers_to)), g.digest
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as g (page_id text, file_no int, refers_to jsonb, digest text)
    on conflict (wiki_id, page_id) do update set upload_id = excluded.upload_id, file_no = excluded.file_no,
      refers_to = excluded.refers_to, digest = excluded.digest`);
}

interface Candidate extends FileOfPage {
  file_no: number;
  page_id: string;
  refers_to: string[];
  digest: string;
  attached_sha256s: string[];
}

/**
 * Marks files as done without reading them if their pages would not change: same bytes, filename, link targets and
 * compiler version, and a page that still has its source and no conflict. Edits stay, as for any unchanged file.
 */
export async function skipUnchanged(
  db: Pick<Db, 'query' | 'transaction'>,
  job: ClaimedJob,
  files: KnownFiles,
): Promise<void> {
  for (let after = -1; ; ) {
    const candidates = await candidatesAfter(db.query, job, after);
    const last = candidates.at(-1);
    if (!last) return;
    after = last.file_no;
    await files.include(candidates.map((file) => ({ file, references: file.refers_to })));
    const around = files.known();
    const same: Skipped[] = [];
    for (const { file_no, page_id, refers_to, digest, attached_sha256s, ...file } of candidates) {
      const now = dependencies(file, refers_to, around);
      const has = new Set(attached_sha256s);
      if (now.digest !== digest || now.attached.some(({ sha256 }) => !has.has(sha256))) continue;
      same.push({ file_no, page_id, digest, shown: now.attached.flatMap(({ file_no }) => file_no ?? []) });
    }
    if (same.length === 0) continue;
    await db.transaction(async (query) => {
      await lockJob(query, job);
      await skip(query, job, same);
    });
  }
}

function candidatesAfter(query: Query, { wiki_id, upload_id }: ClaimedJob, after: number): Promise<Candidate[]> {
  return query<Candidate>(sql`
    select f.file_no, f.filename, f.content_type, f.sha256, f.page_path, f.page_id, c.refers_to, c.digest,
      array(select a.sha256 from attachments a where a.wiki_id = f.wiki_id and a.page_id = f.page_id) as attached_sha256s
    from upload_files f join compiled_files c on c.wiki_id = f.wiki_id and c.page_id = f.page_id
    where f.wiki_id = ${wiki_id} and f.upload_id = ${upload_id} and f.kind = 'file' and f.status = 'pending'
      and not f.is_attachment and f.page_path <> '' and f.file_no > ${after}
    order by f.file_no limit ${BATCH}`);
}

interface Skipped {
  file_no: number;
  page_id: string;
  digest: string;
  shown: readonly number[];
}

/**
 * Marks the files as done, with the sections of their pages, unless something changed since the comparison. A page that
 * lost its source or has a conflict stays pending and is compiled again. The caller holds the lock on the job.
 */
async function skip(query: Query, { wiki_id, upload_id }: ClaimedJob, same: readonly Skipped[]): Promise<void> {
  const skipped = await query<{ file_no: number }>(sql`
    with given as (
      select * from jsonb_to_recordset(${JSON.stringify(same)}::jsonb) as g (file_no int, page_id text, digest text)
    ), whole as materialized (
      select g.file_no, g.page_id, c.upload_id as last_upload, c.file_no as last_no, s.source_id
      from given g
      join compiled_files c on c.wiki_id = ${wiki_id} and c.page_id = g.page_id and c.digest = g.digest
      join upload_files f on f.wiki_id = ${wiki_id} and f.upload_id = ${upload_id} and f.file_no = g.file_no
      join sources s on s.wiki_id = ${wiki_id} and s.sha256 = f.sha256
      where ${isStillFromSource(wiki_id, sql`g.page_id`)}
        and not exists (
          select from upload_files o where o.wiki_id = ${wiki_id} and o.upload_id = c.upload_id and o.section_of = c.file_no
            and (o.status <> 'done' or not ${isStillFromSource(wiki_id, sql`o.page_id`)}))
    ), sections as (
      insert into upload_files (wiki_id, upload_id, file_no, kind, filename, content_type, byte_size, sha256, status, page_path,
        page_id, page_change, source_id, section_of)
      select ${wiki_id}, ${upload_id}, n.last + row_number() over (order by w.file_no, o.file_no), o.kind, o.filename,
        o.content_type, o.byte_size, o.sha256, 'done', p.path, o.page_id, 'same', o.source_id, w.file_no
      from whole w
      join upload_files o on o.wiki_id = ${wiki_id} and o.upload_id = w.last_upload and o.section_of = w.last_no
      join pages p on p.wiki_id = ${wiki_id} and p.page_id = o.page_id
      cross join (
        select max(file_no) as last from upload_files where wiki_id = ${wiki_id} and upload_id = ${upload_id}) n
    ), noted as (
      update compiled_files c set upload_id = ${upload_id}, file_no = w.file_no
      from whole w where c.wiki_id = ${wiki_id} and c.page_id = w.page_id
    )
    update upload_files f set status = 'done', error = '', source_id = w.source_id,
      page_change = case when f.page_change <> '' and f.page_id = w.page_id then f.page_change else 'same' end
    from whole w where f.wiki_id = ${wiki_id} and f.upload_id = ${upload_id} and f.file_no = w.file_no
    returning f.file_no`);
  const done = new Set(skipped.map(({ file_no }) => file_no));
  await markShown(
    query,
    { wiki_id, upload_id: upload_id ?? '' },
    same.filter(({ file_no }) => done.has(file_no)),
  );
}

/** Whether a page still comes from its source, with or without edits, and has no conflict. */
function isStillFromSource(wiki_id: string, page_id: ReturnType<typeof sql>) {
  return sql`exists (
    select from pages p join page_sources o on o.wiki_id = p.wiki_id and o.page_id = p.page_id
    where p.wiki_id = ${wiki_id} and p.page_id = ${page_id} and p.trashed_at is null and not p.stale
      and o.source_id = s.source_id
      and not exists (
        select from page_bases b where b.wiki_id = p.wiki_id and b.page_id = p.page_id and b.waiting_markdown <> ''))`;
}

/** Marks attached files as done and assigns each to the first page that shows it. */
export async function markShown(
  query: Query,
  { wiki_id, upload_id }: { wiki_id: string; upload_id: string },
  pages: readonly { page_id: string; shown: readonly number[] }[],
): Promise<void> {
  const first = new Map<number, string>();
  for (const { page_id, shown } of pages) {
    for (const file_no of shown) if (!first.has(file_no)) first.set(file_no, page_id);
  }
  if (first.size === 0) return;
  await query(sql`
    update upload_files f set status = 'done', error = '', page_id = g.page_id
    from unnest(${[...first.keys()]}::int[], ${[...first.values()]}::text[]) as g (file_no, page_id)
    where f.wiki_id = ${wiki_id} and f.upload_id = ${upload_id} and f.file_no = g.file_no and f.is_attachment
      and f.status = 'pending'`);
}
