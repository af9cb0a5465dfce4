import { citationsOf } from '@ibid/documents/cite-blocks.ts';
import { extractorVersion } from '@ibid/documents/extractor-versions.ts';
import { FORM_VERSION } from '@ibid/markdown/blocks/block-form.ts';
import type { Query } from '../../platform/db/db.ts';
import { sql } from '../../platform/db/sql.ts';
import { givenLinks, linkTargetOf } from '../../wiki/pages/write-text.ts';
import type { CompiledUploadFile, Merges, UploadWrite } from './compiled-upload.ts';
import type { FilesAround } from './surroundings/files-around.ts';
import { markShown, noteCompiled } from './unchanged-files.ts';
import { type WrittenPage, writePages } from './write-pages.ts';
import { restrictionsOf, type WrittenSource, writeSources } from './write-sources.ts';

interface WrittenFile {
  file_no: number;
  status: 'done' | 'failed';
  error: string;
  page_change: '' | WrittenPage['change'];
  page_id: string;
  source_id: string | null;
  new_source: boolean;
}

/**
 * Writes the sources and pages of a batch and the result of each file, in the caller's transaction. `around` has the
 * files that references can resolve to.
 */
export async function writeFiles(
  query: Query,
  write: UploadWrite,
  given: readonly CompiledUploadFile[],
  merges: Merges,
  around: FilesAround,
): Promise<void> {
  const [wiki] = await query<{ has_restrictions: boolean }>(sql`
    select acls > 0 as has_restrictions from wikis where wiki_id = ${write.wiki_id} for no key update`);
  const has_restrictions = wiki?.has_restrictions ?? false;
  const compiled = has_restrictions ? await refuseClosed(query, write, given) : given;
  const pages = await writePages(query, write, compiled, merges);
  const restrictions = has_restrictions
    ? await restrictionsOf(query, write.wiki_id, compiled, pages)
    : new Map<number, number[]>();
  const sources = await writeSources(query, write, compiled, restrictions);
  await writePageSources(query, write, pages, sources);
  await writeLinks(query, write, pages);
  await writePictures(query, write, compiled, pages);
  const pageOf = new Map(pages.map((page) => [page.file.file_no, page]));
  const rows: WrittenFile[] = compiled.map(({ file, result }) => {
    const source = sources.get(file.file_no);
    return {
      file_no: file.file_no,
      status: result.ok ? 'done' : 'failed',
      error: result.ok ? '' : `${result.code}: ${result.message}`,
      page_change: pageOf.get(file.file_no)?.change ?? '',
      page_id: pageOf.get(file.file_no)?.page_id ?? file.page_id,
      source_id: result.ok ? (source?.source_id ?? null) : null,
      new_source: result.ok && source?.is_new === true,
    };
  });
  // In a retried upload, a file keeps the result of its first run, unless it changed again.
  await query(sql`
    update upload_files f set status = r.status, error = r.error, source_id = r.source_id, page_id = r.page_id,
      new_source = r.new_source or f.new_source and f.source_id = r.source_id,
      page_change = case when r.page_change = 'same' and f.page_change <> '' and f.page_id = r.page_id then f.page_change
        else r.page_change end
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
      as r (file_no int, status text, error text, page_change text, source_id text, new_source boolean,
      page_id text)
    where f.wiki_id = ${write.wiki_id} and f.upload_id = ${write.upload_id} and f.file_no = r.file_no`);
  const shown = compiled.map(({ shown = [] }, i) => ({ page_id: rows[i]?.page_id ?? '', shown }));
  await markShown(query, write, shown);
  const made = pages.flatMap(({ file, page_id, change }) =>
    change === 'kept' ? [] : [[file.file_no, page_id] as const],
  );
  await noteCompiled(query, write, around, compiled, new Map(made));
}

/**
 * Fails the files whose page, or the page above it, was restricted since the upload was planned, or may only be read by the
 * person who uploaded.
 */
async function refuseClosed(
  query: Query,
  { wiki_id, upload_id, creator }: UploadWrite,
  compiled: readonly CompiledUploadFile[],
): Promise<readonly CompiledUploadFile[]> {
  await query(sql`select renew_restrictions(${wiki_id}, ${creator})`);
  const places = compiled.map(({ file: { file_no, page_id, page_path } }) => ({ file_no, page_id, page_path }));
  const closed = await query<{ file_no: number }>(sql`
    select g.file_no
    from jsonb_to_recordset(${JSON.stringify(places)}::jsonb) as g (file_no int, page_id text, page_path text)
    where is_closed_place(${wiki_id}, ${upload_id}, g.page_id, g.page_path)`);
  const refused = new Set(closed.map(({ file_no }) => file_no));
  return compiled.map((each) => (refused.has(each.file.file_no) ? { ...each, ...CLOSED } : each));
}

const CLOSED: Omit<CompiledUploadFile, 'file'> = {
  result: {
    ok: false,
    code: 'forbidden',
    message: 'The page, or the page above it, is restricted. Ask a manager of it for the right to write there.',
  },
  page: undefined,
  pictures: [],
  shown: [],
  sections: [],
};

/**
 * Inserts rows for the sections of divided files. Must come first, because the following statements count the sections
 * and link to them.
 */
