import { setTimeout as sleep } from 'node:timers/promises';

/**
 * A read for scrapes that waits for at most `timeoutMs` and then returns undefined, as it does when it fails. A slow read is
 * awaited by the scrapes that follow, so that they do not add to its load.
 */
export function sharedRead<T>(
  read: () => Promise<T>,
  timeoutMs: number,
  onFailed: (error: unknown) => void,
): () => Promise<T | undefined> {
  let reading: Promise<T | undefined> | undefined;
  const start = () =>
    (reading ??= read()
      .catch((error: unknown) => {
        // The other metrics are most useful while the database is down.
        onFailed(error);
        return undefined;
      })
      .finally(() => {
        reading = undefined;
      }));
  return () => Promise.race([start(), sleep(timeoutMs, undefined, { ref: false })]);
}
