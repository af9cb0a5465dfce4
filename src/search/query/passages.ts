import { sql } from '../../db/sql.ts';
import type { Hits } from './search.ts';
import { bestPassage, type Passage } from './snippet.ts';

/** How much of each text is searched for a passage at first. */
export const PASSAGE_CHARACTERS = 100_000;
/** How much more is read of long texts in which no passage was found so far, of all hits together. */
export const MAX_MORE_CHARACTERS = 4_000_000;

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
  const first = rows.map((row) => ({ row, passage: bestPassage(row.text, terms, phrases) }));
  const isMissed = ({ row, passage }: { row: Row; passage: Passage }) => !passage.isFound && row.is_cut;
  const missed = first.filter(isMissed).map(({ row }) => idOf(row));
  const whole = new Map((missed.length > 0 ? await readWhole(missed) : []).map((row) => [row.id, row]));
  return first.map(({ row, passage }) => {
    const more = whole.get(idOf(row));
    if (!more) return { ...row, ...passage };
    const read = { ...row, ...more };
    return { ...read, ...bestPassage(read.text, terms, phrases) };
  });
}
