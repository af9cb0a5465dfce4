import { openSizedCache } from '../../../platform/core/sized-cache.ts';
import type { HitText } from '../../search/query/passages.ts';
import type { Candidate } from '../../search/query/rank.ts';
import type { Page } from '../schema.ts';

export interface HitRow extends Page, HitText {
  score: number;
  outline: { text: string; anchor: string; offset: number }[];
}

/** The data that a passage is made from. It never changes for one revision. */
type KnownText = Pick<HitRow, 'page_id' | 'revision' | 'text' | 'is_cut' | 'outline'>;

/**
 * Cache of the texts of recent hits, by document number. Each search asks the database, under the caller's permissions,
 * whether a page is found and in which revision; no cached text is shown before.
 */
const texts = openSizedCache<KnownText>(8 * 2 ** 20);
const HEADING_BYTES = 150;

/** With more candidates, texts would be looked up that are not shown. */
const MAX_CANDIDATES = 100;

/** Returns the cached texts of candidates, by page. */
export function knownTexts(wiki_id: string, candidates: readonly Candidate[]): Map<string, KnownText> {
  const known = new Map<string, KnownText>();
  if (candidates.length > MAX_CANDIDATES) return known;
  for (const { document_no } of candidates) {
    const text = document_no < 0 ? undefined : texts.get(keyOf(wiki_id, document_no));
    if (text) known.set(text.page_id, text);
  }
  return known;
}

/** Adds the cached texts to the hits that were selected without text, and caches the other texts. */
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

/** A hit as selected by the statement: without text if that is cached, and with its document number if it has one. */
export type AnsweredRow = Omit<HitRow, 'text'> & { text: string | null; document_no: number | null };

function keyOf(wiki_id: string, document_no: number): string {
  return `${wiki_id} ${document_no}`;
}
