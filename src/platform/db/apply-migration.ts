import { setTimeout as pause } from 'node:timers/promises';
import { StartError } from '@ibid/postgres-server/start-error.ts';
import type { Query, RunScript } from './db.ts';
import { splitStatements } from './split-statements.ts';
import { sql } from './sql.ts';

export interface Migration {
  name: string;
  text: string;
}

export interface MigrateOptions {
  /** Maximum attempts while another session holds a lock; the pause between attempts grows to five seconds. */
  lockAttempts?: number;
  /** Called with the reason when migrating has to wait. */
  onWait?: (reason: string) => void;
}

/**
 * Maximum time that one attempt of a migration waits for a lock. Requests may queue behind it that long, because
 * PostgreSQL grants the locks on a table in order. Migrations of the kind `concurrently` have no limit, because they
 * block no requests.
 */
const LOCK_TIMEOUT_MS = 250;
const LOCK_ATTEMPTS = 120;
const PAUSE_MS = 100;
const PAUSE_MAX_MS = 5_000;

/** lock_not_available and deadlock_detected. */
const LOCK_ERRORS = ['55P03', '40P01'];

export type MigrationKind = 'transaction' | 'concurrently' | 'batches';

/** Returns the kind of a migration, read from its first line. Throws an Error for an unknown kind. */
export function kindOf({ name, text }: Migration): MigrationKind {
  const kind = /^-- migration:\s*(.*?)\s*(?:\n|$)/.exec(text)?.[1] ?? 'transaction';
  if (kind === 'transaction' || kind === 'concurrently' || kind === 'batches') return kind;
  throw new Error(`${name}: unknown kind of migration "${kind}"`);
}

/**
 * Returns the value of the line `-- works with: …`: earlier releases that have the named migration also work with the
 * new schema; `any` stands for all releases. Without that line returns null: a release that lacks this migration
 * refuses to start.
 */
export function worksWith({ text }: Migration): string | null {
  return /^-- works with: *(\S+) *$/m.exec(text)?.[1] ?? null;
}

/**
 * Applies a migration and records it in `migrations`, on the session that holds the migration lock. Throws StartError
 * if another session does not release a lock.
 */
export async function applyMigration(
  query: Query,
  runScript: RunScript,
  migration: Migration,
  options: MigrateOptions,
): Promise<void> {
  const { name, text } = migration;
  const kind = kindOf(migration);
  const record = () => query(sql`insert into migrations (name, works_with) values (${name}, ${worksWith(migration)})`);
  const step = <T>(work: () => Promise<T>) => untilUnlocked(name, options, work);
  // Statements that run outside a transaction do not block reads and writes while they wait.
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

/** Retries while another session holds a lock that the step needs. */
async function untilUnlocked<T>(
  name: string,
  { lockAttempts = LOCK_ATTEMPTS, onWait }: MigrateOptions,
  work: () => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (cause) {
      if (!LOCK_ERRORS.includes((cause as { code?: string }).code ?? '')) throw cause;
      if (attempt === lockAttempts) {
        throw new StartError(
          `The migration ${name} needs a lock that another session of the database holds: end the long transaction that pg_stat_activity shows (for example a backup), and start again.`,
          { cause },
        );
      }
      if (attempt === 1) onWait?.(`the migration ${name} needs a lock that another session holds`);
      await pause(Math.min(PAUSE_MS * 2 ** (attempt - 1), PAUSE_MAX_MS));
    }
  }
}

/** Drops invalid indexes left by an interrupted `create index concurrently` of this migration. */
async function dropInvalidIndexes(query: Query, runScript: RunScript, text: string): Promise<void> {
  const names = [...text.matchAll(/\bindex\s+concurrently\s+if\s+not\s+exists\s+(\w+)/gi)].map(([, name]) => name);
  const invalid = await query<{ name: string }>(sql`
    select indexrelid::regclass::text as name from pg_index join pg_class on pg_class.oid = indexrelid
    where not indisvalid and relname = any (${names}::text[]) and relnamespace = current_schema()::regnamespace`);
  for (const { name } of invalid) await runScript(`drop index concurrently ${name}`);
}
