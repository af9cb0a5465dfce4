import { randomInt } from 'node:crypto';
import { isPageSlug, numberedPageSlug, pageSlugFrom } from '@ibid/markdown/slugs/page-slug.ts';
import { isSlug, numberedSlug, RESERVED_SLUGS, slugFrom } from '@ibid/markdown/slugs/slug.ts';
import { ApiError } from './errors.ts';

/** Number of numbered slugs to try before random ones. */
const NUMBERED_CANDIDATES = 20;

const RANDOM_CANDIDATES = 4;

/** Maximum attempts of a statement that takes the first free candidate. Only a lost race needs a second attempt. */
export const SLUG_ATTEMPTS = 10;

/**
 * Concurrent writers all try the same first free number and only one gets it. After this many lost races a writer tries
 * the random candidates.
 */
const MAX_LOST_RACES = 4;

/**
 * Returns the candidates for a record's slug in order of preference. The only candidate is `requested` if the client
 * sent one; otherwise the slug of the name, `-2`, `-3`, …, then random suffixes, so that creating a record never fails.
 * Returns (does not throw) 400 `invalid_slug` and 409 `slug_taken` (also for reserved words), so that the caller can
 * raise them in its order of checks.
 */
export function slugCandidates(
  requested: string | null | undefined,
  name: string,
  fallback: string,
  reserved: ReadonlySet<string> = RESERVED_SLUGS,
): string[] | ApiError {
  if (typeof requested === 'string') {
    if (!isSlug(requested)) {
      return new ApiError(
        'invalid_slug',
        'A slug has 1 to 48 characters: a-z, 0-9 and single hyphens, but no hyphen at the start or end.',
      );
    }
    return reserved.has(requested) ? slugTaken(requested) : [requested];
  }
  return candidatesFrom(slugFrom(name, fallback), numberedSlug).filter((slug) => !reserved.has(slug));
}

/**
 * Like `slugCandidates`, for pages: their slugs may contain letters of any script, and only the slugs in `reserved` are
 * reserved. After a requested slug come others to offer if it is taken.
 */
export function pageSlugCandidates(
  requested: string | null | undefined,
  name: string,
  reserved: ReadonlySet<string> = new Set(),
): string[] | ApiError {
  if (typeof requested === 'string') {
    return isPageSlug(requested) ? candidatesFrom(requested, numberedPageSlug) : malformedPageSlug();
  }
  return candidatesFrom(pageSlugFrom(name, 'page'), numberedPageSlug).filter((slug) => !reserved.has(slug));
}

export function malformedPageSlug(): ApiError {
  const letters = 'lower-case letters (Latin, Greek and Cyrillic ones as a-z), digits and single hyphens';
  return new ApiError(
    'invalid_slug',
    `A page slug has 1 to 48 characters: ${letters}, but no hyphen at the start or end.`,
  );
}

function candidatesFrom(base: string, numberedFrom: (base: string, n: number) => string): string[] {
  const numbered = Array.from({ length: NUMBERED_CANDIDATES }, (_, i) => (i === 0 ? base : numberedFrom(base, i + 1)));
  const random = Array.from({ length: RANDOM_CANDIDATES }, () => numberedFrom(base, randomInt(10 ** 9, 10 ** 10)));
  return [...numbered, ...random];
}

/** Returns the candidates to try in an attempt, counted from 0. */
export function candidatesForAttempt(attempt: number, slugs: string[]): string[] {
  return attempt < MAX_LOST_RACES ? slugs : slugs.slice(-RANDOM_CANDIDATES);
}

/** `free`: a slug to choose instead, if one was looked up. */
export function slugTaken(slug: string, free?: string | null): ApiError {
  const advice = free ? `"${free}" is free. Choose it or another` : 'Choose another';
  return new ApiError('slug_taken', `The slug "${slug}" is taken. ${advice}, or omit it to get a free one.`);
}
