import { isSlug, numberedSlug, slugFrom, transliterate } from './slug.ts';

/** The maximum length of a slug, in characters. */
const MAX_LENGTH = 48;

/** A character with the marks on it: vowels of Thai and the scripts of India are marks. */
const CLUSTER = /\P{M}\p{M}*/gu;

/** Half-width kana, of which voicing marks are characters of their own. */
const HALF_WIDTH = /[\uff61-\uff9f]+/g;

/** What ends or begins between letters without a sign of its own (zero-width joiner and non-joiner). */
const JOINERS = /[\u200c\u200d]/g;

/**
 * The slug of a page: Latin, Greek and Cyrillic letters in lower-case ASCII, as in any slug; letters, marks and digits of other
 * scripts as they are, in lower case and NFC; everything else is one dash. Cut to 48 characters. `fallback`, which must be a
 * slug, for a text without letters and digits.
 */
export function pageSlugFrom(text: string, fallback: string): string {
  // ASCII, and what becomes ASCII, is by far the most.
  const start = text.slice(0, 4096);
  if (/^\p{ASCII}*$/u.test(start)) return slugFrom(start, fallback);
  const whole = start.replace(HALF_WIDTH, (kana) => kana.normalize('NFKC'));
  const letters = whole.normalize('NFC').toLowerCase().replace(JOINERS, '').replace(CLUSTER, clusterOf);
  const dashed = letters
    .normalize('NFC')
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, '-')
    .replace(/^-|-$/g, '');
  return cut(dashed, MAX_LENGTH) || fallback;
}

/** Whether `text` is the slug of a page in the form in which slugs are stored. */
export function isPageSlug(text: string): boolean {
  return isSlug(text) || (text !== '' && pageSlugFrom(text, '') === text);
}

/** The slug `base-n` of a page, with the base cut to fit. */
export function numberedPageSlug(base: string, n: number): string {
  const ending = `-${n}`;
  return isSlug(base) ? numberedSlug(base, n) : cut(base, MAX_LENGTH - ending.length) + ending;
}

function clusterOf(cluster: string): string {
  const [base = ''] = cluster;
  const ascii = transliterate(base);
  // Of letters that become ASCII the marks are accents.
  if (!/[^\p{ASCII}]/u.test(ascii.replace(/[^\p{ASCII}\p{L}\p{M}\p{N}]/gu, ''))) return ascii;
  return cluster.normalize('NFKC').toLowerCase();
}

/** Cuts at a whole character, with its marks. */
function cut(dashed: string, most: number): string {
  const characters = [...dashed];
  if (characters.length <= most) return dashed;
  let end = most;
  while (end > 0 && /^\p{M}$/u.test(characters[end] ?? '')) end -= 1;
  return characters.slice(0, end).join('').replace(/-$/, '');
}
