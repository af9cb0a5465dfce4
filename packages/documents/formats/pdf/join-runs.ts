import { areIdeographs } from './page/characters.ts';
import { addRun, type Run } from './page/lines.ts';

/** Words that the document writes with a hyphen elsewhere, in lower case: at the end of a line they keep it. */
export type Hyphenated = ReadonlySet<string>;

/** The maximum length of a word that is broken at the end of a line. */
const WORD_MAX = 100;
const HYPHENS = '-\u00ad\u2010';

/** Appends a line to a paragraph and removes a hyphen at its end, unless the word is hyphenated anyway. */
export function joinRuns(runs: Run[], more: readonly Run[], hyphenated: Hyphenated): void {
  const last = runs.at(-1);
  const next = more[0];
  if (!last || !next) return;
  const end = last.text.trimEnd();
  const start = next.text.trimStart();
  // Only the last word is examined: the paragraph grows with every line.
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
