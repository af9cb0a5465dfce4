import type { Page } from '../../../src/wiki/pages/schema.ts';
import type { Api } from '../../api.ts';
import { loadPeople, type Reader } from '../../people/load-people.ts';

/** Loads the names of the users who changed the pages last, by user_id. */
export async function loadNames(
  api: Api,
  reader: Reader,
  pages: readonly Page[],
): Promise<ReadonlyMap<string, string>> {
  const people = await loadPeople(
    api,
    reader,
    pages.map(({ updated_by }) => updated_by),
  );
  return new Map([...people].map(([user_id, { display_name }]) => [user_id, display_name]));
}
