import { until } from './until.ts';
import type { Client } from './world.ts';

/**
 * Returns the verification of the source at a path. The service reads the file again in the same queue as previews;
 * while the queue is full (429, 503), the request is retried.
 */
export function verificationOf(client: Pick<Client, 'get'>, source: string) {
  return until(`the verification of ${source}`, async () => {
    const { status, body } = await client.get(`${source}/verification`);
    return status === 429 || status === 503 ? undefined : body;
  });
}
