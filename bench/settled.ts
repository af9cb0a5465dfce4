import { setTimeout as delay } from 'node:timers/promises';
import { Client, type ClientConfig } from 'pg';

/**
 * Waits until the loaded pages are analyzed, by autovacuum or by the service, and neither autovacuum nor a job that
 * follows a load, such as a merge of the index, is running or due. Only the measured work runs after that. Returns
 * PostgreSQL's version.
 */
export async function untilSettled(connection: ClientConfig): Promise<string> {
  const database = new Client(connection);
  await database.connect();
  try {
    for (let done = false; !done; await delay(500)) {
      const { rows } = await database.query(`
        select (select coalesce(last_analyze, last_autoanalyze) is not null from pg_stat_user_tables where relname = 'pages')
          and not exists (select from pg_stat_activity where backend_type = 'autovacuum worker')
          and not exists (select from background_jobs where status <> 'failed' and run_after <= now()) as done`);
      done = rows[0].done;
    }
    return (await database.query('select version()')).rows[0].version;
  } finally {
    await database.end();
  }
}
