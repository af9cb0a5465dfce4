import { PREFIX_END } from '@ibid/markdown/analysis/document-terms.ts';
import { BEGINNING } from '@ibid/markdown/analysis/stem.ts';
import { type Sql, sql } from '../../../../platform/db/sql.ts';
import type { Index } from '../../index/pending.ts';
import { type Postings, unitePostings, unpackNumbers, withoutDead } from '../../index/postings.ts';
import { type FoundRow, joinFound, type Part, partsOf, type Wanted } from './found-blocks.ts';
import { addToCache, cached } from './posting-cache.ts';
import { isWhole, keepWhole, MAX_BLOCKS_OF_PREFIX, MAX_WHOLE_BYTES, partOfWhole } from './whole-segments.ts';

/**
 * A query reads the postings of its rarest terms up to this size (about 200,000 postings), which limits the cost of a
 * query of a thousand common words.
 */
const MAX_BYTES_READ = 400_000;
/** Maximum number of terms to read: more than a usual query has, and each costs time even if its postings are short. */
const MAX_TERMS_READ = 64;

export interface TermData {
  /** Number of documents that contain the term. */
  documents: number;
  /** Undefined if the term is too frequent to be read. */
  postings: Postings | undefined;
}

export const NOTHING_FOUND: Sql = sql`null::text as what, null::text as segment_id, null::text as term, null::int as no, null::int as documents,
  null::boolean as is_read, null::bytea as bytes`;

/** Parses the name of a term; the beginning of a word requests all terms with this prefix. */
export function parseWanted(name: string, isNeeded = false): Wanted {
  const isPrefix = name.startsWith(BEGINNING);
  return { name, text: isPrefix ? name.slice(BEGINNING.length) : name, isPrefix, isNeeded };
}

