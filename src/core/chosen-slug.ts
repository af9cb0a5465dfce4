import { randomInt } from 'node:crypto';
import { ApiError } from './errors.ts';
import { isSlug, numberedSlug, RESERVED_SLUGS, slugFrom } from './slug.ts';

/** How many numbered slugs are tried before random ones. */
const NUMBERED = 20;

const RANDOM = 4;

/**
 * How many times a statement that takes the first free candidate is attempted; only a lost race needs a second attempt.
 */
export const SLUG_ATTEMPTS = 10;

/**
 * Concurrent writers try the same first free number and only one gets it; after this many lost races the random
 * candidates are used.
 */
const RACES_MAX = 4;

/**
 * The candidates for a record's slug, in order of preference: only `given` if the client sent one; else the slug of the
 * name, `-2`, `-3`, …, then random suffixes, so that creating a record never fails. Returns (does not throw) 400
 * `invalid_slug` and 409 `slug_taken` (also for reserved words), for the caller to raise in the order of checks.
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

/** The candidates of an attempt, counted from 0. */
export function candidatesAt(attempt: number, slugs: string[]): string[] {
  return attempt < RACES_MAX ? slugs : slugs.slice(-RANDOM);
}

export function slugTaken(slug: string): ApiError {
  return new ApiError('slug_taken', `The slug "${slug}" is taken. Choose another, or send none to get a free one.`);
}
