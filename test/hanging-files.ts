import { commandLines, signal } from './processes.ts';

const LOOK_MS = 5_000;

/**
 * Kills the process of each of these test files that it has seen for `ms`. The `timeout` of node:test reports such a file, but
 * then waits for its process, which may wait for ever for what hangs in it. Returns how to stop looking.
 */
export function killHangingFiles(bundles: readonly string[], ms: number): () => void {
  let seen = new Map<number, number>();
  async function look(): Promise<void> {
    const now = performance.now();
    const running = (await commandLines()).filter(([, line]) => bundles.some((bundle) => line.includes(` ${bundle} `)));
    seen = new Map(running.map(([pid]) => [pid, seen.get(pid) ?? now]));
    for (const [pid, since] of seen) if (now - since > ms) signal(pid, 'SIGKILL');
  }
  const timer = setInterval(look, LOOK_MS);
  return () => clearInterval(timer);
}
