import type { OnStop } from './hooks.ts';

/** Collects functions that stop the parts of a service; `stop` calls them in reverse order. */
export function stopInReverse(): { onStop: OnStop; stop(): Promise<void> } {
  const stops: (() => Promise<unknown>)[] = [];
  return {
    onStop: (end) => void stops.push(end),
    async stop() {
      const failures: unknown[] = [];
      // Stop dependencies even if a part fails to stop.
      for (const end of stops.splice(0).reverse()) await end().catch((error: unknown) => failures.push(error));
      if (failures.length > 0) throw failures[0];
    },
  };
}
