import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { Query } from '../../../platform/db/db.ts';
import { sql } from '../../../platform/db/sql.ts';
import { type Block, blockWriter, compareTerms, entriesOf, joinParts } from './blocks.ts';
import { isPackedEmpty, type PackedPostings, packedWithoutDead, packPostings, unitePacked } from './packed-postings.ts';
import type { Index } from './pending.ts';
import { packNumbers, readPostings, unpackNumbers } from './postings.ts';

/** Blocks read or written by one statement: about half a megabyte. */
const BLOCKS_PER_STATEMENT = 400;

/** An immutable part of an index: the postings that one merge wrote. */
export interface Segment {
  segment_id: string;
  documents: number;
  bytes: number;
  /** Documents that were written or deleted since; their postings here are ignored. */
  dead: Set<number>;
  /** The documents with postings in the segment, ascending; undefined if unknown. */
  held: Uint32Array | undefined;
}

export type TermPostings = readonly [term: string, postings: PackedPostings];

export async function readSegments(query: Query, { wiki_id, kind }: Index): Promise<Segment[]> {
  const rows = await query<Omit<Segment, 'dead' | 'held'> & { dead: Buffer; held: Buffer | null }>(sql`
    select segment_id::text, documents, bytes::float8 as bytes, dead, held from search_segments
    where wiki_id = ${wiki_id} and kind = ${kind}`);
  return rows.map((row) => ({
    ...row,
    dead: new Set(unpackNumbers(row.dead)),
    held: row.held ? unpackNumbers(row.held) : undefined,
  }));
}

/** Returns the given documents whose postings in the segment still count. */
export function liveDocumentsIn({ dead, held }: Pick<Segment, 'dead' | 'held'>, numbers: readonly number[]): number[] {
  return numbers.filter((number) => !dead.has(number) && (!held || includes(held, number)));
}

function includes(sorted: Uint32Array, number: number): boolean {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] as number) < number) low = middle + 1;
    else high = middle;
  }
  return sorted[low] === number;
}

/** Marks documents of a segment as dead. */
export async function addDead(
  query: Query,
  { wiki_id, kind }: Index,
  segment: Segment,
  numbers: readonly number[],
): Promise<void> {
  const more = liveDocumentsIn(segment, numbers);
  if (more.length === 0) return;
  const { segment_id, dead } = segment;
  const all = Uint32Array.from([...dead, ...more]).sort();
  await query(sql`
    update search_segments set dead = ${packNumbers(all)}, dead_count = ${all.length}
    where wiki_id = ${wiki_id} and kind = ${kind} and segment_id = ${segment_id}`);
}

export async function dropSegments(query: Query, { wiki_id, kind }: Index, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await query(sql`
    delete from search_blocks where wiki_id = ${wiki_id} and kind = ${kind} and segment_id = any (${ids}::bigint[])`);
  await query(sql`
    delete from search_segments where wiki_id = ${wiki_id} and kind = ${kind} and segment_id = any (${ids}::bigint[])`);
}

/**
 * Writes a new segment from sorted terms. `known`: the documents it may have postings of; if undefined, they are read
 * from the postings. The id is random because processes cache postings by it: an id must never be reused, not even
 * after a restore of the database.
 */
export async function writeSegment(
  query: Query,
  index: Index,
  terms: AsyncIterable<readonly TermPostings[]>,
  known: ReadonlySet<number> | undefined,
): Promise<void> {
  const segment_id = String(2 ** 32 + Math.floor(Math.random() * 2 ** 52));
  const writer = blockWriter();
  const held = new Set(known);
  let blocks: Block[] = [];
  let size = 0;
  const flush = async () => {
    size += blocks.reduce((sum, { bytes }) => sum + bytes.length, 0);
    await insertBlocks(query, index, segment_id, blocks);
    blocks = [];
  };
  for await (const some of terms) {
    for (const [term, postings] of some) {
      if (!isPackedEmpty(postings)) writer.add(term, postings);
      if (!known)
        for (const number of readPostings(postings.bytes, postings.from, postings.to).numbers) held.add(number);
    }
    blocks.push(...writer.take());
    if (blocks.length >= BLOCKS_PER_STATEMENT) await flush();
  }
  blocks.push(...writer.take(true));
  if (blocks.length > 0) await flush();
  if (size === 0) return;
  await query(sql`
    insert into search_segments (wiki_id, kind, segment_id, documents, bytes, held)
    values (${index.wiki_id}, ${index.kind}, ${segment_id}, ${held.size}, ${size}, ${packNumbers(Uint32Array.from(held).sort())})`);
}

