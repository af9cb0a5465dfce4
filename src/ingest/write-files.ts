import type { Query } from '../db/db.ts';
import { sql } from '../db/sql.ts';
import { newId } from '../http/ids.ts';
import type { CompiledFile } from './compile-file.ts';
import type { Output } from './sandbox.ts';

export interface PendingFile {
  file_no: number;
  kind: 'file' | 'folder';
  filename: string;
  content_type: string;
  byte_size: number;
  sha256: string;
  page_path: string;
  page_id: string;
}

/** A file and what became of it. `page` is also there for a failed file that other pages lie under. */
export interface CompiledUploadFile {
  file: PendingFile;
  result: Output;
  page: CompiledFile | undefined;
}

interface WrittenFile {
  file_no: number;
  status: 'done' | 'failed';
  error: string;
  page_change: '' | 'new' | 'updated' | 'same';
  source_id: string | null;
  new_source: boolean;
}

export interface UploadWrite {
  wiki_id: string;
  upload_id: string;
  /** The user who uploaded: whatever the upload makes is made by them. */
  creator: string;
}

/** More of a text would not fit into its search vector. */
const SEARCHED_CHARACTERS = 250_000;

/** Writes the sources and pages of a batch of files, and what became of each file, in the caller's transaction. */
export async function writeFiles(
  query: Query,
  write: UploadWrite,
  compiled: readonly CompiledUploadFile[],
): Promise<void> {
  const sources = await writeSources(query, write, compiled);
  const changes = await writePages(query, write, compiled);
  await writePageSources(query, write, compiled, sources, changes);
  await writeLinks(query, write, compiled);
  const rows: WrittenFile[] = compiled.map(({ file, result }) => {
    const source = sources.get(file.sha256);
    return {
      file_no: file.file_no,
      status: result.ok ? 'done' : 'failed',
      error: result.ok ? '' : `${result.code}: ${result.message}`,
      page_change: changes.get(file.page_id) ?? '',
      source_id: result.ok ? (source?.source_id ?? null) : null,
      new_source: result.ok && source?.made_by === file.file_no,
    };
  });
  await query(sql`
    update upload_files f set status = r.status, error = r.error, page_change = r.page_change, source_id = r.source_id,
      new_source = r.new_source
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
      as r (file_no int, status text, error text, page_change text, source_id text, new_source boolean)
    where f.wiki_id = ${write.wiki_id} and f.upload_id = ${write.upload_id} and f.file_no = r.file_no`);
}

/** The source of each content, by its hash: the one that the wiki had, or a new one made by the file `made_by`. */
async function writeSources(query: Query, write: UploadWrite, compiled: readonly CompiledUploadFile[]) {
  const usable = compiled.filter(({ file, result }) => file.kind === 'file' && result.ok);
  const rows = usable.map(({ file, result }) => ({
    ...file,
    ...(result.ok && {
      title: result.title,
      content_type: result.content_type,
      language: result.language,
      text: result.text,
    }),
    source_id: newId('source'),
  }));
  const made = await query<{ source_id: string; sha256: string }>(sql`
    with given as (
      select distinct on (sha256) * from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as g (file_no int, source_id text,
        title text, filename text, content_type text, byte_size bigint, sha256 text, language text, text text)
      order by sha256, file_no
    ), made as (
      insert into sources (wiki_id, source_id, upload_id, title, filename, content_type, byte_size, sha256, language)
      select ${write.wiki_id}, source_id, ${write.upload_id}, title, filename, content_type, byte_size, sha256, language
      from given order by file_no
      on conflict (wiki_id, sha256) do nothing
      returning source_id, sha256
    ), texts as (
      insert into source_texts (wiki_id, source_id, text, search)
      select ${write.wiki_id}, made.source_id, g.text, setweight(to_tsvector('english', g.title), 'A') ||
        setweight(to_tsvector('english', left(g.text, ${SEARCHED_CHARACTERS})), 'B')
      from made join given g on g.source_id = made.source_id
    )
    select source_id, sha256 from made`);
  const found = await query<{ source_id: string; sha256: string }>(sql`
    select source_id, sha256 from sources
    where wiki_id = ${write.wiki_id} and sha256 = any (${usable.map(({ file }) => file.sha256)}::text[])`);
  const makers = new Map(rows.map((row) => [row.source_id, row.file_no]));
  const madeIds = new Set(made.map((row) => row.source_id));
  return new Map(
    found.map(({ sha256, source_id }) => [
      sha256,
      { source_id, made_by: madeIds.has(source_id) ? makers.get(source_id) : undefined },
    ]),
  );
}

