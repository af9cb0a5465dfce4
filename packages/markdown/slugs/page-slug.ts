import { isSlug, numberedSlug, slugFrom, transliterate } from './slug.ts';

/** The maximum length of a slug, in characters. */
const MAX_LENGTH = 48;

/** A character with its combining marks, such as the vowels of Thai and Indic scripts. */
const CLUSTER = /\P{M}\p{M}*/gu;

/** Half-width kana, whose voicing marks are separate characters. */
const HALF_WIDTH = /[\uff61-\uff9f]+/g;

/** Zero-width joiner and non-joiner: they change the shapes of letters and are not visible. */
const JOINERS = /[\u200c\u200d]/g;

/**
 * Returns the slug of a page. Latin, Greek and Cyrillic letters become lower-case ASCII, as in any slug. Letters, marks
 * and digits of other scripts stay, in lower case and NFC. All other characters become one dash. The slug is truncated
 * to 48 characters. Returns `fallback`, which must be a slug, for a text without letters and digits.
 */
export function pageSlugFrom(text: string, fallback: string): string {
  // ASCII text is by far the most common.
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

/** Tells whether `text` is the slug of a page in the form in which slugs are stored. */
export function isPageSlug(text: string): boolean {
  return isSlug(text) || (text !== '' && pageSlugFrom(text, '') === text);
}

/** Returns the slug `base-n` of a page, with the base truncated to fit. */
export function numberedPageSlug(base: string, n: number): string {
  const ending = `-${n}`;
  return isSlug(base) ? numberedSlug(base, n) : cut(base, MAX_LENGTH - ending.length) + ending;
}

function clusterOf(cluster: string): string {
  const [base = ''] = cluster;
  const ascii = transliterate(base);
  // On letters that become ASCII, marks are accents.
  if (!/[^\p{ASCII}]/u.test(ascii.replace(/[^\p{ASCII}\p{L}\p{M}\p{N}]/gu, ''))) return ascii;
  return cluster.normalize('NFKC').toLowerCase();
}

/** Truncates without separating a character from its marks. */
function cut(dashed: string, most: number): string {
  const characters = [...dashed];
  if (characters.length <= most) return dashed;
  let end = most;
  while (end > 0 && /^\p{M}$/u.test(characters[end] ?? '')) end -= 1;
  return characters.slice(0, end).join('').replace(/-$/, '');
}
