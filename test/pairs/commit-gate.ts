import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { sql } from '../../src/platform/db/sql.ts';
import { cleanUp } from '../clean-up.ts';
import { patience } from '../until.ts';
import type { World } from '../world.ts';

/**
 * Advisory locks. The test holds GATE; the first transaction that reaches its commit takes FIRST and waits for GATE.
 */
const GATE = 71_001;
const FIRST = 71_002;

/** Columns that record the use of a credential, which is not part of a write. */
const OF_USE = '{last_used_at,last_workspace_id,access_expires_at}';

/** Tables whose rows record the progress of work, not its results. */
const UNGATED = [
  'workers',
  'background_jobs',
  'schedules',
  'limit_counts',
  'service_controls',
  'blobs',
  'wal_timelines',
];

/** Holds the first of two writes immediately before its commit, with all its locks. */
export interface CommitGate {
  /**
   * Runs `first` up to its commit, then `second` until it is done or waits for a lock, and lets both end. `at`: holds
   * the transaction of `first` that has written to this table. `wasHeld`: whether `first` was held. `hasWaited`:
   * whether `second` had to wait.
   */
  run<T>(first: () => Promise<T>, second: () => Promise<T>, at?: string): Promise<Meeting<T>>;
}

interface Meeting<T> {
  answers: [T, T];
  wasHeld: boolean;
  hasWaited: boolean;
}

/** Maximum idle time of the machine before the first write reaches its commit, or the second one a lock. */
const PATIENCE_MS = 20_000;

/** Adds a deferred trigger to each table of the test's database. */
export async function openCommitGate({ db }: World, database: string): Promise<CommitGate> {
  await db.transaction((_, run) =>
    run(`
      create schema pairs;
      create table pairs.gate (at text);
      insert into pairs.gate values (null);
      create function pairs.hold() returns trigger language plpgsql security definer set search_path = public as $$
      declare
        wanted text;
      begin
        if tg_op = 'UPDATE' and to_jsonb(new) - '${OF_USE}'::text[] = to_jsonb(old) - '${OF_USE}'::text[] then return null; end if;
        select g.at into wanted from pairs.gate g;
        if (wanted is null or wanted = tg_table_name) and pg_try_advisory_xact_lock(${FIRST}) then
          perform pg_advisory_xact_lock_shared(${GATE});
        end if;
        return null;
      end $$;
      grant usage on schema pairs to public;
      do $$
      declare
        name text;
      begin
        for name in select table_name from information_schema.tables
          where table_schema = 'public' and table_type = 'BASE TABLE' and table_name <> all ('{${UNGATED.join(',')}}')
        loop
          execute format('create constraint trigger zz_held_at_commit after insert or update or delete on %I
            deferrable initially deferred for each row execute function pairs.hold()', name);
        end loop;
      end $$`),
  );
  const keeper = new pg.Client({ connectionString: database });
  await keeper.connect();
  cleanUp(() => keeper.end());
  const { rows } = await keeper.query('select pg_backend_pid() as pid');
  const waiting = async () => {
    const found = await db.query<{ gate: number; others: number }>(sql`
      select count(*) filter (where wait_event = 'advisory')::int as gate,
        count(*) filter (where wait_event <> 'advisory')::int as others
      from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and pid <> ${rows[0].pid}`);
    return found[0] ?? { gate: 0, others: 0 };
  };

  return {
    async run(first, second, at) {
      await keeper.query('update pairs.gate set at = $1', [at ?? null]);
      await keeper.query('select pg_advisory_lock($1)', [GATE]);
      let isClosed = true;
      const open = async () => {
        if (isClosed) await keeper.query('select pg_advisory_unlock($1)', [GATE]);
        isClosed = false;
      };
      try {
        const one = watched(first());
        const wasHeld = await seen(one, async () => (await waiting()).gate > 0);
        // Without a hold, the first write has ended or failed.
        const other = watched(second());
        const hasWaited = wasHeld && (await seen(other, async () => (await waiting()).others > 0));
        await open();
        return { answers: [await one.end, await other.end], wasHeld, hasWaited };
      } finally {
        await open();
      }
    },
  };
}

interface Watched<T> {
  end: Promise<T>;
  isDone(): boolean;
}

function watched<T>(work: Promise<T>): Watched<T> {
  let done = false;
  const end = work.finally(() => {
    done = true;
  });
  // A rejection is handled where `end` is awaited.
  end.catch(() => undefined);
  return { end, isDone: () => done };
}

/** Returns whether `look` returned true before the work was done. */
async function seen({ isDone }: Watched<unknown>, look: () => Promise<boolean>): Promise<boolean> {
  for (const isTooLong = patience(PATIENCE_MS); !isTooLong(); await pause(2)) {
    if (isDone()) return false;
    if (await look()) return true;
  }
  throw new Error('a write neither ended nor waited for a lock');
}
