/** Numbers count as numbers: chapter 2 comes before chapter 10. */
const { compare } = new Intl.Collator('en', { numeric: true, sensitivity: 'base' });
/** What stands for its folder comes first in it. */
const FIRST = /^(?:index|readme)\.[^./]+$/i;

/**
 * Compares the names of files and folders (paths with `/`) in the order that people read them in: folder by folder, each
 * behind its own page, an index or readme first, then by name with numbers as numbers.
 */
export function byReadingOrder(a: string, b: string): number {
  const [left, right] = [a.split('/'), b.split('/')];
  for (let i = 0; i < Math.min(left.length, right.length); i += 1) {
    const [one = '', other = ''] = [left[i], right[i]];
    if (one === other) continue;
    const isFirst = [i === left.length - 1 && FIRST.test(one), i === right.length - 1 && FIRST.test(other)];
    if (isFirst[0] !== isFirst[1]) return isFirst[0] ? -1 : 1;
    // Names that only differ in case or marks are in some fixed order.
    return compare(one, other) || (one < other ? -1 : 1);
  }
  return left.length - right.length;
}
