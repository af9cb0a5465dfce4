import { IMPACT_UNIT, impactsOf, type Pivots, readTerms, withBeginnings } from '../index/impacts.ts';
import { addImpacts } from '../index/postings.ts';
import type { TermData } from './postings/read-postings.ts';

/** The index data for the terms of a query, from one snapshot. */
export interface IndexData {
  index: Pivots & { next_no: number; documents: number };
  /** By term. Terms so frequent that they hardly affect the ranking have no postings. */
  terms: Map<string, TermData>;
  /** Documents written since the last merge. */
  pending: PendingDocument[];
  /** The state of the index that the data belongs to (see `indexStateCte`); undefined while documents are pending. */
  state: string | undefined;
  /** Name of the set of pages that the caller sees; '' for all pages. The data has no other documents. */
  view: string;
}

export interface PendingDocument {
  document_id: string;
  /** -1 if the document is new. */
  document_no: number;
  /** Undefined if the document contains none of the terms. */
  terms: { title_terms: string; body_terms: string } | undefined;
}

/** The criteria of a ranking. */
export interface RankingQuery {
  /** The terms that contribute to scores, with their weights. */
  terms: ReadonlyMap<string, number>;
  /**
   * Lists of terms: a document must contain all terms of at least one list. If there is no list, it need not contain
   * any term.
   */
  required: readonly (readonly string[])[];
  /** Lists of terms: documents that contain all terms of a list are excluded. */
  excluded: readonly (readonly string[])[];
  /** Terms of the query; documents with more of them rank higher. Empty if the number says nothing. */
  coordinated: readonly string[];
  /**
   * Terms of words that contain a word of the query. They only find documents without any of `terms`, ranked after all
   * others.
   */
  parts: readonly string[];
  /** The key of a title or alias that equals the query; may be "". */
  equal: string;
}

/** Maximum share by which a score is raised for containing all words of the query, weighted by their rarity. */
const COORDINATION = 0.3;

/** A search result, identified by `document_no`, or for a pending document by -1 and `document_id`. */
export interface Candidate {
  document_no: number;
  document_id: string;
  score: number;
}

/** The inverse document frequency of BM25; never negative. */
function inverseDocumentFrequency(documents: number, all: number): number {
  return Math.log(1 + (Math.max(all, documents) - documents + 0.5) / (documents + 0.5));
}

/** Restricts the documents to rank. */
export interface Cut {
  /** Only documents that rank after this one. */
  behind?: { score: number; document_no: number } | undefined;
  /** Whether a document may be shown; `document_no` is -1 for a pending document without a number. */
  isShown?: ((document_no: number, document_id: string) => boolean) | undefined;
}

/** Returns the `most` best documents, best first. `isAll`: there are no further documents. */
export function rank(
  { index, terms, pending }: IndexData,
  wanted: RankingQuery,
  most: number,
  { behind, isShown }: Cut = {},
): { best: Candidate[]; isAll: boolean } {
  const scores = emptyScores(index.next_no);
  const weights = new Map<string, number>();
  for (const [term, count] of wanted.terms) {
    const found = terms.get(term);
    const weight = count * inverseDocumentFrequency(found?.documents ?? 0, index.documents) * IMPACT_UNIT;
    weights.set(term, weight);
    if (found?.postings) addImpacts(found.postings, weight, scores);
  }
  const rarity = raritiesOf(wanted.coordinated, terms, index.documents);
  raiseByShare(scores, rarity, terms);
  for (const no of terms.get(wanted.equal)?.postings?.numbers ?? []) scores[no] = scoreOfEqual(scores[no] as number);
  if (wanted.parts.length > 0) scoreUnscored(scores, wanted.parts, terms);
  const exclude = (no: number) => (scores[no] = 0);
  if (wanted.required.length > 0) {
    const held = wanted.required.map((list) => countTermsPerDocument(terms, list, index.next_no));
    const holds = (no: number) => held.some((counts, i) => counts[no] === wanted.required[i]?.length);
    for (let no = 0; no < scores.length; no += 1) if (!holds(no)) exclude(no);
  }
  for (const word of wanted.excluded) {
    const held = countTermsPerDocument(terms, word, index.next_no);
    for (let no = 0; no < scores.length; no += 1) if (held[no] === word.length) exclude(no);
  }
  const candidates: Candidate[] = [];
  for (const document of pending) {
    if (document.document_no >= 0) scores[document.document_no] = 0;
    if (isShown?.(document.document_no, document.document_id) === false) continue;
    const score = document.terms ? scoreOf(document.terms, index, weights, rarity, wanted) : 0;
    if (score > 0 && score <= (behind?.score ?? score))
      candidates.push({ document_no: -1, document_id: document.document_id, score });
  }
  for (let no = 0; isShown && no < scores.length; no += 1) if (!isShown(no, '')) exclude(no);
  for (let no = 0; behind && no < scores.length; no += 1) {
    const score = scores[no] as number;
    if (score > behind.score || (score === behind.score && no >= behind.document_no)) exclude(no);
  }
  const { numbers, count } = topScores(scores, most);
  for (const document_no of numbers) {
    candidates.push({ document_no, document_id: '', score: scores[document_no] as number });
  }
  const isAll = candidates.length - numbers.length + count <= most;
  candidates.sort((a, b) => b.score - a.score || ageOf(a) - ageOf(b));
  return { best: candidates.slice(0, most), isAll };
}

/** Upper bound for the score of a document found only by parts: below all other scores if few documents are found. */
const PARTS_SCORE = 1e-4;

