import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { SUPERUSER } from '@ibid/postgres-server/cluster.ts';
import pg from 'pg';
import { PACKAGE } from '../src/platform/core/package/package-files.ts';
import { type OwnerDb, openDb } from '../src/platform/db/db.ts';
import { raw, sql } from '../src/platform/db/sql.ts';
import { type RunPlan, rowsRead } from './plans.ts';

/** Costs of a request that do not depend on the machine, so without its time. */
export interface RequestCost {
  /** Statements that the service sends, including begin and commit. */
  statements: number;
  /** Table rows that the statements read, including rows that a filter drops, and rows of triggers and functions. */
  rows: number;
  /** Shared buffers read or written. Buffers of a function count again for its caller. */
  buffers: number;
  /** Size of the answer's body. */
  bytes: number;
}

/**
 * Allowed excess over a budget. The location of rows and the size of tables vary between runs and with each endpoint.
 * The first statement of a connection that fires a trigger reads some thirty buffers of the catalog.
 */
const MARGINS: Record<keyof RequestCost, (budget: number) => number> = {
  statements: (budget) => budget,
  rows: (budget) => 1.2 * budget + 10,
  buffers: (budget) => 1.2 * budget + 50,
  bytes: (budget) => 1.02 * budget + 20,
};

/** The ids and times in archives vary, and so does their compressed size, by a twentieth of the bytes. */
const ARCHIVES = ['POST /v1/me/export', 'GET /v1/wikis/:wiki_id/exports/:export_id/content'];

const BUDGETS = new URL('bench/budgets.json', PACKAGE);

/** Makes PostgreSQL send the plan of each finished statement, with its counts, to the client as a warning. */
const AUTO_EXPLAIN: Record<string, string> = {
  session_preload_libraries: 'auto_explain',
  'auto_explain.log_min_duration': '0',
  'auto_explain.log_analyze': 'on',
  'auto_explain.log_buffers': 'on',
  'auto_explain.log_timing': 'off',
  'auto_explain.log_nested_statements': 'on',
  'auto_explain.log_format': 'json',
  'auto_explain.log_level': 'warning',
};

/** Collects the plans of one service's statements. */
export interface ObservedPlans {
  /** URL of the database with which to start the service. */
  url: string;
  /** Returns the plans since the last call. */
  take(): RunPlan[];
  /** Stops observing new connections to the database. */
  end(): Promise<void>;
}

/**
 * Observes the plans of a service in this process that is started with `url`. Returns undefined if it cannot connect as
 * the server's administrator.
 */
export async function observePlans(database: string): Promise<ObservedPlans | undefined> {
  const url = new URL(database);
  const application = 'ibid_observed';
  url.searchParams.set('application_name', application);
  const plans: RunPlan[] = [];
  const { connect } = pg.Client.prototype;
  type Named = pg.Client & { connectionParameters?: { application_name?: string } };
  pg.Client.prototype.connect = function (this: Named, ...given: []) {
    if (this.connectionParameters?.application_name === application)
      this.on('notice', ({ message = '' }) => {
        if (message.includes('plan:\n')) plans.push(JSON.parse(message.slice(message.indexOf('{'))).Plan);
      });
    return (connect as (...given: []) => unknown).apply(this, given);
  } as typeof connect;
  const commands = Object.entries(AUTO_EXPLAIN).map(([name, value]) => `set ${name} = '${value}'`);
  try {
    await alterDatabase(database, commands);
  } catch {
    return undefined;
  }
  return {
    url: url.href,
    take: () => plans.splice(0),
    end: () => alterDatabase(database, ['reset all']),
  };
}

async function alterDatabase(database: string, commands: string[]): Promise<void> {
  const url = new URL(database);
  const name = url.pathname.slice(1);
  url.username = SUPERUSER;
  const db = openDb({ connection: { connectionString: url.href }, connections: 1 });
  try {
    for (const command of commands) await db.query(raw(`alter database ${name} ${command}`));
  } finally {
    await db.close();
  }
}

/** Turns off autovacuum for the tables of a database: its statistics would change plans at unpredictable times. */
export async function withoutAutovacuum(db: OwnerDb): Promise<void> {
  await db.query(sql`
    do $$ declare t regclass; begin
      for t in select c.oid from pg_class c where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace loop
        execute format('alter table %s set (autovacuum_enabled = false)', t);
      end loop;
    end $$`);
}

export function readIn(plans: readonly RunPlan[]): Pick<RequestCost, 'rows' | 'buffers'> {
  const sum = (of: (plan: RunPlan) => number) => Math.round(plans.reduce((total, plan) => total + of(plan), 0));
  return { rows: sum(rowsRead), buffers: sum(buffersOf) };
}

/**
 * Sums the buffers of each node itself: a node's count includes its children, but the root's count omits a write in a
 * CTE that no other node reads. Buffers of a CTE scan belong to the CTE.
 */
function buffersOf(plan: RunPlan): number {
  const all = (of: RunPlan) => of['Shared Hit Blocks'] + of['Shared Read Blocks'];
  const below = plan.Plans ?? [];
  const own = plan['Node Type'] === 'CTE Scan' ? 0 : all(plan) - below.reduce((sum, each) => sum + all(each), 0);
  return below.reduce((sum, each) => sum + buffersOf(each), Math.max(0, own));
}

/**
 * Returns a sentence for each cost above its budget, and for each request without a budget. With ACCEPT_BUDGETS, saves
 * the measured costs as the budgets.
 */
export async function aboveBudget(measured: ReadonlyMap<string, RequestCost>): Promise<string[]> {
  if (process.env.ACCEPT_BUDGETS === 'yes') {
    const lines = [...measured].map(([name, cost]) => `  ${JSON.stringify(name)}: ${inOneLine(cost)}`);
    await writeFile(BUDGETS, `{\n${lines.join(',\n')}\n}\n`);
  }
  return [...measured].flatMap(([name, cost]) => overruns(name, cost));
}

const budgets: Record<string, RequestCost> = JSON.parse(readFileSync(BUDGETS, 'utf8'));

/** Returns a sentence for each cost above the budget of this name. */
export function overruns(name: string, cost: RequestCost): string[] {
  const budget = budgets[name];
  if (process.env.ACCEPT_BUDGETS === 'yes') return [];
  if (!budget) return [`${name} has no budget`];
  return (Object.keys(MARGINS) as (keyof RequestCost)[])
    .filter((what) => {
      const allowed = what === 'bytes' && ARCHIVES.includes(name) ? 1.05 * budget.bytes : budget[what];
      return cost[what] > MARGINS[what](allowed);
    })
    .map((what) => `${name}: ${cost[what]} ${what}, its budget is ${budget[what]}`);
}

/**
 * Returns the number of statements in the budget of this name; undefined without a budget, or while budgets are being
 * renewed.
 */
export function statementsOf(name: string): number | undefined {
  return process.env.ACCEPT_BUDGETS === 'yes' ? undefined : budgets[name]?.statements;
}

function inOneLine(cost: RequestCost): string {
  return `{ ${Object.entries(cost)
    .map(([what, value]) => `"${what}": ${value}`)
    .join(', ')} }`;
}
