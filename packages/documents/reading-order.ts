import { type GivenOrder, UNLISTED } from './order/given-order.ts';

/** Numbers count as numbers: chapter 2 comes before chapter 10. */
const { compare } = new Intl.Collator('en', { numeric: true, sensitivity: 'base' });
/** An index file comes first in its folder. */
const FIRST = /^(?:index|readme)\.[^./]+$/i;

const NOT_GIVEN: GivenOrder = { listed: new Map(), weights: new Map() };

/**
 * Compares the names of files and folders (paths with `/`) in reading order: folder by folder, each after its own page.
 * In a folder, listed names come first, then names by weight, then the rest by name with numbers as numbers. An index
 * or readme precedes all of them unless it is listed.
 */
export function byReadingOrder(a: string, b: string, given: GivenOrder = NOT_GIVEN): number {
  const [left, right] = [a.split('/'), b.split('/')];
  for (let i = 0; i < Math.min(left.length, right.length); i += 1) {
    const [one = '', other = ''] = [left[i], right[i]];
    if (one === other) continue;
    const placeOf = (segments: readonly string[]) => {
      const name = segments.slice(0, i + 1).join('/');
      const isFirst = i === segments.length - 1 && FIRST.test(segments[i] ?? '');
      const unlisted = isFirst ? -1 : UNLISTED;
      return { listed: given.listed.get(name) ?? unlisted, weight: given.weights.get(name) ?? Infinity };
    };
    const [l, r] = [placeOf(left), placeOf(right)];
    if (l.listed !== r.listed) return l.listed - r.listed;
    if (l.weight !== r.weight) return l.weight - r.weight;
    // Break ties of names that differ only in case or marks.
    return compare(one, other) || (one < other ? -1 : 1);
  }
  return left.length - right.length;
}
