import { setTimeout as delay } from 'node:timers/promises';
import type { RawAnswer } from './raw-http.ts';

/** Maximum number of retries. A service that is overloaded for one caller for that long is broken. */
const TIMES = 20;
const OF_LOAD = ['overloaded', 'time_limit_exceeded'];
/** Unlike "Too many requests" or "Too many guesses", which count a caller's requests over time. */
const TOO_MANY_AT_ONCE = /^Too many (?:.* at once|previews|texts to save)\./;

let inProgress = 0;
/** Resolves when no request is being retried. */
let alone: Promise<unknown> = Promise.resolve();

/** Returns whether an overloaded service refused the request without doing anything. */
function isRefusedForLoad({ status, headers, body }: RawAnswer): boolean {
  const isOfLoad =
    status === 503 ? OF_LOAD.includes(body.error) : status === 429 && TOO_MANY_AT_ONCE.test(body.message);
  return isOfLoad && headers['retry-after'] !== undefined;
}

/**
 * Retries a request while the service refuses it because the machine is busy, with no other request of this process in
 * progress. For tests that need the answer and are not about load.
 */
export async function sendUntilAnswered(send: () => Promise<RawAnswer>): Promise<RawAnswer> {
  await alone;
  inProgress += 1;
  const first = await send().finally(() => (inProgress -= 1));
  if (!isRefusedForLoad(first)) return first;
  const again = alone.then(async () => {
    let answer = first;
    for (let i = 0; i < TIMES && isRefusedForLoad(answer); i++) {
      await delay(Math.min(5, Number(answer.headers['retry-after'])) * 1_000);
      while (inProgress > 0) await delay(10);
      answer = await send();
    }
    return answer;
  });
  alone = again.catch(() => undefined);
  return again;
}