/** Returns the CTEs that read postings, ending with `found`, and a function that converts the rows of `found`. */
export function readPostingsCtes(index: Index, wanted: readonly Wanted[]) {
  const { wiki_id, kind } = index;
  const known = (cached<string[]>(index, SEGMENTS) ?? []).map((segment_id) => ({
    segment_id,
    dead: cached<Dead>(index, deadName(segment_id)),
  }));
  const held = wanted.map((each) =>
    known.flatMap(({ segment_id }) => {
      const part = partInMemory(index, segment_id, each);
      return part ? [{ segment_id, part }] : [];
    }),
  );
  const pairs = held.flatMap((parts, i) => parts.map(({ segment_id }) => ({ no: i + 1, segment_id })));
  const deads = known.flatMap(({ segment_id, dead }) => (dead ? [{ segment_id, ...dead }] : []));
  const end = ({ text, isPrefix }: Pick<Wanted, 'text' | 'isPrefix'>) => text + (isPrefix ? PREFIX_END : '\u0001');
  const whole = known.filter(({ segment_id }) => isWhole(index, segment_id)).map(({ segment_id }) => segment_id);
  // The first search of a process in a wiki may be its last one there.
  const mostWhole = known.length > 0 ? MAX_WHOLE_BYTES : 0;
  const steps = {
    segments: sql`
      select s.segment_id, s.bytes, s.dead_count, case when k.dead_count is distinct from s.dead_count then s.dead end as dead
      from search_segments s
      left join unnest(${deads.map(({ segment_id }) => segment_id)}::bigint[], ${deads.map(({ count }) => count)}::int[])
        k (segment_id, dead_count) on k.segment_id = s.segment_id
      where s.wiki_id = ${wiki_id} and s.kind = ${kind}`,
    wanted: sql`
      select w.*, w.no::int as wanted_no from unnest(${wanted.map(({ text }) => text)}::text[], ${wanted.map(end)}::text[],
        ${wanted.map(({ isNeeded }) => isNeeded)}::boolean[],
        ${wanted.map(({ isPrefix }) => (isPrefix ? MAX_BLOCKS_OF_PREFIX : null))}::int[],
        ${held.map((parts) => parts.reduce((sum, { part }) => sum + part.bytes, 0))}::int[])
        with ordinality w (term, until, is_needed, most, bytes_held, no)`,
    asked: sql`
      select s.segment_id, w.* from segments s cross join wanted w
      where not exists (
        select from unnest(${pairs.map(({ no }) => no)}::int[], ${pairs.map(({ segment_id }) => segment_id)}::bigint[])
          h (no, segment_id) where h.no = w.no and h.segment_id = s.segment_id)`,
    places: sql`
      select a.segment_id, a.wanted_no as no, b.term, b.part, b.documents, b.length
      from asked a cross join lateral (
        (select b.term, b.part, b.documents, octet_length(b.bytes) as length from search_blocks b
          where b.wiki_id = ${wiki_id} and b.kind = ${kind} and b.segment_id = a.segment_id and b.term < a.term
          order by b.term desc, b.part desc limit 1)
        union all
        (select b.term, b.part, b.documents, octet_length(b.bytes) from search_blocks b
          where b.wiki_id = ${wiki_id} and b.kind = ${kind} and b.segment_id = a.segment_id and b.term >= a.term
            and b.term < a.until
          order by b.term, b.part limit a.most)
      ) b
      where b.documents = 0 or b.term >= a.term`,
    sized: sql`
      select w.wanted_no as no, w.is_needed, w.most is not null as is_prefix, count(p.no) as places, coalesce(sum(p.documents), 0)::int as documents,
        w.bytes_held + coalesce(sum(p.length) filter (where p.documents > 0), 0) as length
      from wanted w left join places p on p.no = w.no group by w.wanted_no, w.is_needed, w.most, w.bytes_held`,
    chosen: sql`
      select s.*, s.is_needed
        or (sum(s.length) over rarest - s.length < ${MAX_BYTES_READ} and row_number() over rarest <= ${MAX_TERMS_READ}) as is_read
      from sized s window rarest as (partition by s.is_needed order by s.length, s.is_prefix, s.no)`,
    needed: sql`
      select distinct p.segment_id, p.term, p.part from places p join chosen c on c.no = p.no where c.is_read`,
    found: sql`
      select 'segment' as what, s.segment_id::text, null::text as term, null::int as no, s.dead_count as documents, null::boolean as is_read,
        s.dead as bytes
      from segments s
      union all
      select 'term', null, null, c.no, greatest(c.documents, least(c.places, 1)::int), c.is_read, null from chosen c
      union all
      select 'block', n.segment_id::text, n.term, n.part, b.documents, null, b.bytes
      from needed n join search_blocks b on b.wiki_id = ${wiki_id} and b.kind = ${kind} and b.segment_id = n.segment_id
        and b.term = n.term and b.part = n.part
      union all
      select 'whole', b.segment_id::text, b.term, b.part, b.documents, null, b.bytes
      from segments s join search_blocks b on b.wiki_id = ${wiki_id} and b.kind = ${kind} and b.segment_id = s.segment_id
      where s.segment_id <> all (${whole}::bigint[]) and (select sum(o.bytes) from segments o) <= ${mostWhole}::int`,
  };
  return { steps, termsOf: (rows: readonly FoundRow[]) => toTerms(index, wanted, held, deads, rows) };
}

/**
 * Computes the result of `termsOf` from the cache, assuming that the index has these segments. Returns undefined if any
 * postings are missing. Applies the same limits as the statement.
 */
export function recallTerms(
  index: Index,
  wanted: readonly Wanted[],
  segments: readonly string[],
): Map<string, TermData> | undefined {
  const deads = segments.map((segment_id) => cached<Dead>(index, deadName(segment_id))?.numbers);
  const found: { each: Wanted; no: number; bytes: number; parts: readonly Part[] }[] = [];
  for (const [no, each] of wanted.entries()) {
    const parts = segments.flatMap((segment_id) => partInMemory(index, segment_id, each) ?? []);
    if (parts.length < segments.length) return undefined;
    found.push({ each, no, bytes: parts.reduce((sum, part) => sum + part.bytes, 0), parts });
  }
  if (deads.includes(undefined)) return undefined;
  found.sort((a, b) => a.bytes - b.bytes || Number(a.each.isPrefix) - Number(b.each.isPrefix) || a.no - b.no);
  const terms = new Map<string, TermData>();
  let [bytes, count] = [0, 0];
  for (const { each, bytes: size, parts } of found) {
    const isRead = each.isNeeded || (bytes < MAX_BYTES_READ && count < MAX_TERMS_READ);
    if (!each.isNeeded) [bytes, count] = [bytes + size, count + 1];
    const postings = unitePostings(parts.map((part, i) => withoutDead(part.postings, deads[i] ?? new Set())));
    const documents = postings.numbers.length;
    if (documents > 0) terms.set(each.name, { documents, postings: isRead ? postings : undefined });
  }
  return terms;
}

