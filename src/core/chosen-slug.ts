import { randomInt } from 'node:crypto';
import { ApiError } from './errors.ts';
import { isSlug, numberedSlug, RESERVED_SLUGS, slugFrom } from './slug.ts';

/** How many numbered slugs are tried before random characters end every collision. */
const NUMBERED = 20;

const RANDOM = 4;

/** How often a statement that takes the first free candidate is tried; only a lost race needs a second time. */
export const SLUG_ATTEMPTS = 10;

/** Of many who take the first free number at once only one gets it; whoever lost this often takes a random one. */
const RACES_MAX = 4;

/**
 * The slugs that a record may take, in order of preference: the one that was asked for alone, or those that its name
 * leads to: itself, `-2`, `-3`, …, then with random characters, so that making one never fails. 400 `invalid_slug`
 * and 409 `slug_taken` (reserved words are taken) as values, for the caller to answer in the order of checks.
 */
export function slugCandidates(
  given: string | null | undefined,
  name: string,
  fallback: string,
  reserved: ReadonlySet<string> = RESERVED_SLUGS,
): string[] | ApiError {
  if (typeof given === 'string') {
    if (!isSlug(given)) {
      return new ApiError('invalid_slug', 'A slug is 1 to 48 of a-z, 0-9 and single dashes, neither first nor last.');
    }
    return reserved.has(given) ? slugTaken(given) : [given];
  }
  const base = slugFrom(name, fallback);
  const numbered = Array.from({ length: NUMBERED }, (_, i) => (i === 0 ? base : numberedSlug(base, i + 1)));
  const random = Array.from({ length: RANDOM }, () => numberedSlug(base, randomInt(10 ** 9, 10 ** 10)));
  return [...numbered, ...random].filter((slug) => !reserved.has(slug));
}

/** The candidates of one attempt, from 0 to SLUG_ATTEMPTS. */
export function candidatesAt(attempt: number, slugs: string[]): string[] {
  return attempt < RACES_MAX ? slugs : slugs.slice(-RANDOM);
}

export function slugTaken(slug: string): ApiError {
  return new ApiError('slug_taken', `The slug "${slug}" is taken. Choose another, or send none to get a free one.`);
}
