import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Returns a read for scrapes that yields undefined on failure or after `timeoutMs`. Later scrapes share a slow read
 * instead of adding to the load.
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
        // Report the other metrics, which are most useful while the database is down.
        onFailed(error);
        return undefined;
      })
      .finally(() => {
        reading = undefined;
      }));
  return () => Promise.race([start(), sleep(timeoutMs, undefined, { ref: false })]);
}
