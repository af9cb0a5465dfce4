import assert from 'node:assert/strict';
import { sql } from '../../../src/platform/db/sql.ts';
import { patience } from '../../until.ts';
import type { FuzzedService } from '../fuzzed-service.ts';

/** Pause between two looks at the jobs. Each look is one statement for all workspaces. */
const LOOK_MS = 30;

interface Waiter {
  resolve(): void;
  reject(error: unknown): void;
  /** Last state of the job, and whether it has been the same for too long. */
  seen: string;
  isTooLong(): boolean;
}

/** Waits for the subscription jobs of many workspaces with one statement. */
export function openJobWatch({ world: { db } }: FuzzedService, wake: () => Promise<unknown>) {
  const waiting = new Map<string, Waiter>();
  let isRunning = false;

  /** Returns whether a worker should be woken: jobs are queued, and none runs. */
  async function look(): Promise<boolean> {
    const asked = [...waiting.keys()];
    // Failed jobs are retried at once.
    const left = await db.query<{ workspace_id: string; status: string; attempt: number; error: string }>(sql`
      with woken as (
        update background_jobs set run_after = now()
        where name = 'sync-subscription' and status = 'queued' and run_after > now() and workspace_id = any (${asked}::text[]))
      select workspace_id, status, attempt, error from background_jobs
      where name = 'sync-subscription' and workspace_id = any (${asked}::text[])`);
    const jobs = Map.groupBy(left, ({ workspace_id }) => workspace_id);
    for (const workspace_id of asked) {
      const waiter = waiting.get(workspace_id);
      const own = jobs.get(workspace_id);
      if (waiter && own) assertProgress(waiter, JSON.stringify(own));
      else waiting.delete(workspace_id);
      if (!own) waiter?.resolve();
    }
    return left.length > 0 && left.every(({ status }) => status === 'queued');
  }

  async function watch(): Promise<void> {
    isRunning = true;
    let wasIdle = false;
    try {
      while (waiting.size > 0) {
        const isIdle = await look();
        if (isIdle && wasIdle) await wake();
        wasIdle = isIdle;
        await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
      }
    } catch (error) {
      for (const { reject } of waiting.values()) reject(error);
      waiting.clear();
    } finally {
      isRunning = false;
    }
  }

  return {
    /**
     * Waits until the workspace has no subscription job. Throws an error of the statement, or one for a job that hangs.
     */
    done(workspace_id: string): Promise<void> {
      return new Promise((resolve, reject) => {
        waiting.set(workspace_id, { resolve, reject, seen: '', isTooLong: patience() });
        if (!isRunning) void watch();
      });
    },
  };
}

function assertProgress(waiter: Waiter, seen: string): void {
  if (seen !== waiter.seen) Object.assign(waiter, { seen, isTooLong: patience() });
  assert.ok(!waiter.isTooLong(), `a job about a subscription hangs: ${seen}`);
}
