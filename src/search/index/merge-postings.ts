import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Query } from '../../db/db.ts';
import { sql } from '../../db/sql.ts';
import { impactsOf, type Pivots, readTerms } from './impacts.ts';
import type { Index } from './pending.ts';
import { CHUNK, changedBlock, posting } from './postings.ts';

/** What is computed between two turns of the event loop, which has requests to answer. */
const DOCUMENTS_A_TURN = 10;

/** What is read and written at once: a few megabytes, also of a wiki of many documents. */
const BLOCKS_AT_ONCE = 4_000;

/** A document's terms and how often they stand there, as the tables of the index have them. */
export interface WrittenTerms {
  title_terms: string;
  body_terms: string;
}

/** What a document was in the index, if it was there, and what it is to be with these pivots. */
export interface DocumentChange {
  document_no: number;
  was: (WrittenTerms & Pivots) | undefined;
  is: WrittenTerms;
}

/** Of each block, by its number and its term, the postings that change. */
type Changes = Map<number, Map<string, number[]>>;

/** Changes the blocks of postings by the difference between what documents were in the index and what they are to be. */
export async function mergePostings(
  query: Query,
  index: Index & { pivots: Pivots },
  documents: readonly DocumentChange[],
): Promise<void> {
  const changes = await changesOf(documents, index.pivots);
  for (const [chunk_no, terms] of changes) {
    const all = [...terms];
    for (let from = 0; from < all.length; from += BLOCKS_AT_ONCE) {
      await changeBlocks(query, index, chunk_no, all.slice(from, from + BLOCKS_AT_ONCE));
    }
  }
}

async function changesOf(documents: readonly DocumentChange[], pivots: Pivots): Promise<Changes> {
  const changes: Changes = new Map();
  for (const [i, { document_no, was: before, is: now }] of documents.entries()) {
    if (i % DOCUMENTS_A_TURN === 0) await nextTurn();
    const chunk_no = Math.floor(document_no / CHUNK);
    const terms = changes.get(chunk_no) ?? new Map<string, number[]>();
    changes.set(chunk_no, terms);
    const note = (term: string, impact: number) => {
      const noted = terms.get(term);
      if (noted) noted.push(posting(document_no, impact));
      else terms.set(term, [posting(document_no, impact)]);
    };
    const was: ReadonlyMap<string, number> = before ? impactsOf(readTerms(before), before) : new Map();
    const is = impactsOf(readTerms(now), pivots);
    for (const [term, impact] of is) if (was.get(term) !== impact) note(term, impact);
    for (const term of was.keys()) if (!is.has(term)) note(term, 0);
  }
  return changes;
}

async function changeBlocks(
  query: Query,
  { wiki_id, kind }: Index,
  chunk_no: number,
  changes: readonly [term: string, postings: number[]][],
): Promise<void> {
  // Each block by the key of search_postings: a plan from when there were few of them would read all those of the wiki.
  const rows = await query<{ term: string; postings: Buffer }>(sql`
    select c.term, p.postings from unnest(${changes.map(([term]) => term)}::text[]) c (term)
    cross join lateral (
      select p.postings from search_postings p
      where p.wiki_id = ${wiki_id} and p.kind = ${kind} and p.term = c.term and p.chunk_no = ${chunk_no}::int offset 0) p`);
  const before = new Map(rows.map(({ term, postings }) => [term, postings]));
  const written = changes.map(([term, postings]) => ({
    term,
    block: changedBlock(chunk_no, before.get(term), postings),
  }));
  const kept = written.filter(({ block }) => block.length > 0);
  const emptied = written.filter(({ block }) => block.length === 0).map(({ term }) => term);
  // One value of bytes is sent as it is; a list of them would be written as text.
  await query(sql`
    insert into search_postings (wiki_id, kind, term, chunk_no, postings)
    select ${wiki_id}, ${kind}, w.term, ${chunk_no},
      substring(${Buffer.concat(kept.map(({ block }) => block))}::bytea from (w.ends - w.length + 1)::int for w.length)
    from (
      select term, length, sum(length) over (order by no) as ends
      from unnest(${kept.map(({ term }) => term)}::text[], ${kept.map(({ block }) => block.length)}::int[])
        with ordinality g (term, length, no)
    ) w
    on conflict (wiki_id, kind, term, chunk_no) do update set postings = excluded.postings`);
  if (emptied.length === 0) return;
  await query(sql`
    delete from search_postings
    where wiki_id = ${wiki_id} and kind = ${kind} and term = any (${emptied}::text[]) and chunk_no = ${chunk_no}`);
}
