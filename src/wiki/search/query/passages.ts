import { setImmediate as nextTurn } from 'node:timers/promises';
import { sql } from '../../../platform/db/sql.ts';
import type { Hits } from './search.ts';
import { bestPassage, type Passage } from './snippet.ts';

/** Characters of each text that are searched for a passage at first. */
export const PASSAGE_CHARACTERS = 100_000;
/** Overlap of the pieces of a longer text, so that no phrase is cut. */
const SHARED_CHARACTERS = 2_000;
/** Maximum number of characters to read in addition, over all hits, from long texts without a passage so far. */
export const MAX_MORE_CHARACTERS = 4_000_000;

/** Characters searched before yielding to the event loop; up to 32 words are looked for in each text. */
const CHARACTERS_PER_TURN = 100_000;

export interface HitText {
  /** The first PASSAGE_CHARACTERS of the text. */
  text: string;
  /** Whether the text is longer. */
  is_cut: boolean;
}

/**
 * Selects the columns of HitText from a text `t`. Short texts are recognized by their byte size, without decompressing
 * them a second time.
 */
export const hitTextColumns = sql`
  case when octet_length(t.text) <= ${PASSAGE_CHARACTERS} then t.text else left(t.text, ${PASSAGE_CHARACTERS}) end as text,
  octet_length(t.text) > ${PASSAGE_CHARACTERS} and length(t.text) > ${PASSAGE_CHARACTERS} as is_cut`;

/**
 * Finds the passage of each hit. If the first part of a long text has no match, `readWhole` reads the whole texts of
 * these hits, up to MAX_MORE_CHARACTERS, and any columns that depend on the position of the passage.
 */
export async function findPassages<Row extends HitText>(
  { rows, terms, phrases }: Hits<Row>,
  idOf: (row: Row) => string,
  readWhole: (ids: string[]) => Promise<(Partial<Row> & { id: string })[]>,
): Promise<(Row & Passage)[]> {
  let sinceTurn = 0;
  const first: { row: Row; passage: Passage }[] = [];
  for (const row of rows) first.push({ row, passage: await passageOf(row.text) });
  const isMissed = ({ row, passage }: { row: Row; passage: Passage }) => !passage.isFound && row.is_cut;
  const missed = first.filter(isMissed).map(({ row }) => idOf(row));
  const whole = new Map((missed.length > 0 ? await readWhole(missed) : []).map((row) => [row.id, row]));
  const found: (Row & Passage)[] = [];
  for (const { row, passage } of first) {
    const more = whole.get(idOf(row));
    const read = { ...row, ...more };
    found.push({ ...read, ...(more ? await passageOf(read.text) : passage) });
  }
  return found;

  /** Returns the passage of the first piece with a match, or of the beginning of the text if no piece matches. */
  async function passageOf(text: string): Promise<Passage> {
    let atBegin: Passage | undefined;
    for (let from = 0; from === 0 || from < text.length; from += PASSAGE_CHARACTERS) {
      const piece = text.slice(from, from + PASSAGE_CHARACTERS + SHARED_CHARACTERS);
      sinceTurn += piece.length;
      if (sinceTurn > CHARACTERS_PER_TURN) {
        sinceTurn = 0;
        await nextTurn();
      }
      const passage = bestPassage(piece, terms, phrases);
      if (passage.isFound) return { ...passage, offset: from + passage.offset };
      atBegin ??= passage;
    }
    return atBegin as Passage;
  }
}
