import type { TextItem } from './placed-texts.ts';

/** The minimum number of characters in a column; shorter stacks are labels. */
const COLUMN_MIN = 8;
/** Tolerances of a column in font sizes: the sideways offset, and the distance between two characters. */
const ASIDE = 0.3;
const STEP = { from: 0.8, to: 1.8 };

const CHARACTER = /^\s*[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\u3000-\u303f\uff00-\uff60ー]\s*$/u;

/**
 * Finds Chinese and Japanese characters that a program writes one by one from top to bottom: columns of vertical text.
 */
export function stackedTexts(items: readonly TextItem[]): Set<TextItem> {
  const stacked = new Set<TextItem>();
  let column: TextItem[] = [];
  const end = () => {
    if (column.length >= COLUMN_MIN) for (const item of column) stacked.add(item);
    column = [];
  };
  for (const item of items) {
    const last = column.at(-1);
    if (!CHARACTER.test(item.str) || (last && !isBelow(item, last))) end();
    if (CHARACTER.test(item.str)) column.push(item);
  }
  end();
  // The last column of a text may be short.
  if (stacked.size > 0 && 2 * stacked.size > items.length)
    for (const item of items) if (CHARACTER.test(item.str)) stacked.add(item);
  return stacked;
}

function isBelow({ transform }: TextItem, above: TextItem): boolean {
  const [a = 0, b = 0, , , x = 0, y = 0] = transform;
  const size = Math.hypot(a, b);
  const gap = (above.transform[5] ?? 0) - y;
  const isAside = Math.abs((above.transform[4] ?? 0) - x) > ASIDE * size;
  return b === 0 && a > 0 && !isAside && gap >= STEP.from * size && gap <= STEP.to * size;
}