/** Scores the documents that have no score yet by how often they contain the terms. */
function scoreUnscored(scores: Float32Array, parts: readonly string[], terms: IndexData['terms']): void {
  const impacts = new Float32Array(scores.length);
  for (const term of parts) {
    const postings = terms.get(term)?.postings;
    if (postings) addImpacts(postings, 1, impacts);
  }
  for (let no = 0; no < scores.length; no += 1) {
    if (scores[no] === 0 && impacts[no] !== 0) scores[no] = partScore(impacts[no] as number);
  }
}

function partScore(impact: number): number {
  return (PARTS_SCORE * impact) / (impact + 255);
}

/** Sort key by age: lower is newer. Documents without a number are the newest. */
export function ageOf({ document_no }: Candidate): number {
  return document_no < 0 ? Number.NEGATIVE_INFINITY : -document_no;
}

/** Raises the score of a document whose title or alias equals the query. */
function scoreOfEqual(score: number): number {
  return score > 0 ? score * 1.5 + 2 : 0;
}

/** Returns the rarity of each term. Terms without postings are omitted: they occur in no document, or in most. */
function raritiesOf(words: readonly string[], terms: IndexData['terms'], documents: number): Map<string, number> {
  const rarity = new Map<string, number>();
  for (const term of words) {
    const found = terms.get(term);
    if (found?.postings) rarity.set(term, inverseDocumentFrequency(found.documents, documents));
  }
  if (rarity.size < 2) rarity.clear();
  return rarity;
}

function raiseByShare(scores: Float32Array, rarity: ReadonlyMap<string, number>, terms: IndexData['terms']): void {
  if (rarity.size === 0) return;
  let total = 0;
  const held = new Float32Array(scores.length);
  for (const [term, worth] of rarity) {
    total += worth;
    for (const no of terms.get(term)?.postings?.numbers ?? []) held[no] = (held[no] as number) + worth;
  }
  const share = COORDINATION / total;
  for (let no = 0; no < scores.length; no += 1) {
    if (scores[no] !== 0) scores[no] = (scores[no] as number) * (1 + share * (held[no] as number));
  }
}

/** Ranking is synchronous, so all searches share one buffer; a buffer per search would leave megabytes of garbage. */
let scoreBuffer = new Float32Array(4_096);

function emptyScores(documents: number): Float32Array {
  if (scoreBuffer.length < documents) scoreBuffer = new Float32Array(2 * documents);
  return scoreBuffer.subarray(0, documents).fill(0);
}

/** Counts how many of the terms each document contains. */
function countTermsPerDocument(terms: IndexData['terms'], wanted: readonly string[], documents: number): Uint16Array {
  const held = new Uint16Array(documents);
  for (const term of wanted) {
    const postings = terms.get(term)?.postings;
    for (const no of postings?.numbers ?? []) held[no] = (held[no] as number) + 1;
  }
  return held;
}

function scoreOf(
  document: { title_terms: string; body_terms: string },
  pivots: Pivots,
  weights: ReadonlyMap<string, number>,
  rarity: ReadonlyMap<string, number>,
  { required, excluded, equal, parts }: RankingQuery,
): number {
  const terms = readTerms(document);
  const holds = (term: string) => terms.title.has(term) || terms.body.has(term);
  if (required.length > 0 && !required.some((list) => list.every(holds))) return 0;
  if (excluded.some((word) => word.every(holds))) return 0;
  const impacts = withBeginnings(impactsOf(terms, pivots));
  let score = 0;
  for (const [term, weight] of weights) score += weight * (impacts.get(term) ?? 0);
  if (score === 0) return partScore(parts.reduce((sum, term) => sum + (impacts.get(term) ?? 0), 0));
  let [held, total] = [0, 0];
  for (const [term, worth] of rarity) {
    total += worth;
    if (holds(term)) held += worth;
  }
  if (total > 0) score *= 1 + (COORDINATION * held) / total;
  return holds(equal) ? scoreOfEqual(score) : score;
}

/**
 * Returns the documents with the `most` highest scores, in any order, and the number of all documents with a score
 * above 0. Among equal scores the higher, newer document numbers win. Uses a min-heap, so that most documents cost one
 * comparison.
 */
function topScores(scores: Float32Array, most: number): { numbers: number[]; count: number } {
  const heap: number[] = [];
  const isWorse = (one: number, other: number) => {
    const difference = (scores[one] as number) - (scores[other] as number);
    return difference < 0 || (difference === 0 && one < other);
  };
  const sink = (number: number) => {
    let at = 0;
    for (let below = 1; below < heap.length; below = 2 * at + 1) {
      if (below + 1 < heap.length && isWorse(heap[below + 1] as number, heap[below] as number)) below += 1;
      if (!isWorse(heap[below] as number, number)) break;
      heap[at] = heap[below] as number;
      at = below;
    }
    heap[at] = number;
  };
  const rise = (number: number) => {
    let at = heap.push(number) - 1;
    for (let above = (at - 1) >> 1; at > 0 && isWorse(number, heap[above] as number); above = (at - 1) >> 1) {
      heap[at] = heap[above] as number;
      at = above;
    }
    heap[at] = number;
  };
  let count = 0;
  let worst = 0;
  for (let number = scores.length - 1; number >= 0; number -= 1) {
    const score = scores[number] as number;
    if (score <= 0) continue;
    count += 1;
    if (heap.length < most) rise(number);
    else if (score > worst) sink(number);
    else continue;
    worst = heap.length < most ? 0 : (scores[heap[0] as number] as number);
  }
  return { numbers: heap, count };
}
