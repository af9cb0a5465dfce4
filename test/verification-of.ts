import { until } from './until.ts';
import type { Client } from './world.ts';

/**
 * The verification of the source at a path. It reads the file again when it is its turn, as previews are rendered: while
 * there is no room (429, 503) it is asked for again.
 */
export function verificationOf(client: Pick<Client, 'get'>, source: string) {
  return until(`the verification of ${source}`, async () => {
    const { status, body } = await client.get(`${source}/verification`);
    return status === 429 || status === 503 ? undefined : body;
  });
}
