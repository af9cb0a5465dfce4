import { extractorVersion } from '@ibid/documents/extractor-versions.ts';
import { needsReview } from '@ibid/documents/formats/losses.ts';
import { newId } from '../../platform/core/ids.ts';
import type { Query } from '../../platform/db/db.ts';
import { type Sql, sql } from '../../platform/db/sql.ts';
import { pendingBatch } from '../../wiki/search/index/pending.ts';
import type { CompiledUploadFile, UploadWrite } from './compiled-upload.ts';
import type { WrittenPage } from './write-pages.ts';

export interface WrittenSource {
  source_id: string;
  content_type: string;
  /** Whether this file made the source. */
  is_new: boolean;
}

/**
 * Finds or makes the source of each file, by its bytes and by the restrictions of its pages. Sections have the source of
 * their file. The map is by file_no.
 */
export async function writeSources(
  query: Query,
  write: UploadWrite,
  compiled: readonly CompiledUploadFile[],
  restrictions: ReadonlyMap<number, number[]>,
): Promise<Map<number, WrittenSource>> {
  const usable = compiled.filter(({ file, result }) => file.kind === 'file' && result.ok);
  const rows = usable.map(({ file, result }) => ({
    ...file,
    ...(result.ok && {
      title: result.title,
      content_type: result.content_type,
      language: result.language,
      text: result.source_text,
      losses: result.losses,
      losses_to_review: result.losses.filter(needsReview).length,
      file_characters: result.file_characters,
      extractor_version: extractorVersion(result.kind),
    }),
    acl_nos: restrictions.get(file.file_no) ?? [],
    source_id: newId('source'),
  }));
  const made = await insertSources(query, write, JSON.stringify(rows));
  const indexed = usable.flatMap(({ result }, i) => {
    const document_id = rows[i]?.source_id ?? '';
    return result.ok && made.has(document_id)
      ? [{ document_id, version: 1, title: result.title, body: result.source_indexed }]
      : [];
  });
  if (indexed.length > 0) await query(pendingBatch('source', write.wiki_id, indexed));
  const sections = compiled.flatMap(({ file }) => (file.section_of === null ? [] : file));
  const found = await query<Omit<WrittenSource, 'is_new'> & { file_no: number }>(sql`
    select g.file_no, s.source_id, s.content_type
    from jsonb_to_recordset(${JSON.stringify(rows.map(({ file_no, sha256, acl_nos }) => ({ file_no, sha256, acl_nos })))}::jsonb)
      as g (file_no int, sha256 text, acl_nos int[])
    join sources s on ${isSourceOf(write.wiki_id)}
    union all
    select f.file_no, s.source_id, s.content_type
    from upload_files f join sources s on s.wiki_id = f.wiki_id and s.source_id = f.source_id
    where f.wiki_id = ${write.wiki_id} and f.upload_id = ${write.upload_id}
      and f.file_no = any (${sections.map(({ section_of }) => section_of)}::int[])`);
  const ids = new Map(rows.map(({ file_no, source_id }) => [file_no, source_id]));
  const sources = new Map<number, WrittenSource>();
  for (const { file_no, source_id, content_type } of found) {
    sources.set(file_no, { source_id, content_type, is_new: made.has(source_id) && ids.get(file_no) === source_id });
  }
  for (const { file_no, section_of } of sections) {
    const source = sources.get(section_of ?? file_no);
    if (source) sources.set(file_no, { ...source, is_new: false });
  }
  return sources;
}

/** Returns the numbers of the restrictions of the pages that show each file, by file_no. */
export async function restrictionsOf(
  query: Query,
  wiki_id: string,
  compiled: readonly CompiledUploadFile[],
  pages: readonly WrittenPage[],
): Promise<Map<number, number[]>> {
  const pageOf = new Map(pages.map(({ file, page_id }) => [file.file_no, page_id]));
  const shown = compiled.flatMap(({ file: { file_no, page_id }, sections = [] }) => [
    { file_no, page_id: pageOf.get(file_no) ?? page_id },
    ...sections.map((section) => ({ file_no, page_id: section.page_id })),
  ]);
  const found = await query<{ file_no: number; acl_nos: number[] }>(sql`
    select g.file_no, array_agg(distinct p.acl_no order by p.acl_no) as acl_nos
    from jsonb_to_recordset(${JSON.stringify(shown)}::jsonb) as g (file_no int, page_id text)
    cross join lateral (
      select p.acl_no from pages p where p.wiki_id = ${wiki_id} and p.page_id = g.page_id and p.acl_no > 0 offset 0) p
    group by g.file_no`);
  return new Map(found.map(({ file_no, acl_nos }) => [file_no, acl_nos]));
}

/** Whether `s` is the source of the row `g` of a file. */
function isSourceOf(wiki_id: string): Sql {
  return sql`s.wiki_id = ${wiki_id} and s.sha256 = g.sha256 and s.acl_nos = g.acl_nos`;
}

/** Inserts the sources that do not exist yet, and brings the others up to date. Returns the ids of the new ones. */
async function insertSources(query: Query, { wiki_id, upload_id }: UploadWrite, rows: string): Promise<Set<string>> {
  const made = await query<{ source_id: string }>(sql`
    with given as (
      select distinct on (sha256, acl_nos) * from jsonb_to_recordset(${rows}::jsonb) as g (file_no int, source_id text,
        title text, filename text, content_type text, byte_size bigint, sha256 text, language text, text text, losses jsonb,
        losses_to_review int, file_characters int, extractor_version int, acl_nos int[])
      order by sha256, acl_nos, file_no
    ), made as (
      insert into sources (wiki_id, source_id, upload_id, title, filename, content_type, byte_size, sha256, language,
        losses, loss_count, losses_to_review, file_characters, extractor_version, acl_nos, copy_no)
      select ${wiki_id}, source_id, ${upload_id}, title, filename, content_type, byte_size, sha256, language,
        losses, jsonb_array_length(losses), losses_to_review, file_characters, extractor_version, acl_nos,
        next_copy(${wiki_id}, sha256) + row_number() over (partition by sha256 order by acl_nos) - 1
      from given g where not exists (select from sources s where ${isSourceOf(wiki_id)})
      order by file_no
      on conflict (wiki_id, sha256, copy_no) do nothing
      returning source_id
    ), texts as (
      insert into source_texts (wiki_id, source_id, text) select ${wiki_id}, made.source_id, g.text from made join given g on g.source_id = made.source_id
    ), read_anew as (
      -- What was read from the same bytes by an earlier release may differ; citations are places in the text of now.
      update source_texts t set text = g.text from given g
      join sources s on ${isSourceOf(wiki_id)} and s.content_type = g.content_type
      where t.wiki_id = s.wiki_id and t.source_id = s.source_id and t.text <> g.text
    ), losses_read as (
      update sources s set losses = g.losses, loss_count = jsonb_array_length(g.losses),
        losses_to_review = g.losses_to_review, file_characters = g.file_characters, extractor_version = g.extractor_version
      from given g
      where ${isSourceOf(wiki_id)} and s.content_type = g.content_type
        and (s.losses <> g.losses or s.file_characters <> g.file_characters or s.extractor_version <> g.extractor_version)
    )
    select source_id from made`);
  return new Set(made.map(({ source_id }) => source_id));
}
