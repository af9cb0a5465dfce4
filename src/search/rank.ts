import { readCounts } from './document-terms.ts';
import { FIRST_PIVOTS, impactsOf, type Pivots } from './impacts.ts';
import { addImpacts, readBlocks } from './postings.ts';

/** What the index answers to a query's terms, all of one moment. */
export interface Found {
  index: Pivots & { next_no: number; documents: number };
  /** By term. `postings` is undefined for a term of so many documents that it says little beside the others. */
  terms: Map<string, { documents: number; postings: Buffer | undefined }>;
  /** Documents that were written since they were last folded. */
  pending: PendingDocument[];
}

export interface PendingDocument {
  document_id: string;
  /** -1 for a new one. */
  document_no: number;
  /** undefined where it holds none of the terms. */
  terms: { title_terms: string; body_terms: string } | undefined;
}

export const NOTHING_FOUND: Found = {
  index: { ...FIRST_PIVOTS, next_no: 0, documents: 0 },
  terms: new Map(),
  pending: [],
};

/** What documents are ranked by. */
export interface Wanted {
  /** Terms that count, and how much. */
  terms: ReadonlyMap<string, number>;
  /** Terms that a document must hold. */
  required: readonly string[];
  /** Of each of these a document must not hold all. */
  excluded: readonly (readonly string[])[];
}

/** A document that was found, by its number or, where it waits to be folded, by its id. */
export interface Candidate {
  document_no: number;
  document_id: string;
  score: number;
}

/** Impacts of one are worth so much of a score. */
const UNIT = 4.4 / 255;

/** How rare a term is: what a document that holds it is worth for that. */
export function rarityOf(documents: number, all: number): number {
  return Math.log(1 + (Math.max(all, documents) - documents + 0.5) / (documents + 0.5));
}

/** All documents that were found, best first; at most `most`, and whether there are more. */
export function rank(
  { index, terms, pending }: Found,
  wanted: Wanted,
  most: number,
): { best: Candidate[]; isAll: boolean } {
  const scores = emptyScores(index.next_no);
  const weights = new Map<string, number>();
  for (const [term, count] of wanted.terms) {
    const found = terms.get(term);
    const weight = count * rarityOf(found?.documents ?? 0, index.documents) * UNIT;
    weights.set(term, weight);
    if (found?.postings) addImpacts(found.postings, weight, scores);
  }
  const lacks = (no: number) => (scores[no] = 0);
  if (wanted.required.length > 0) {
    const held = holding(terms, wanted.required, index.next_no);
    for (let no = 0; no < scores.length; no += 1) if (held[no] !== wanted.required.length) lacks(no);
  }
  for (const word of wanted.excluded) {
    const held = holding(terms, word, index.next_no);
    for (let no = 0; no < scores.length; no += 1) if (held[no] === word.length) lacks(no);
  }
  const candidates: Candidate[] = [];
  for (const document of pending) {
    if (document.document_no >= 0) scores[document.document_no] = 0;
    const score = document.terms ? scoreOf(document.terms, index, weights, wanted) : 0;
    if (score > 0) candidates.push({ document_no: -1, document_id: document.document_id, score });
  }
  const floor = floorOf(scores, most);
  for (let document_no = 0; document_no < scores.length; document_no += 1) {
    const score = scores[document_no] as number;
    if (score > 0 && score >= floor) candidates.push({ document_no, document_id: '', score });
  }
  candidates.sort((a, b) => b.score - a.score || a.document_no - b.document_no);
  return { best: candidates.slice(0, most), isAll: floor === 0 && candidates.length <= most };
}

/** Ranking never waits for anything, so one array serves all searches; a new one for each would soon be garbage by the megabyte. */
let room = new Float32Array(4_096);

function emptyScores(documents: number): Float32Array {
  if (room.length < documents) room = new Float32Array(2 * documents);
  return room.subarray(0, documents).fill(0);
}

/** How many of the terms each document holds. */
function holding(terms: Found['terms'], wanted: readonly string[], documents: number): Uint16Array {
  const held = new Uint16Array(documents);
  for (const term of wanted) {
    const postings = terms.get(term)?.postings;
    if (postings) readBlocks(postings, (no) => (held[no] = (held[no] as number) + 1));
  }
  return held;
}

function scoreOf(
  document: { title_terms: string; body_terms: string },
  pivots: Pivots,
  weights: ReadonlyMap<string, number>,
  { required, excluded }: Wanted,
): number {
  const holds = new Set([...readCounts(document.title_terms).keys(), ...readCounts(document.body_terms).keys()]);
  if (!required.every((term) => holds.has(term))) return 0;
  if (excluded.some((word) => word.every((term) => holds.has(term)))) return 0;
  const impacts = impactsOf(document, pivots);
  let score = 0;
  for (const [term, weight] of weights) score += weight * (impacts.get(term) ?? 0);
  return score;
}

const STEPS = 512;

/** A score that at least `most` documents reach and not many more, so that few have to be sorted. 0: all may come. */
function floorOf(scores: Float32Array, most: number): number {
  let top = 0;
  for (const score of scores) if (score > top) top = score;
  if (top === 0) return 0;
  const counts = new Uint32Array(STEPS + 1);
  const scale = STEPS / top;
  for (const score of scores) {
    if (score > 0) {
      const step = Math.trunc(score * scale);
      counts[step] = (counts[step] as number) + 1;
    }
  }
  let reached = 0;
  for (let step = STEPS; step > 0; step -= 1) {
    reached += counts[step] as number;
    // A step lower, because rounding may have put a score beside its own.
    if (reached >= most) return ((step - 1) / STEPS) * top;
  }
  return 0;
}
