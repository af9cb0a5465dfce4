import type { OwnerDb } from '../db/db.ts';
import { sql } from '../db/sql.ts';
import type { Blobs } from '../providers/storage/blobs.ts';
import { type CitationRow, citationColumns } from '../sources/cited-blocks.ts';
import { verifyFile, verifyPages } from '../sources/verification.ts';

/** Number of sources verified together; their texts are held in memory. */
const BATCH_SIZE = 20;

interface SourceRow {
  wiki_id: string;
  source_id: string;
  filename: string;
  sha256: string;
  text: string;
  pages: CitationRow[];
}

/**
 * Recomputes the hash of every stored file and of every block that pages show of it, in one wiki, or in all where
 * `wiki_id` is "". Pages with a block that cannot be verified become stale. Prints each source that does not match, and
 * one line at the end; returns whether everything matches.
 */
export async function verifySources(
  { query }: Pick<OwnerDb, 'query'>,
  blobs: Pick<Blobs, 'stream'>,
  wiki_id: string,
  print: (line: string) => void,
): Promise<boolean> {
  const sums = { sources: 0, citations: 0, verified: 0, damaged: 0 };
  const last = { wiki_id: '', source_id: '' };
  for (;;) {
    const sources = await query<SourceRow>(sql`
      select s.wiki_id, s.source_id, s.filename, s.sha256, t.text, coalesce((
        select json_agg(l) from (
          select ${citationColumns} from page_sources c where c.wiki_id = s.wiki_id and c.source_id = s.source_id
        ) l), '[]') as pages
      from sources s join source_texts t on t.wiki_id = s.wiki_id and t.source_id = s.source_id
      where (s.wiki_id, s.source_id) > (${last.wiki_id}, ${last.source_id}) and ${wiki_id} in ('', s.wiki_id)
      order by s.wiki_id, s.source_id limit ${BATCH_SIZE}`);
    for (const source of sources) {
      const file = await verifyFile(blobs, source.sha256);
      const { citations, verified, stale_pages } = verifyPages(source.pages, source.text);
      sums.sources += 1;
      sums.citations += citations;
      sums.verified += verified;
      Object.assign(last, source);
      if (file === 'intact' && verified === citations) continue;
      sums.damaged += 1;
      print(
        `${source.wiki_id} ${source.source_id} ${source.filename}: the file is ${file}; ${citations - verified} of ${citations} blocks do not match`,
      );
      await query(sql`
        update pages set stale = true where wiki_id = ${source.wiki_id} and page_id = any (${stale_pages}::text[])`);
    }
    if (sources.length < BATCH_SIZE) break;
  }
  print(
    `${sums.sources} sources, ${sums.citations} blocks of pages: ${sums.verified} verified, ${sums.damaged} sources do not match`,
  );
  return sums.damaged === 0;
}
