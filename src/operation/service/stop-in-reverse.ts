import type { OnStop } from './hooks.ts';

/** Collects how to stop what is started; `stop` does it in the reverse order. */
export function stopInReverse(): { onStop: OnStop; stop(): Promise<void> } {
  const stops: (() => Promise<unknown>)[] = [];
  return {
    onStop: (end) => void stops.push(end),
    async stop() {
      const failures: unknown[] = [];
      // If one part fails to stop, its dependencies are stopped nevertheless.
      for (const end of stops.splice(0).reverse()) await end().catch((error: unknown) => failures.push(error));
      if (failures.length > 0) throw failures[0];
    },
  };
}
