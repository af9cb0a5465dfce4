import type { OwnerDb } from '../../platform/db/db.ts';
import { raw, sql } from '../../platform/db/sql.ts';
import type { Blobs } from '../../platform/providers/storage/blobs.ts';
import type { DocumentReader } from '../../platform/sandbox/document-reader.ts';
import type { Sandbox } from '../../platform/sandbox/sandbox.ts';
import { type CheckedPage, checkSource, NO_BOUNDS } from '../../sources/verification/check-source.ts';
import type { CheckedSource, CitingPage, StoredSource } from '../../sources/verification/records.ts';
import { citingPages, storedSourceColumns } from '../../sources/verification/stored-sources.ts';

/** Sources verified together; their texts and files are in memory. */
const BATCH_SIZE = 4;

/** Access to stored files and to the processes that read them, by workspace. */
export interface Readers {
  blobs: Pick<Blobs, 'stream' | 'read'>;
  readerOf: (workspace_id: string) => DocumentReader;
  sandboxOf: (workspace_id: string) => Sandbox;
}

type SourceRow = StoredSource & { workspace_id: string };

/**
 * Verifies every source of one wiki, or of all if `wiki_id` is "", starting at its stored file. Marks pages with
 * unverified blocks as stale. Prints a line per finding and a summary; returns whether there are no findings. Calls
 * `onChecked` for each source in order.
 */
export async function verifySources(
  { query }: Pick<OwnerDb, 'query'>,
  readers: Readers,
  wiki_id: string,
  print: (line: string) => void,
  onChecked: (source: StoredSource, checked: CheckedSource, pages: readonly CheckedPage[]) => void = () => undefined,
): Promise<boolean> {
  const sums = { sources: 0, citations: 0, verified: 0, edited: 0, limited: 0, damaged: 0 };
  for (let last = { wiki_id: '', source_id: '' }; ; ) {
    const sources = await query<SourceRow>(sql`
      select ${storedSourceColumns(raw('true'))}, w.workspace_id
      from sources s left join source_texts t on t.wiki_id = s.wiki_id and t.source_id = s.source_id
      join wikis w on w.wiki_id = s.wiki_id
      where (s.wiki_id, s.source_id) > (${last.wiki_id}, ${last.source_id}) and ${wiki_id} in ('', s.wiki_id)
      order by s.wiki_id, s.source_id limit ${BATCH_SIZE}`);
    const checked = await Promise.all(sources.map((source) => checkOne(query, readers, source)));
    for (const [i, source] of sources.entries()) {
      const { found, pages } = checked[i] as { found: CheckedSource; pages: CheckedPage[] };
      onChecked(source, found, pages);
      sums.sources += 1;
      sums.citations += found.citations;
      sums.verified += found.verified;
      sums.edited += found.edited;
      if (found.limited) sums.limited += 1;
      if (found.findings.length === 0 && found.stale_pages.length === 0) continue;
      sums.damaged += 1;
      report(source, found, print);
      await query(sql`
        update pages set stale = true
        where wiki_id = ${source.wiki_id} and page_id = any (${found.stale_pages}::text[])`);
    }
    last = sources.at(-1) ?? last;
    if (sources.length < BATCH_SIZE) break;
  }
  const orphaned = await pagesWithoutSource(query, wiki_id);
  for (const { page_id, path, wiki_id } of orphaned) {
    print(`${wiki_id} ${page_id} ${path}: its source is missing, although no user deleted it`);
  }
  const limited = sums.limited > 0 ? `${sums.limited} sources read under a limit, ` : '';
  print(
    `${sums.sources} sources, ${sums.citations} blocks of pages: ${sums.verified} verified, ${sums.edited} edited since, ${limited}${sums.damaged} sources do not match`,
  );
  return sums.damaged === 0 && orphaned.length === 0;
}

/**
 * Pages that count a source without having any. Deleting a source in the API corrects the count, so these lost theirs
 * in another way.
 */
function pagesWithoutSource(query: OwnerDb['query'], wiki_id: string) {
  return query<{ wiki_id: string; page_id: string; path: string }>(sql`
    select p.wiki_id, p.page_id, p.path from pages p
    where p.source_count > 0 and ${wiki_id} in ('', p.wiki_id)
      and not exists (select from page_sources o where o.wiki_id = p.wiki_id and o.page_id = p.page_id)
    order by p.wiki_id, p.page_id`);
}

async function checkOne(query: OwnerDb['query'], { blobs, readerOf, sandboxOf }: Readers, source: SourceRow) {
  const tools = { blobs, reader: readerOf(source.workspace_id), sandbox: sandboxOf(source.workspace_id) };
  const stored = citingPages((statement) => query<CitingPage>(statement), source, raw('true'));
  const pages: CheckedPage[] = [];
  const found = await checkSource(tools, source, stored, NO_BOUNDS, (page) => pages.push(page));
  return { found, pages };
}

function report(
  { wiki_id, source_id, filename }: StoredSource,
  { file, citations, verified, edited, findings }: CheckedSource,
  print: (line: string) => void,
): void {
  const where = `${wiki_id} ${source_id} ${filename}`;
  print(`${where}: the file is ${file}; ${citations - verified - edited} of ${citations} blocks do not match`);
  for (const { kind, page_id, message } of findings) print(`${where}: ${kind} ${page_id && `${page_id} `}(${message})`);
}
