import { areIdeographs } from './page/characters.ts';
import { addRun, type Run } from './page/lines.ts';

/** Words that the document hyphenates elsewhere, in lower case: at a line end they keep their hyphen. */
export type Hyphenated = ReadonlySet<string>;

/** The maximum length of a word that is broken at the end of a line, in UTF-16 units. */
const WORD_MAX = 100;
const HYPHENS = '-\u00ad\u2010';

/** Appends a line to a paragraph and removes a hyphen at the join, unless the word is written with one. */
export function joinRuns(runs: Run[], more: readonly Run[], hyphenated: Hyphenated): void {
  const last = runs.at(-1);
  const next = more[0];
  if (!last || !next) return;
  const end = last.text.trimEnd();
  const start = next.text.trimStart();
  // Examine the last word only, because the paragraph grows with every line.
  const isBroken = HYPHENS.includes(end.at(-1) ?? ' ');
  const [word = ''] = (isBroken && /[\p{L}\p{N}-]*\p{L}$/u.exec(end.slice(-WORD_MAX, -1))) || [];
  const [following = ''] = /^[\p{L}\p{N}]+/u.exec(start) ?? [];
  let separator = areIdeographs(end, start) ? '' : ' ';
  last.text = end;
  if (word !== '' && following !== '') {
    separator = '';
    const isCompound = hyphenated.has(`${word}-${following}`.toLowerCase()) || !/^\p{Ll}/u.test(following);
    if (!isCompound) last.text = end.slice(0, -1);
  }
  for (const [i, run] of more.entries()) addRun(runs, i === 0 ? separator + start : run.text, run.url);
}
