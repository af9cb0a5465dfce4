import { PATH_MAX } from '@ibid/markdown/wiki-links.ts';
import { ApiError } from '../../platform/core/errors.ts';
import { readTitle } from '../../platform/core/titles.ts';

/** The workspace and user to whose share of the rendering queue a text is charged. */
export interface RenderingCaller {
  workspace_id: string;
  user_id: string;
}

/** Returns 413 if the text is longer than a page may be. */
export function checkMarkdown(markdown: string, bytes: number): ApiError | undefined {
  if (Buffer.byteLength(markdown) <= bytes) return undefined;
  return new ApiError('payload_too_large', `The text of a page can have at most ${bytes} bytes of UTF-8. Split it.`);
}

/** Trims a title. Returns undefined if none is given, or an ApiError if it is invalid. */
export function readOptionalTitle(title: string | undefined): string | undefined | ApiError {
  return title === undefined ? undefined : readTitle(title);
}

/** Returns the revision of the ETag that If-Match names. */
export function revisionOf(ifMatch: string): number | ApiError {
  const revision = /^"(\d{1,9})-[\w-]+"$/.exec(ifMatch.trim())?.[1];
  if (revision !== undefined) return Number(revision);
  return new ApiError('invalid_request', 'If-Match must be the ETag of a read of this page.');
}

export function editConflict(wanted: number, present: number): ApiError {
  return new ApiError(
    'edit_conflict',
    `The page is at revision ${present}, but your text is based on revision ${wanted}. Read both (/revisions/${wanted} and ` +
      `/revisions/${present} of the page), merge them with your text, and send the result with base_revision ${present}.`,
  );
}

export function noSuchParent(): ApiError {
  return new ApiError('invalid_request', 'parent_page_id is not a page of this wiki. Send "" for the root.');
}

/**
 * Translates the database's error for a path that is too long, which may also be the path of a page below the moved
 * one.
 */
export function asPathError(error: unknown): unknown {
  const { code, constraint } = error as { code?: string; constraint?: string };
  if (code !== '23514' || constraint !== 'pages_path_length') return error;
  return new ApiError(
    'invalid_request',
    `A path can have at most ${PATH_MAX} characters, including the paths of the pages below.`,
  );
}
