import type { Run } from '../page/lines.ts';

/** The marks at the beginning of list items. */
export const BULLET = /^\s*[•‣◦▪●○■–*·-]\s+(?=\S)/;
export const NUMBER = /^\s*\(?(?:\d{1,3}|[a-z]|[ivx]{1,5})[.)]\s+(?=\S)/;

/** The mark of an entry in a list of references. */
const ENTRY = /^\[[^\]]{1,12}\]$/;

/** Whether words consist of the mark of an item alone. */
export function isMark(words: string): boolean {
  return BULLET.test(`${words} x`) || NUMBER.test(`${words} x`) || ENTRY.test(words);
}

/** Splits the bullet or number from the text of an item, which may be a link. */
export function readItem(runs: readonly Run[]): { ordered: boolean; start: number; runs: Run[] } {
  // A mark is short, so the rest of the text is not examined.
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
