import { setImmediate as nextTurn } from 'node:timers/promises';
import { sql } from '../../../platform/db/sql.ts';
import type { Hits } from './search.ts';
import { bestPassage, type Passage } from './snippet.ts';

/** How much of each text is searched for a passage at first. */
export const PASSAGE_CHARACTERS = 100_000;
/** What the pieces of a longer text share, so that no phrase is cut. */
const SHARED_CHARACTERS = 2_000;
/** How much more is read of long texts in which no passage was found so far, of all hits together. */
export const MAX_MORE_CHARACTERS = 4_000_000;

/** How much text is searched in a turn of the event loop: up to 32 words are looked for in each. */
const CHARACTERS_PER_TURN = 100_000;

export interface HitText {
  /** The first PASSAGE_CHARACTERS of it. */
  text: string;
  /** Whether there is more of it. */
  is_cut: boolean;
}

/** The columns of HitText, of a text `t` of the database. The size of a short one is known without decompressing it a second time. */
export const hitTextColumns = sql`
  case when octet_length(t.text) <= ${PASSAGE_CHARACTERS} then t.text else left(t.text, ${PASSAGE_CHARACTERS}) end as text,
  octet_length(t.text) > ${PASSAGE_CHARACTERS} and length(t.text) > ${PASSAGE_CHARACTERS} as is_cut`;

/**
 * The passage of each hit. Where the words are not in the first part of a long text, `readWhole` reads the whole of it:
 * the texts that the hits' ids name, up to MAX_MORE_CHARACTERS, with what else depends on the place.
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

  /** The passage of the first piece of a text that has one, else that of its beginning. */
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
