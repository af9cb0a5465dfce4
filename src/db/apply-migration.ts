import { setTimeout as pause } from 'node:timers/promises';
import { StartError } from '../core/start-error.ts';
import type { Query, RunScript } from './db.ts';
import { splitStatements } from './split-statements.ts';
import { sql } from './sql.ts';

export interface Migration {
  name: string;
  text: string;
}

export interface MigrateOptions {
  /** How often a step is tried whose lock is held by others; between tries up to five seconds pass. */
  lockAttempts?: number;
  /** Told what is waited for. */
  onWait?: (reason: string) => void;
}

/**
 * The longest that a migration waits for a lock, and so the longest that requests wait behind it: PostgreSQL grants the
 * locks of a table in the order in which they were asked for.
 */
const LOCK_TIMEOUT_MS = 250;
const LOCK_ATTEMPTS = 120;
const PAUSE_MS = 100;
const PAUSE_MAX_MS = 5_000;

/** lock_not_available and deadlock_detected. */
const LOCKED = ['55P03', '40P01'];

export type MigrationKind = 'transaction' | 'concurrently' | 'batches';

/** What the first line says. Errors: Error for a kind that does not exist. */
export function kindOf({ name, text }: Migration): MigrationKind {
  const kind = /^-- migration:\s*(.*?)\s*(?:\n|$)/.exec(text)?.[1] ?? 'transaction';
  if (kind === 'transaction' || kind === 'concurrently' || kind === 'batches') return kind;
  throw new Error(`${name}: there is no kind of migration "${kind}"`);
}

/**
 * Applies a migration and records it in `migrations`, on the session that holds the lock of those that migrate. Errors:
 * StartError for a lock that others do not release.
 */
export async function applyMigration(
  query: Query,
  runScript: RunScript,
  migration: Migration,
  options: MigrateOptions,
): Promise<void> {
  const { name, text } = migration;
  const kind = kindOf(migration);
  const record = () => query(sql`insert into migrations (name) values (${name})`);
  const step = <T>(work: () => Promise<T>) => untilUnlocked(name, options, work);
  // While a statement that may run outside a transaction waits, reads and writes go on.
  await runScript(`set lock_timeout = ${kind === 'concurrently' ? 0 : LOCK_TIMEOUT_MS}`);
  if (kind === 'concurrently') {
    await step(async () => {
      await dropInvalidIndexes(query, runScript, text);
      for (const statement of splitStatements(text)) await runScript(statement.text);
    });
    await record();
  } else if (kind === 'batches') {
    while ((await step(() => runScript(text))) > 0);
    await record();
  } else {
    await step(async () => {
      await runScript('begin');
      try {
        await runScript(text);
        await record();
        await runScript('commit');
      } catch (error) {
        await runScript('rollback').catch(() => undefined);
        throw error;
      }
    });
  }
}

/** Does it again for as long as others hold a lock that it needs. */
async function untilUnlocked<T>(
  name: string,
  { lockAttempts = LOCK_ATTEMPTS, onWait }: MigrateOptions,
  work: () => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (cause) {
      if (!LOCKED.includes((cause as { code?: string }).code ?? '')) throw cause;
      if (attempt === lockAttempts) {
        throw new StartError(
          `The migration ${name} needs a lock that another session of the database holds: end what has been in a transaction for long according to pg_stat_activity (a backup, for one), and start again.`,
          { cause },
        );
      }
      if (attempt === 1) onWait?.(`the migration ${name} needs a lock that another session holds`);
      await pause(Math.min(PAUSE_MS * 2 ** (attempt - 1), PAUSE_MAX_MS));
    }
  }
}

/** Of the indexes that the migration makes: an interrupted `create index concurrently` leaves one behind. */
async function dropInvalidIndexes(query: Query, runScript: RunScript, text: string): Promise<void> {
  const names = [...text.matchAll(/\bindex\s+concurrently\s+if\s+not\s+exists\s+(\w+)/gi)].map(([, name]) => name);
  const invalid = await query<{ name: string }>(sql`
    select indexrelid::regclass::text as name from pg_index join pg_class on pg_class.oid = indexrelid
    where not indisvalid and relname = any (${names}::text[]) and relnamespace = current_schema()::regnamespace`);
  for (const { name } of invalid) await runScript(`drop index concurrently ${name}`);
}
