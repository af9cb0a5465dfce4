import { openSizedCache } from '../../../platform/core/sized-cache.ts';
import type { HitText } from '../../search/query/passages.ts';
import type { Candidate } from '../../search/query/rank.ts';
import type { Page } from '../schema.ts';

export interface HitRow extends Page, HitText {
  score: number;
  outline: { text: string; anchor: string; offset: number }[];
}

/** What is read of a page to find its passage. Of one revision it is always the same. */
type KnownText = Pick<HitRow, 'page_id' | 'revision' | 'text' | 'is_cut' | 'outline'>;

/**
 * Texts of pages that were found lately, by their numbers in the index. Whether a page is found, and in which revision, the database
 * says with each search, under the caller's permissions: nothing of it is shown before.
 */
const texts = openSizedCache<KnownText>(8 * 2 ** 20);
const HEADING_BYTES = 150;

/** Of more candidates some that are not shown would be looked for. */
const MAX_CANDIDATES = 100;

/** What is known of candidates, by page. */
export function knownTexts(wiki_id: string, candidates: readonly Candidate[]): Map<string, KnownText> {
  const known = new Map<string, KnownText>();
  if (candidates.length > MAX_CANDIDATES) return known;
  for (const { document_no } of candidates) {
    const text = document_no < 0 ? undefined : texts.get(keyOf(wiki_id, document_no));
    if (text) known.set(text.page_id, text);
  }
  return known;
}

/** The hits with the texts of `known` that they were answered without; keeps the others. */
export function withKnownTexts(rows: readonly AnsweredRow[], known: ReadonlyMap<string, KnownText>): HitRow[] {
  return rows.map((row) => {
    const { page_id, revision, document_no, text, is_cut, outline } = row;
    if (text === null) return { ...row, ...(known.get(page_id) as KnownText) };
    if (document_no !== null) {
      const bytes = (/[^\0-\xff]/.test(text) ? 2 : 1) * text.length + HEADING_BYTES * outline.length;
      texts.set(keyOf(row.wiki_id, document_no), { page_id, revision, text, is_cut, outline }, bytes);
    }
    return row as HitRow;
  });
}

/** A hit as the statement answers it: without its text where that is known, and with its number in the index where it has one. */
export type AnsweredRow = Omit<HitRow, 'text'> & { text: string | null; document_no: number | null };

function keyOf(wiki_id: string, document_no: number): string {
  return `${wiki_id} ${document_no}`;
}
