import { openSizedCache } from '../../src/platform/core/sized-cache.ts';
import type { Api } from '../api.ts';
import type { Branch } from '../elements/branch.ts';

/**
 * What trees begin with that were shown lately, by the path of the API. The API says each time whether it is still what the reader
 * would see.
 */
const known = openSizedCache<{ etag: string; branches: readonly Branch[] }>(4 * 2 ** 20);
/** About what an entry takes beside its path and title. */
const BRANCH_BYTES = 300;

/** The branches at a path of the API: the same array as long as they are the same. `reader`: what they depend on beside the path. */
export async function loadUnlessKnown(api: Api, path: string, reader: string): Promise<readonly Branch[]> {
  const last = knownBranches(path, reader);
  const { body, etag } = await api.getUnlessKnown<Branch[]>(path, last?.etag ?? '');
  return body === undefined ? (last?.branches ?? []) : keepBranches(path, reader, etag, body);
}

/** What is known to begin at a path of the API. */
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