/** Makes the pages that are new, revises those whose text changed, leaves the others alone. */
async function writePages(query: Query, write: UploadWrite, compiled: readonly CompiledUploadFile[]) {
  const changes = new Map<string, 'new' | 'updated' | 'same'>();
  const present = await query<{ page_id: string; revision: number; markdown: string; title: string }>(sql`
    select p.page_id, p.revision, r.markdown, p.title from pages p
    join revisions r on r.wiki_id = p.wiki_id and r.page_id = p.page_id and r.revision = p.revision
    where p.wiki_id = ${write.wiki_id} and p.page_id = any (${compiled.map(({ file }) => file.page_id)}::text[])`);
  const presentOf = new Map(present.map((page) => [page.page_id, page]));
  const rows = [];
  for (const { file, page } of compiled) {
    if (!page) continue;
    const before = presentOf.get(file.page_id);
    const same = before !== undefined && before.markdown === page.markdown && before.title === page.title;
    changes.set(file.page_id, same ? 'same' : before ? 'updated' : 'new');
    if (same) continue;
    const at = file.page_path.lastIndexOf('/');
    rows.push({
      page_id: file.page_id,
      path: file.page_path,
      slug: file.page_path.slice(at + 1),
      parent_path: at < 0 ? '' : file.page_path.slice(0, at),
      position: file.file_no,
      revision: (before?.revision ?? 0) + 1,
      title: page.title,
      description: page.description,
      markdown: page.markdown,
      html: page.html,
      outline: page.outline,
      word_count: page.word_count,
      text: page.text,
      parents_page_id: compiled.find((other) => at > 0 && other.file.page_path === file.page_path.slice(0, at))?.file
        .page_id,
    });
  }
  if (rows.length === 0) return changes;
  await query(sql`
    with given as (
      select * from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as g (page_id text, path text, slug text,
        parent_path text, parents_page_id text, position int, revision int, title text, description text, markdown text,
        html text, outline jsonb, word_count int, text text)
    ), page as (
      insert into pages (wiki_id, page_id, path, slug, title, description, parent_page_id, position, origin, revision,
        word_count, created_by, updated_by)
      select ${write.wiki_id}, g.page_id, g.path, g.slug, g.title, g.description,
        coalesce(g.parents_page_id, (select p.page_id from pages p where p.wiki_id = ${write.wiki_id} and p.path = g.parent_path)),
        g.position, 'compiled', g.revision, g.word_count, ${write.creator}, ${write.creator}
      from given g
      on conflict (wiki_id, page_id) do update set title = excluded.title, description = excluded.description,
        revision = excluded.revision, word_count = excluded.word_count, updated_at = now(), updated_by = excluded.updated_by
    ), revised as (
      insert into revisions (wiki_id, page_id, revision, title, markdown, html, outline, created_by)
      select ${write.wiki_id}, page_id, revision, title, markdown, html, outline, ${write.creator} from given
    )
    insert into page_texts (wiki_id, page_id, text, search)
    select ${write.wiki_id}, page_id, text, setweight(to_tsvector('english', title), 'A') ||
      setweight(to_tsvector('english', left(text, ${SEARCHED_CHARACTERS})), 'B')
    from given
    on conflict (wiki_id, page_id) do update set text = excluded.text, search = excluded.search`);
  return changes;
}

/** A page comes from the one source that it was last made from. */
async function writePageSources(
  query: Query,
  write: UploadWrite,
  compiled: readonly CompiledUploadFile[],
  sources: Map<string, { source_id: string }>,
  changes: Map<string, string>,
): Promise<void> {
  const rows = compiled
    .filter(({ file, result }) => file.kind === 'file' && result.ok && changes.has(file.page_id))
    .map(({ file }) => ({ page_id: file.page_id, source_id: sources.get(file.sha256)?.source_id }));
  if (rows.length === 0) return;
  await query(sql`
    delete from page_sources
    where wiki_id = ${write.wiki_id} and page_id = any (${rows.map((row) => row.page_id)}::text[])`);
  await query(sql`
    with given as (
      select * from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as g (page_id text, source_id text)
    ), linked as (
      insert into page_sources (wiki_id, page_id, source_id) select ${write.wiki_id}, page_id, source_id from given
    )
    update pages p set source_count = 1 from given g where p.wiki_id = ${write.wiki_id} and p.page_id = g.page_id`);
}

async function writeLinks(query: Query, write: UploadWrite, compiled: readonly CompiledUploadFile[]): Promise<void> {
  const rows = compiled.flatMap(({ file, page }) =>
    (page?.links ?? []).map((filename) => ({ from: file.page_id, filename })),
  );
  await query(sql`
    delete from page_links
    where wiki_id = ${write.wiki_id} and from_page_id = any (${compiled.map(({ file }) => file.page_id)}::text[])`);
  if (rows.length === 0) return;
  await query(sql`
    insert into page_links (wiki_id, from_page_id, to_page_id)
    select ${write.wiki_id}, g.from, f.page_id
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as g ("from" text, filename text)
    join upload_files f on f.wiki_id = ${write.wiki_id} and f.upload_id = ${write.upload_id} and f.filename = g.filename
    on conflict do nothing`);
}
