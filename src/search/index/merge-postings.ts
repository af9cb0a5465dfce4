import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { ANALYSIS } from '../../analysis/document-terms.ts';
import type { Query } from '../../db/db.ts';
import { sql } from '../../db/sql.ts';
import { impactsOf, type Pivots, readTerms } from './impacts.ts';
import type { Index } from './pending.ts';
import { CHUNK, posting, updateBlock } from './postings.ts';

/** Documents processed between two turns of the event loop, which has requests to serve. */
const DOCUMENTS_PER_TURN = 10;

/** Blocks read and written by one statement: a few megabytes, however many documents the wiki has. */
const BLOCKS_PER_STATEMENT = 4_000;

/** A document's terms and their counts, in the form of the index tables. */
export interface StoredTerms {
  title_terms: string;
  body_terms: string;
}

/** What is stored of a document in the index. */
export interface IndexedState extends StoredTerms, Pivots {
  /** The version of the analysis that the terms and impacts are of. */
  analysis: number;
}

/** A document's previous state in the index (undefined if it is new) and its next state, with the current pivots. */
export interface DocumentChange {
  document_no: number;
  previous: IndexedState | undefined;
  next: StoredTerms;
}

/** By block number and term: the postings that change. */
type Changes = Map<number, Map<string, number[]>>;

/** Updates the blocks of postings by the differences between the previous and the next state of documents. */
export async function mergePostings(
  query: Query,
  index: Index & { pivots: Pivots },
  documents: readonly DocumentChange[],
): Promise<void> {
  const changes = await changesOf(documents, index.pivots);
  for (const [chunk_no, terms] of changes) {
    const all = [...terms];
    for (let from = 0; from < all.length; from += BLOCKS_PER_STATEMENT) {
      await updateBlocks(query, index, chunk_no, all.slice(from, from + BLOCKS_PER_STATEMENT));
    }
  }
}

async function changesOf(documents: readonly DocumentChange[], pivots: Pivots): Promise<Changes> {
  const changes: Changes = new Map();
  for (const [i, { document_no, previous, next }] of documents.entries()) {
    if (i % DOCUMENTS_PER_TURN === 0) await yieldToEventLoop();
    const chunk_no = Math.floor(document_no / CHUNK);
    const terms = changes.get(chunk_no) ?? new Map<string, number[]>();
    changes.set(chunk_no, terms);
    const note = (term: string, impact: number) => {
      const noted = terms.get(term);
      if (noted) noted.push(posting(document_no, impact));
      else terms.set(term, [posting(document_no, impact)]);
    };
    const was = previous ? indexedImpacts(previous) : new Map<string, number>();
    const is = impactsOf(readTerms(next), pivots);
    for (const [term, impact] of is) if (was.get(term) !== impact) note(term, impact);
    for (const term of was.keys()) if (!is.has(term)) note(term, 0);
  }
  return changes;
}

/** The impacts that search_postings has of a document. Those of another analysis are unknown: every one is written. */
function indexedImpacts(previous: IndexedState): ReadonlyMap<string, number> {
  const terms = readTerms(previous);
  if (previous.analysis === ANALYSIS) return impactsOf(terms, previous);
  return new Map([...terms.title.keys(), ...terms.body.keys()].map((term) => [term, Number.NaN]));
}

async function updateBlocks(
  query: Query,
  { wiki_id, kind }: Index,
  chunk_no: number,
  changes: readonly [term: string, postings: number[]][],
): Promise<void> {
  // Looks up each block by the primary key of search_postings: a plan cached for a small index would read all blocks of
  // the wiki.
  const rows = await query<{ term: string; postings: Buffer }>(sql`
    select c.term, p.postings from unnest(${changes.map(([term]) => term)}::text[]) c (term)
    cross join lateral (
      select p.postings from search_postings p
      where p.wiki_id = ${wiki_id} and p.kind = ${kind} and p.term = c.term and p.chunk_no = ${chunk_no}::int offset 0) p`);
  const before = new Map(rows.map(({ term, postings }) => [term, postings]));
  const written = changes.map(([term, postings]) => ({
    term,
    block: updateBlock(chunk_no, before.get(term), postings),
  }));
  const kept = written.filter(({ block }) => block.length > 0);
  const emptied = written.filter(({ block }) => block.length === 0).map(({ term }) => term);
  // A single bytea is sent in binary; an array of them would be sent as text.
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
