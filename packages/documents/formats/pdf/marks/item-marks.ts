import type { Run } from '../page/lines.ts';

/** What an item of a list begins with. */
export const BULLET = /^\s*[•‣◦▪●○■–*·-]\s+(?=\S)/;
export const NUMBER = /^\s*\(?(?:\d{1,3}|[a-z]|[ivx]{1,5})[.)]\s+(?=\S)/;

/** The number in front of an entry of a list of references. */
const ENTRY = /^\[[^\]]{1,12}\]$/;

/** Whether words are nothing but the mark of an item. */
export function isMark(words: string): boolean {
  return BULLET.test(`${words} x`) || NUMBER.test(`${words} x`) || ENTRY.test(words);
}

/** The text after the bullet or number, which may be a link, and whether the list is numbered. */
export function readItem(runs: readonly Run[]): { ordered: boolean; start: number; runs: Run[] } {
  // A mark is short; the rest of the text is not looked at.
  const beginning = runs
    .slice(0, 3)
    .map(({ text }) => text.slice(0, 20))
    .join('');
  const number = /^\s*\(?(\d{1,3})[.)]\s+/.exec(beginning);
  const [mark = ''] = number ?? BULLET.exec(beginning) ?? [];
  let left = mark.length;
  const rest = runs.map((run) => {
    const text = run.text.slice(left);
    left = Math.max(0, left - run.text.length);
    return { ...run, text };
  });
  return {
    ordered: number !== null,
    start: Number(number?.[1] ?? 1),
    runs: rest.filter(({ text }, i) => text !== '' || i === rest.length - 1),
  };
}
