import { Gauge, type Registry } from 'prom-client';
import type { Query } from '../../../platform/db/db.ts';
import { sql } from '../../../platform/db/sql.ts';
import { sharedRead } from './shared-read.ts';

const READ_TIMEOUT_MS = 1_000;

const OUTCOMES = ['succeeded', 'incomplete', 'failed'] as const;

interface State {
  documents: number;
  oldest_seconds: number;
  jobs_are_paused: boolean;
  outcome: (typeof OUTCOMES)[number] | null;
  ended_at: number | null;
  made_at: number | null;
  wal_until: number | null;
  wal_gap: boolean | null;
}

/**
 * Registers metrics about the whole service, read from the database: the search index's backlog, paused jobs, backups.
 */
export function registerStateMetrics(registry: Registry, query: Query, onFailed: (error: unknown) => void): void {
  const read = sharedRead(() => readState(query), READ_TIMEOUT_MS, onFailed);
  const gauge = (name: string, help: string, value: (state: State) => number | null) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      async collect() {
        const state = await read();
        const number = state && value(state);
        // A gauge without labels has a value even if it is unknown, so remove it.
        this.remove();
        if (typeof number === 'number') this.set(number);
      },
    });
  gauge('ibid_search_backlog', 'Documents waiting to be merged into the search indexes.', (state) => state.documents);
  gauge(
    'ibid_search_backlog_oldest_seconds',
    'How long the oldest of these documents has been waiting.',
    (state) => state.oldest_seconds,
  );
  gauge(
    'ibid_jobs_paused',
    '1 while jobs and mail of the whole service are paused, such as after a restore.',
    (state) => Number(state.jobs_are_paused),
  );
  gauge(
    'ibid_backup_last_success_timestamp_seconds',
    'Time of the snapshot of the latest complete backup; absent if there is none.',
    (state) => state.made_at,
  );
  gauge(
    'ibid_backup_last_end_timestamp_seconds',
    'Time when the last backup attempt ended; absent if there was none.',
    (state) => state.ended_at,
  );
  gauge(
    'ibid_wal_stored_until_timestamp_seconds',
    'Everything committed before this time can be recovered from the backups; absent without BACKUP_WAL.',
    (state) => state.wal_until,
  );
  gauge(
    'ibid_wal_needs_base_backup',
    '1 while no current moment can be recovered, because WAL was lost or there is no base backup yet; absent without BACKUP_WAL.',
    (state) => (state.wal_gap === null ? null : Number(state.wal_gap)),
  );
  new Gauge({
    name: 'ibid_backup_last_outcome',
    help: '1 for the outcome of the last backup attempt: succeeded, incomplete (files were missing from the file store) or failed.',
    labelNames: ['outcome'],
    registers: [registry],
    async collect() {
      const state = await read();
      this.reset();
      for (const outcome of state?.outcome ? OUTCOMES : []) this.set({ outcome }, Number(outcome === state?.outcome));
    },
  });
}

async function readState(query: Query): Promise<State | undefined> {
  const [state] = await query<State>(sql`
    select b.documents::float8 as documents, b.oldest_seconds,
      exists (select from service_controls where jobs_are_paused) as jobs_are_paused,
      s.last_outcome as outcome, extract(epoch from s.last_ended_at)::float8 as ended_at,
      extract(epoch from s.last_made_at)::float8 as made_at,
      extract(epoch from coalesce(w.stored_until, w.files_until))::float8 as wal_until,
      case when w.the_only then w.based_at is null or coalesce(w.gap_at > w.based_at, false) end as wal_gap
    from search_backlog() b left join backup_status s on true left join wal_archive w on true`);
  return state;
}
