import { setTimeout as delay } from 'node:timers/promises';
import { commandLines, parentPids, signal } from '../processes.ts';

const GRACE_MS = 3_000;
const LOOK_MS = 50;

/**
 * Ends every process that a run started: descendants of `pid`, and processes with `folder` in their command lines, such
 * as a PostgreSQL whose service was killed. Sends SIGTERM, and SIGKILL to processes that are still running after 3 s.
 */
export async function endProcesses(pid: number, folder: string): Promise<void> {
  // Find them before the first signal: children of an ended process get another parent.
  const found = new Set(await startedBy(pid, folder));
  for (const each of found) signal(each, 'SIGTERM');
  for (const until = performance.now() + GRACE_MS; performance.now() < until; await delay(LOOK_MS)) {
    for (const each of await startedBy(pid, folder)) found.add(each);
    const alive = await running(found);
    if (alive.length === 0) return;
  }
  for (const each of await running(found)) signal(each, 'SIGKILL');
}

async function startedBy(pid: number, folder: string): Promise<number[]> {
  const [parents, lines] = [await parentPids(), await commandLines()];
  const isDescendant = (each: number | undefined): boolean =>
    each !== undefined && each > 1 && (parents.get(each) === pid || isDescendant(parents.get(each)));
  return lines
    .filter(([each, line]) => each !== pid && (isDescendant(each) || line.includes(folder)))
    .map(([each]) => each);
}

async function running(pids: ReadonlySet<number>): Promise<number[]> {
  const all = new Set((await parentPids()).keys());
  return [...pids].filter((pid) => all.has(pid));
}