export async function insertSections(
  query: Query,
  write: Pick<UploadWrite, 'wiki_id' | 'upload_id'>,
  compiled: readonly CompiledUploadFile[],
): Promise<void> {
  const rows = compiled.flatMap(({ sections = [] }) => sections);
  if (rows.length === 0) return;
  await query(sql`
    insert into upload_files
      (wiki_id, upload_id, file_no, kind, filename, content_type, byte_size, sha256, page_path, page_id, section_of)
    select ${write.wiki_id}, ${write.upload_id}, file_no, 'section', filename, content_type, byte_size, sha256, page_path, page_id,
      section_of
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as g (file_no int, filename text, content_type text, byte_size bigint,
      sha256 text, page_path text, page_id text, section_of int)
    on conflict (wiki_id, upload_id, file_no) do nothing`);
}

/** Records the source of each page, replacing the former one: a page has one source. */
async function writePageSources(
  query: Query,
  write: UploadWrite,
  pages: readonly WrittenPage[],
  sources: ReadonlyMap<number, WrittenSource>,
): Promise<void> {
  const rows = pages.flatMap(({ file, change, isOfFile, page_id, page }) => {
    const source = sources.get(file.file_no);
    // The source may have been deleted while sections of its file were still being written.
    if (!source || !isOfFile || change === 'kept') return [];
    // The same bytes under another file type (LICENSE.md, LICENSE.txt) have another text, to which these ranges do not
    // apply.
    const citations = page.content_type === source.content_type ? page.citations : citationsOf([]);
    const versions = { form_version: FORM_VERSION, extractor_version: extractorVersion(page.kind) };
    return [{ page_id, source_id: source.source_id, ...versions, ...citations }];
  });
  if (rows.length === 0) return;
  await query(sql`
    delete from page_sources
    where wiki_id = ${write.wiki_id} and page_id = any (${rows.map((row) => row.page_id)}::text[])`);
  await query(sql`
    with given as (
      select * from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as g (page_id text, source_id text, starts int[],
        ends int[], first_pages int[], last_pages int[], first_lines int[], last_lines int[], hashes text,
        form_blocks int[], form_hashes text, form_version int, extractor_version int, boxes int[],
        contexts text, target_blocks int[], targets text[])
    ), linked as (
      insert into page_sources (wiki_id, page_id, source_id, starts, ends, first_pages, last_pages, first_lines, last_lines,
        hashes, form_blocks, form_hashes, form_version, extractor_version, boxes, contexts, target_blocks, targets)
      select ${write.wiki_id}, page_id, source_id, starts, ends, first_pages, last_pages, first_lines, last_lines,
        decode(hashes, 'hex'), form_blocks, decode(form_hashes, 'hex'), form_version, extractor_version, nullif(boxes, '{}'),
        decode(contexts, 'hex'), target_blocks, targets
      from given
    )
    update pages p set source_count = 1, stale = false, gone_file = null from given g where p.wiki_id = ${write.wiki_id} and p.page_id = g.page_id`);
}

async function writePictures(
  query: Query,
  { wiki_id, creator }: UploadWrite,
  compiled: readonly CompiledUploadFile[],
  pages: readonly WrittenPage[],
): Promise<void> {
  const pageOf = new Map(pages.map((page) => [page.file.file_no, page]));
  const rows = compiled.flatMap(({ file, pictures, sections }) => {
    const page = pageOf.get(file.file_no);
    if (!page) return [];
    // A changed section may show a new picture although the file's page, which holds the attachments of all sections,
    // is unchanged. Pending content of a conflict is shown to users, with its pictures.
    const isShown = isWritten(page) || sections !== undefined;
    const taken = pictures.filter(({ isOfUpload }) => isShown || (isOfUpload && page.change === 'kept'));
    return taken.map((picture) => ({ ...picture, page_id: page.page_id }));
  });
  if (rows.length === 0) return;
  // Lock equal attachments of other pages, so that the bytes are not deleted before this page has them.
  await query(sql`
    select from attachments where wiki_id = ${wiki_id} and sha256 = any (${rows.map(({ sha256 }) => sha256)}::text[])
    order by attachment_id for key share`);
  await query(sql`
    insert into attachments (wiki_id, attachment_id, page_id, filename, content_type, byte_size, sha256, created_by)
    select ${wiki_id}, attachment_id, page_id, filename, content_type, byte_size, sha256, ${creator}
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as g (attachment_id text, page_id text, filename text,
      content_type text, byte_size bigint, sha256 text)
    on conflict (wiki_id, page_id, sha256) do nothing`);
}

function isWritten({ change }: WrittenPage): boolean {
  return change !== 'same' && change !== 'kept';
}

/** Writes the links of a batch after its pages. Targets may be written by a later batch. */
async function writeLinks(query: Query, { wiki_id, upload_id }: UploadWrite, pages: readonly WrittenPage[]) {
  const rows = pages.filter(isWritten).map(({ page_id, page }) => ({ page_id, links: page.page_links }));
  if (rows.length === 0) return;
  await query(sql`
    delete from page_links where wiki_id = ${wiki_id} and from_page_id = any (${rows.map((row) => row.page_id)}::text[])`);
  await query(sql`
    insert into page_links (wiki_id, from_page_id, to_path, to_page_id, places, wanted_title, wanted_path, line)
    select ${wiki_id}, g.page_id, l.to_path, coalesce(
      (select f.page_id from upload_files f
        where f.wiki_id = ${wiki_id} and f.upload_id = ${upload_id} and f.page_path = l.to_path and f.page_path <> ''
        order by f.file_no limit 1),
      ${linkTargetOf(wiki_id)}), l.places, l.wanted_title, l.wanted_path, l.line
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as g (page_id text, links jsonb)
    cross join lateral ${givenLinks(sql`g.links`)} l`);
}
