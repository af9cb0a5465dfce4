import type { Query } from '../../platform/db/db.ts';
import { sql } from '../../platform/db/sql.ts';
import type { Manifest } from './manifest.ts';

/** The outcome of a backup; incomplete means that the file store lacked some files. */
export type BackupOutcome = 'succeeded' | 'incomplete' | 'failed';

/** Records the outcome of a backup, for metrics and the schedule. `result` is its manifest or its error. */
export async function recordBackup(query: Query, result: Manifest | Error): Promise<void> {
  if (result instanceof Error) return record(query, 'failed', result.message.slice(0, 1_000), null, null);
  const { backup_id, made_at, files } = result;
  const { length } = files.missing;
  if (length === 0) return record(query, 'succeeded', '', backup_id, made_at);
  return record(query, 'incomplete', `the file store lacked ${length} files`, backup_id, made_at);
}

async function record(
  query: Query,
  outcome: BackupOutcome,
  error: string,
  backup_id: string | null,
  made_at: string | null,
): Promise<void> {
  await query(sql`
    insert into backup_status as s (last_outcome, last_error, last_backup_id, last_made_at)
    values (${outcome}, ${error}, ${backup_id}, ${made_at})
    on conflict (the_only) do update set last_outcome = excluded.last_outcome, last_error = excluded.last_error,
      last_ended_at = now(), last_backup_id = coalesce(excluded.last_backup_id, s.last_backup_id),
      last_made_at = coalesce(excluded.last_made_at, s.last_made_at)`);
}
