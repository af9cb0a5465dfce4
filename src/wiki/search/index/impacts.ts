import { besideOf, occurrencesOf, readCounts } from '@ibid/markdown/analysis/document-terms.ts';
import { beginningOf } from '@ibid/markdown/analysis/stem.ts';
import { KEY_PREFIX, TITLE_WORD_PREFIX } from '@ibid/markdown/analysis/title-key.ts';

/**
 * The average number of terms in titles and in texts of a wiki: the pivots of length normalization (Singhal, Buckley
 * and Mitra, SIGIR 1996).
 */
export interface Pivots {
  pivot_title: number;
  pivot_body: number;
}

/** Used until a wiki has its own averages. */
export const FIRST_PIVOTS: Pivots = { pivot_title: 4, pivot_body: 150 };

const K1 = 1.2;
const B_TITLE = 0.75;
const B_BODY = 0.6;

/** Weight of an additional term (a spelling variant, or a part of a word) relative to a word of the text. */
const BESIDE_WEIGHT = 0.5;

/**
 * Weight of the title of a page without text, such as a folder: it rarely answers a query, but leads to pages that do.
 */
const WITHOUT_TEXT = 0.5;

/** An impact is stored in one byte: the maximum, 4.4, is 255. */
const IMPACT_STEPS = 255 / (2 * (K1 + 1));

/** The score of an impact of 1. */
export const IMPACT_UNIT = 1 / IMPACT_STEPS;

/** The number of occurrences of each term in a document's title and in its text. */
export interface DocumentTerms {
  title: ReadonlyMap<string, number>;
  body: ReadonlyMap<string, number>;
}

/** Parses the terms as stored in the tables of the index. */
export function readTerms({ title_terms, body_terms }: { title_terms: string; body_terms: string }): DocumentTerms {
  return { title: readCounts(title_terms), body: readCounts(body_terms) };
}

/**
 * The impact of each term in a document, 1 to 255: the term frequency part of BM25 (Robertson and Zaragoza, 2009) for
 * the title plus that for the text; the inverse document frequency is applied by queries. Impacts are precomputed and
 * quantized as in impact-ordered indexes (Anh, de Kretser and Moffat, SIGIR 2001), but postings stay in the order of
 * documents.
 */
export function impactsOf({ title, body }: DocumentTerms, pivots: Pivots): Map<string, number> {
  const impacts = new Map<string, number>();
  const titleNorm = lengthNorm(B_TITLE, lengthOf(title), pivots.pivot_title);
  const bodyNorm = lengthNorm(B_BODY, roundLength(lengthOf(body)), pivots.pivot_body);
  const titleWeight = body.size === 0 ? WITHOUT_TEXT : 1;
  const inTitle = new Set<string>();
  for (const [term, count] of title) {
    if (term.startsWith(TITLE_WORD_PREFIX)) continue;
    inTitle.add(term);
    const ofTitle = titleWeight * saturate(frequencyOf(count), titleNorm);
    impacts.set(term, quantize(ofTitle + saturate(frequencyOf(body.get(term) ?? 0), bodyNorm)));
  }
  for (const [term, count] of body) {
    if (inTitle.has(term) || term.startsWith(TITLE_WORD_PREFIX)) continue;
    impacts.set(term, quantize(saturate(frequencyOf(count), bodyNorm)));
  }
  // Name terms of the text are aliases of the page.
  for (const names of [body, title]) {
    const typed = [...names].filter(([term]) => term.startsWith(TITLE_WORD_PREFIX));
    const words = typed.filter(([term]) => !term.startsWith(KEY_PREFIX)).length;
    for (const [term, count] of typed) {
      impacts.set(term, Math.max(1, Math.round(255 / (1 + 0.25 * (count - 1) + 0.1 * words))));
    }
  }
  return impacts;
}

function frequencyOf(count: number): number {
  return occurrencesOf(count) + BESIDE_WEIGHT * besideOf(count);
}

/**
 * Adds the impacts of the beginnings of long words, which the index does not store: the highest impact of any word with
 * that beginning.
 */
export function withBeginnings(impacts: ReadonlyMap<string, number>): ReadonlyMap<string, number> {
  const all = new Map(impacts);
  for (const [term, impact] of impacts) {
    const beginning = beginningOf(term);
    if (beginning !== undefined) all.set(beginning, Math.max(impact, all.get(beginning) ?? 0));
  }
  return all;
}

/** Returns the number of words, repeated ones included, without stop words and additional terms. */
export function lengthOf(counts: ReadonlyMap<string, number>): number {
  let length = 0;
  for (const [term, count] of counts) if (!term.startsWith(TITLE_WORD_PREFIX)) length += occurrencesOf(count);
  return length;
}

function saturate(count: number, lengthNorm: number): number {
  return (count * (K1 + 1)) / (count + lengthNorm);
}

function lengthNorm(b: number, length: number, pivot: number): number {
  return K1 * (1 - b + (b * length) / pivot);
}

function quantize(impact: number): number {
  return Math.min(255, Math.max(1, Math.round(impact * IMPACT_STEPS)));
}

/** Rounds to four significant bits, so that a small edit leaves most impacts unchanged. */
function roundLength(length: number): number {
  if (length < 16) return length;
  const unit = 2 ** (Math.floor(Math.log2(length)) - 3);
  return Math.round(length / unit) * unit;
}
