import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Postgres, startPostgres } from '@ibid/postgres-server/postgres.ts';
import { runningPostgres } from '@ibid/postgres-server/running.ts';
import { StartError } from '@ibid/postgres-server/start-error.ts';
import type { PoolConfig } from 'pg';
import { openDb } from '../../../platform/db/db.ts';
import { explainUnreachable } from '../../../platform/db/prepare-database.ts';
import { sql } from '../../../platform/db/sql.ts';
import type { Env } from '../../config/given-values.ts';
import { type Config, inspectConfig } from '../../config.ts';
import { checkDisks } from '../../operator/checks/disk-check.ts';
import {
  type Check,
  type DatabaseSubject,
  type Finding,
  type NamedFinding,
  ok,
  problem,
  reasonOf,
  type Subject,
  warning,
} from '../../operator/checks/finding.ts';
import { checkClock, checkPostgres } from '../../operator/checks/postgres-checks.ts';
import { runChecks, within } from '../../operator/checks/run-checks.ts';
import { checkIndexes, checkSchema } from '../../operator/checks/schema-checks.ts';
import { checkWal } from '../../operator/checks/wal-check.ts';
import { checkBackups, checkJobs } from '../../operator/checks/work-checks.ts';
import { optionProblems } from '../../service/option-problems.ts';
import { readArguments } from '../arguments.ts';
import { checkPermissions, checkService } from './machine-checks.ts';
import { checkCertificates, checkIssuer, checkMail, checkPublicUrl } from './network-checks.ts';
import { checkReplicas } from './replica-checks.ts';
import { checkSessions } from './session-check.ts';
import { checkBuckets, checkFiles } from './storage-checks.ts';

export const DOCTOR_USAGE = `  ibid doctor [--json]                                          checks the service and its dependencies, and says how to fix problems`;

const MACHINE: Record<string, Check<Subject>> = {
  disk: checkDisks,
  permissions: checkPermissions,
  service: checkService,
  mail: checkMail,
  buckets: checkBuckets,
  issuer: checkIssuer,
  certificates: checkCertificates,
  public: checkPublicUrl,
};

const DATABASE: Record<string, Check<DatabaseSubject>> = {
  clock: checkClock,
  sessions: checkSessions,
  postgres: checkPostgres,
  replicas: checkReplicas,
  schema: checkSchema,
  indexes: checkIndexes,
  files: checkFiles,
  jobs: checkJobs,
  backups: checkBackups,
  wal: checkWal,
};

export const CHECK_NAMES = ['options', ...Object.keys(MACHINE), 'database', ...Object.keys(DATABASE)];

/** Time limits of a check, and of starting a PostgreSQL that may have to recover. */
const CHECK_MS = 10_000;
const START_MS = 60_000;

/**
 * Checks everything that the service needs, whether the service runs or not, and changes nothing. Starts the service's
 * own PostgreSQL for the duration if it is not running. Prints the findings; returns whether none is a problem.
 */
export async function runDoctor(
  env: Env,
  args: string[],
  print: (line: string) => void,
  limitMs = CHECK_MS,
): Promise<boolean> {
  const { json } = readFlags(args);
  const findings = await examine(env, limitMs);
  const isSound = findings.every(({ level }) => level !== 'problem');
  if (json) print(JSON.stringify({ ok: isSound, findings }, null, 2));
  else for (const finding of findings) printFinding(finding, print);
  return isSound;
}

function readFlags(args: string[]): { json?: boolean } {
  return readArguments(args, { options: { json: { type: 'boolean' } }, most: 0, usage: DOCTOR_USAGE }).values;
}

function printFinding({ check, level, seen, advice }: NamedFinding, print: (line: string) => void): void {
  print(`${level.padEnd(8)} ${check}: ${seen}`);
  if (advice) print(`         → ${advice}`);
}

async function examine(env: Env, limitMs: number): Promise<NamedFinding[]> {
  const { config, files, problems } = inspectConfig(env);
  const all = [...problems, ...optionProblems(config)];
  if (all.length > 0) {
    // With wrong options, other checks would examine unintended targets.
    return all.map((seen) => ({
      check: 'options',
      ...problem(seen, 'correct it, then check again with "ibid config --check"'),
    }));
  }
  const subject = { config, files };
  const [ofMachine, ofDatabase] = await Promise.all([
    runChecks(MACHINE, subject, limitMs),
    examineDatabase(subject, limitMs),
  ]);
  return [{ check: 'options', ...ok('all options are valid') }, ...ofMachine, ...ofDatabase];
}

async function examineDatabase(subject: Subject, limitMs: number): Promise<NamedFinding[]> {
  const { config } = subject;
  const of = (finding: Finding): NamedFinding[] => [{ check: 'database', ...finding }];
  if (!config.DATABASE_URL && config.SERVICE_DATABASE_URL) {
    const seen = 'not checked: the options have no login for the database owner';
    return of(warning(seen, 'run this where DATABASE_URL is also set, such as where "ibid migrate" runs'));
  }
  let started: Postgres | undefined;
  try {
    const own = config.DATABASE_URL ? undefined : await findOwn(config, (postgres) => (started = postgres));
    if (!config.DATABASE_URL && !own)
      return of(ok(`${config.DATA_DIR} has no database yet; the first start creates it`));
    return await examineOpened(subject, own, limitMs);
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    return of(problem(error.message, 'the service cannot start until this is fixed'));
  } finally {
    await started?.stop();
  }
}

/** Connects to the service's own PostgreSQL, and starts it if it exists but is not running. */
async function findOwn(config: Config, onStarted: (postgres: Postgres) => void): Promise<PoolConfig | undefined> {
  const { DATA_DIR: dataDir } = config;
  const running = runningPostgres(dataDir);
  if (running || !existsSync(join(dataDir, 'postgres', 'PG_VERSION'))) return running;
  const starting = startPostgres({ dataDir, archivesWal: config.BACKUP_WAL !== undefined, log: () => undefined });
  const postgres = await within(START_MS, starting).catch((error: unknown) => {
    void starting.then((late) => late.stop()).catch(() => undefined);
    throw error instanceof StartError ? error : new StartError(`PostgreSQL did not start: ${reasonOf(error)}.`);
  });
  onStarted(postgres);
  return postgres.connection;
}

async function examineOpened(subject: Subject, own: PoolConfig | undefined, limitMs: number): Promise<NamedFinding[]> {
  const { DATABASE_URL: url, DATA_DIR } = subject.config;
  const db = openDb({
    connection: own ?? { connectionString: url },
    connections: 4,
    onConnectionLost: () => undefined,
  });
  try {
    await within(limitMs, db.query(sql`select 1`));
  } catch (error) {
    void db.close().catch(() => undefined);
    const where = url
      ? explainUnreachable('DATABASE_URL', url, error as Error)
      : `the PostgreSQL in ${DATA_DIR} does not answer: ${reasonOf(error)}`;
    return [
      {
        check: 'database',
        ...problem(where, url ? 'it must be reachable from this machine' : 'see postgres.log there'),
      },
    ];
  }
  const findings = await runChecks(DATABASE, { ...subject, db, own }, limitMs);
  await within(limitMs, db.close()).catch(() => undefined);
  return findings;
}
