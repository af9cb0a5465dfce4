/** The maximum length of a slug in characters. */
const MAX_LENGTH = 48;
const SLUG = /^[a-z0-9](?:[a-z0-9-]{0,46}[a-z0-9])?$/;

/** Words that a path or a host name of the service may need; no workspace and no wiki may use them as a slug. */
export const RESERVED_SLUGS: ReadonlySet<string> = new Set(
  (
    'api app www admin v1 login logout signup sign-in oauth auth mcp static assets docs help status billing settings ' +
    'search new me'
  ).split(' '),
);

/**
 * Transliterations of letters that do not decompose to ASCII: Latin, then Greek, then Cyrillic (where й, ё and ї are
 * letters, not и, е and і with a mark).
 */
const LETTERS: ReadonlyMap<string, string> = new Map(
  (
    'ß-ss æ-ae œ-oe ø-o ł-l đ-d ð-d þ-th ħ-h ı-i ŋ-n ĸ-k ŧ-t ə-e ɓ-b ɗ-d ƙ-k ɣ-g ' +
    'α-a β-v γ-g δ-d ε-e ζ-z η-i θ-th ι-i κ-k λ-l μ-m ν-n ξ-x ο-o π-p ρ-r σ-s ς-s τ-t υ-y φ-f χ-ch ψ-ps ω-o ' +
    'а-a б-b в-v г-g ґ-g д-d е-e ё-yo є-ye ж-zh з-z и-i і-i ї-yi й-y к-k л-l м-m н-n о-o п-p р-r с-s т-t у-u ў-u ' +
    'ф-f х-kh ц-ts ч-ch ш-sh щ-shch ъ- ы-y ь- э-e ю-yu я-ya ђ-dj ѓ-gj ѕ-dz ј-j љ-lj њ-nj ћ-c ќ-kj џ-dz'
  )
    .split(' ')
    .map((pair) => pair.split('-') as [string, string]),
);

/** Tells whether `text` is a well-formed slug: 1 to 48 of a-z, 0-9 and single dashes, neither first nor last. */
export function isSlug(text: string): boolean {
  return SLUG.test(text) && !text.includes('--');
}

/**
 * Returns the slug of a text: Latin, Greek and Cyrillic letters become lower-case ASCII, all other characters become
 * one dash, and the result is truncated to 48 characters. Returns `fallback`, which must be a slug, for text of other
 * scripts only (Chinese, Arabic, …). The result can be a reserved slug; callers check RESERVED_SLUGS.
 */
export function slugFrom(text: string, fallback: string): string {
  // A slug is short, but a text can be a megabyte.
  const start = text.slice(0, 4096).normalize('NFC').toLowerCase();
  const ascii = start.replace(/[^\p{ASCII}]/gu, transliterate);
  return truncate(ascii.replace(/[^a-z0-9]+/g, '-').replace(/^-/, ''), MAX_LENGTH) || fallback;
}

/** Returns the slug `base-n`, with the base truncated to fit. */
export function numberedSlug(base: string, n: number): string {
  const ending = `-${n}`;
  return truncate(base, MAX_LENGTH - ending.length) + ending;
}

function truncate(dashed: string, length: number): string {
  return dashed.slice(0, length).replace(/-$/, '');
}

/** Transliterates a letter to lower-case ASCII if it is Latin, Greek or Cyrillic; returns other letters decomposed. */
export function transliterate(letter: string): string {
  const known = LETTERS.get(letter);
  if (known !== undefined) return known;
  // Compatibility characters may decompose to capitals (ℌ, ㎒).
  const bare = letter.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  return bare.replace(/[^\p{ASCII}]/gu, (part) => LETTERS.get(part) ?? part);
}