async function insertBlocks(
  query: Query,
  { wiki_id, kind }: Index,
  segment_id: string,
  blocks: readonly Block[],
): Promise<void> {
  // A single bytea is sent in binary; an array of them would be sent as text.
  await query(sql`
    insert into search_blocks (wiki_id, kind, segment_id, term, part, documents, bytes)
    select ${wiki_id}, ${kind}, ${segment_id}, w.term, w.part, w.documents,
      substring(${Buffer.concat(blocks.map(({ bytes }) => bytes))}::bytea from (w.ends - w.length + 1)::int for w.length)
    from (
      select g.*, sum(g.length) over (order by g.no) as ends
      from unnest(${blocks.map(({ term }) => term)}::text[], ${blocks.map(({ part }) => part)}::int[],
        ${blocks.map(({ documents }) => documents)}::int[], ${blocks.map(({ bytes }) => bytes.length)}::int[])
        with ordinality g (term, part, documents, length, no)
    ) w`);
}

/** Reads the terms of a segment in order, without the postings of dead documents, about one block at a time. */
export async function* readTerms(
  query: Query,
  index: Index,
  { segment_id, dead }: Pick<Segment, 'segment_id' | 'dead'>,
): AsyncGenerator<readonly TermPostings[]> {
  let own: { term: string; parts: Buffer[] } | undefined;
  const take = (): TermPostings[] => {
    const taken = own;
    own = undefined;
    return taken ? [[taken.term, packedWithoutDead(packedOf(taken.parts), dead)]] : [];
  };
  for await (const { term, documents, bytes } of readBlocks(query, index, segment_id)) {
    if (own?.term === term) {
      own.parts.push(bytes);
      continue;
    }
    const some = take();
    if (documents > 0) own = { term, parts: [bytes] };
    else {
      for (const { term, from, to } of entriesOf(bytes)) {
        some.push([term, packedWithoutDead({ bytes, from, to }, dead)]);
      }
    }
    yield some;
  }
  yield take();
}

/** Parts cannot be joined as bytes: each begins with a number instead of a difference. */
function packedOf(parts: readonly Buffer[]): PackedPostings {
  const most = parts.reduce((sum, { length }) => sum + length, 0);
  return packPostings(joinParts(parts), most);
}

async function* readBlocks(query: Query, { wiki_id, kind }: Index, segment_id: string): AsyncGenerator<Block> {
  for (let last: Pick<Block, 'term' | 'part'> | undefined = { term: '', part: -1 }; last; ) {
    const blocks: Block[] = await query<Block>(sql`
      select term, part, documents, bytes from search_blocks
      where wiki_id = ${wiki_id} and kind = ${kind} and segment_id = ${segment_id} and (term, part) > (${last.term}, ${last.part})
      order by term, part limit ${BLOCKS_PER_STATEMENT}`);
    yield* blocks;
    last = blocks.length === BLOCKS_PER_STATEMENT ? blocks.at(-1) : undefined;
  }
}

/** Terms merged before the loop yields to the event loop, which has requests to serve. */
const TERMS_PER_TURN = 2_000;

interface Cursor {
  source: AsyncIterator<readonly TermPostings[]>;
  /** The next terms of the source; those before `at` are merged. */
  terms: readonly TermPostings[];
  at: number;
}

/**
 * Merges several sorted sequences of terms into one. Yields arrays, because an await per term would be slow in a large
 * index.
 */
export async function* mergeTerms(
  sources: readonly AsyncIterator<readonly TermPostings[]>[],
): AsyncGenerator<readonly TermPostings[]> {
  let cursors: Cursor[] = sources.map((source) => ({ source, terms: [], at: 0 }));
  for (let sinceTurn = 0; ; ) {
    for (const cursor of cursors) await refill(cursor);
    cursors = cursors.filter(({ terms }) => terms.length > 0);
    if (cursors.length === 0) return;
    const merged = mergeUntilOneEnds(cursors);
    sinceTurn += merged.length;
    if (sinceTurn >= TERMS_PER_TURN) {
      sinceTurn = 0;
      await yieldToEventLoop();
    }
    yield merged;
  }
}

/** Loads more terms into an exhausted cursor; `terms` stays empty at the end of the source. */
async function refill(cursor: Cursor): Promise<void> {
  while (cursor.at >= cursor.terms.length) {
    const { value, done } = await cursor.source.next();
    Object.assign(cursor, { terms: done ? [] : value, at: 0 });
    if (done) return;
  }
}

/** Merges terms until a cursor is exhausted: its next term could be lower than all others. */
function mergeUntilOneEnds(cursors: readonly Cursor[]): TermPostings[] {
  const merged: TermPostings[] = [];
  for (;;) {
    let least: string | undefined;
    for (const { terms, at } of cursors) {
      const term = terms[at]?.[0];
      if (term === undefined) return merged;
      if (least === undefined || (term !== least && compareTerms(term, least) < 0)) least = term;
    }
    if (least === undefined) return merged;
    merged.push([least, takePostings(cursors, least)]);
  }
}

/** Collects the postings of `term` from all cursors positioned at it and advances them. */
function takePostings(cursors: readonly Cursor[], term: string): PackedPostings {
  const lists: PackedPostings[] = [];
  for (const cursor of cursors) {
    const next = cursor.terms[cursor.at];
    if (next?.[0] !== term) continue;
    lists.push(next[1]);
    cursor.at += 1;
  }
  return unitePacked(lists);
}
