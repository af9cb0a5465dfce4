import { openSizedCache } from '../../src/platform/core/sized-cache.ts';
import type { Api } from '../api.ts';
import type { Branch } from '../elements/branch.ts';

/**
 * Cache of the branches at the root of recently shown trees, by API path. The API validates each entry by its ETag,
 * under the reader's permissions.
 */
const known = openSizedCache<{ etag: string; branches: readonly Branch[] }>(4 * 2 ** 20);
/** Approximate bytes of an entry without its path and title. */
const BRANCH_BYTES = 300;

/**
 * Returns the branches at an API path: the same array as long as they have not changed. `reader`: the part of the cache
 * key other than the path.
 */
export async function loadUnlessKnown(api: Api, path: string, reader: string): Promise<readonly Branch[]> {
  const last = knownBranches(path, reader);
  const { body, etag } = await api.getUnlessKnown<Branch[]>(path, last?.etag ?? '');
  return body === undefined ? (last?.branches ?? []) : keepBranches(path, reader, etag, body);
}

/** Returns the cached branches at an API path. */
export function knownBranches(path: string, reader: string) {
  return known.get(`${reader} ${path}`);
}

export function keepBranches(
  path: string,
  reader: string,
  etag: string,
  branches: readonly Branch[],
): readonly Branch[] {
  const bytes = branches.reduce((sum, it) => sum + BRANCH_BYTES + 2 * (it.path.length + it.title.length), 0);
  known.set(`${reader} ${path}`, { etag, branches }, bytes);
  return branches;
}
