import { entriesOf, joinParts } from '../../index/blocks.ts';
import { type Postings, readPostings, unitePostings } from '../../index/postings.ts';

/** A request for the postings of a term, or of all terms with a prefix. */
export interface Wanted {
  /** Key of the result. */
  name: string;
  text: string;
  isPrefix: boolean;
  /** Read regardless of its frequency, and not counted against the limits. */
  isNeeded: boolean;
}

/** A row of the CTE `found`. */
export interface FoundRow {
  what: 'segment' | 'term' | 'block' | 'whole' | null;
  segment_id: string | null;
  /** For a block: its first term. */
  term: string | null;
  /** For a block: its part. For a term: its index in the request, from 1. */
  no: number | null;
  documents: number | null;
  /** For a term: whether its blocks are among the rows. */
  is_read: boolean | null;
  /** For a block, also of a whole segment: its postings. For a segment: its dead documents, unless they are cached. */
  bytes: Buffer | null;
}

/** The postings of one request in one segment, and their size in blocks of their own. */
export interface Part {
  postings: Postings;
  bytes: number;
}

/** Joins the postings of one request from several blocks of a segment. */
export function joinFound(parts: readonly Part[]): Part {
  return {
    postings: unitePostings(parts.map(({ postings }) => postings)),
    bytes: parts.reduce((sum, { bytes }) => sum + bytes, 0),
  };
}

/** Collects the postings of each request from the blocks of a segment, by index of the request. */
export function partsOf(wanted: readonly Wanted[], blocks: readonly FoundRow[]): Map<number, Part[]> {
  const parts = new Map<number, Part[]>();
  const places = placesOf(wanted);
  const add = (term: string, part: () => Part) => {
    const found = places(term);
    if (found.length === 0) return;
    const one = part();
    for (const place of found) parts.set(place, [...(parts.get(place) ?? []), one]);
  };
  const own = new Map<string, FoundRow[]>();
  for (const block of blocks) {
    const bytes = block.bytes ?? Buffer.alloc(0);
    if ((block.documents ?? 0) > 0) own.set(block.term ?? '', [...(own.get(block.term ?? '') ?? []), block]);
    else {
      for (const { term, from, to } of entriesOf(bytes)) {
        add(term, () => ({ postings: readPostings(bytes, from, to), bytes: 0 }));
      }
    }
  }
  for (const [term, rows] of own) {
    const all = rows.sort((a, b) => (a.no ?? 0) - (b.no ?? 0)).map(({ bytes }) => bytes ?? Buffer.alloc(0));
    add(term, () => ({
      postings: joinParts(all),
      bytes: all.reduce((sum, { length }) => sum + length, 0),
    }));
  }
  return parts;
}

/** Returns a function that maps a term to the indexes of the requests it matches. */
function placesOf(wanted: readonly Pick<Wanted, 'text' | 'isPrefix'>[]): (term: string) => number[] {
  const exact = new Map<string, number>();
  const prefixes = new Map<number, Map<string, number>>();
  for (const [i, { text, isPrefix }] of wanted.entries()) {
    if (!isPrefix) exact.set(text, i);
    else prefixes.set(text.length, (prefixes.get(text.length) ?? new Map<string, number>()).set(text, i));
  }
  return (term) => {
    const places: number[] = [];
    const one = exact.get(term);
    if (one !== undefined) places.push(one);
    for (const [length, texts] of prefixes) {
      const place = texts.get(term.slice(0, length));
      if (place !== undefined) places.push(place);
    }
    return places;
  };
}
