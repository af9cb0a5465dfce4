import assert from 'node:assert/strict';
import type { Client } from './world.ts';

/** Returns the URL of a Link header's next page; undefined on the last page. */
export function nextOf(link: string | null | undefined): string | undefined {
  return /^<([^>]*)>; rel="next"$/.exec(link ?? '')?.[1];
}

export async function listAll<T>(client: Pick<Client, 'get'>, path: string): Promise<T[]> {
  const records: T[] = [];
  for (let next: string | undefined = `${path}?limit=500`; next !== undefined; ) {
    const { status, headers, body } = await client.get(next);
    assert.equal(status, 200, JSON.stringify(body));
    records.push(...body);
    next = nextOf(headers.get('link'));
  }
  return records;
}