/** The cached postings of one request in a segment; undefined if they are not cached. */
function partInMemory(index: Index, segment_id: string, wanted: Wanted): Part | undefined {
  const name = partName(segment_id, wanted);
  const known = cached<Part>(index, name);
  if (known) return known;
  const part = partOfWhole(index, segment_id, wanted);
  if (part) addToCache(index, name, part, sizeOf(part));
  return part;
}

function sizeOf({ postings }: Part): number {
  return 5 * postings.numbers.length;
}

type Held = { segment_id: string; part: Part }[];

interface Dead {
  count: number;
  numbers: ReadonlySet<number>;
}

const SEGMENTS = 'segments';
const deadName = (segment_id: string) => `dead ${segment_id}`;
const partName = (segment_id: string, { text, isPrefix }: Wanted) => `${segment_id} ${isPrefix ? '*' : ''}${text}`;

function toTerms(
  index: Index,
  wanted: readonly Wanted[],
  held: readonly Held[],
  deads: readonly (Dead & { segment_id: string })[],
  rows: readonly FoundRow[],
): Map<string, TermData> {
  keepWhole(index, rows);
  const segments = new Map<string, { dead: ReadonlySet<number>; blocks: FoundRow[] }>();
  const read = new Map<number, FoundRow>();
  for (const row of rows) {
    if (row.what === 'segment')
      segments.set(row.segment_id ?? '', { dead: readDeadDocuments(index, row, deads), blocks: [] });
    else if (row.what === 'term') read.set(row.no ?? 0, row);
  }
  for (const row of rows) if (row.what === 'block') segments.get(row.segment_id ?? '')?.blocks.push(row);
  if (segments.size > 0) addToCache(index, SEGMENTS, [...segments.keys()], 32 * segments.size);
  const lists = wanted.map((): Postings[] => []);
  for (const [segment_id, { dead, blocks }] of segments) {
    const parts = partsOf(wanted, blocks);
    for (const [i, each] of wanted.entries()) {
      if (!read.get(i + 1)?.is_read) continue;
      let part = held[i]?.find((one) => one.segment_id === segment_id)?.part;
      if (!part) {
        part = joinFound(parts.get(i) ?? []);
        addToCache(index, partName(segment_id, each), part, sizeOf(part));
      }
      lists[i]?.push(withoutDead(part.postings, dead));
    }
  }
  const terms = new Map<string, TermData>();
  for (const [i, { name }] of wanted.entries()) {
    const row = read.get(i + 1);
    if (!row?.is_read) {
      if (row?.documents) terms.set(name, { documents: row.documents, postings: undefined });
      continue;
    }
    const postings = unitePostings(lists[i] ?? []);
    if (postings.numbers.length > 0) terms.set(name, { documents: postings.numbers.length, postings });
  }
  return terms;
}

/**
 * The dead documents of a segment. They are only ever added, so an equal count means that the cached set is current.
 */
function readDeadDocuments(
  index: Index,
  { segment_id, documents, bytes }: FoundRow,
  known: readonly (Dead & { segment_id: string })[],
): ReadonlySet<number> {
  if (!bytes) return known.find((one) => one.segment_id === segment_id)?.numbers ?? new Set();
  const numbers = new Set(unpackNumbers(bytes));
  addToCache(index, deadName(segment_id ?? ''), { count: documents ?? 0, numbers } satisfies Dead, 40 * numbers.size);
  return numbers;
}
