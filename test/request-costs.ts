import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { SUPERUSER } from '@ibid/postgres-server/cluster.ts';
import pg from 'pg';
import { PACKAGE } from '../src/platform/core/package/package-files.ts';
import { type OwnerDb, openDb } from '../src/platform/db/db.ts';
import { raw, sql } from '../src/platform/db/sql.ts';
import { type RunPlan, rowsRead } from './plans.ts';

/** What a request costs, apart from time: none of it depends on the machine. */
export interface RequestCost {
  /** Statements that the service sends, begin and commit included. */
  statements: number;
  /** Rows that these read of tables, those that a filter then drops, and those of triggers and functions included. */
  rows: number;
  /** Shared buffers that they read or write; what a function uses counts for its caller once more. */
  buffers: number;
  /** Of the answer's body. */
  bytes: number;
}

/**
 * How far a request may be above its budget: where rows lie, and how many a table has, differs between runs and with each endpoint;
 * and the first statement of a connection that fires a trigger reads the catalog, some thirty buffers.
 */
const MARGINS: Record<keyof RequestCost, (budget: number) => number> = {
  statements: (budget) => budget,
  rows: (budget) => 1.2 * budget + 10,
  buffers: (budget) => 1.2 * budget + 50,
  bytes: (budget) => 1.02 * budget + 20,
};

/** Ids and times are compressed in archives, one time better than another, by a twentieth of the bytes. */
const ARCHIVES = ['POST /v1/me/export', 'GET /v1/wikis/:wiki_id/exports/:export_id/content'];

const BUDGETS = new URL('bench/budgets.json', PACKAGE);

/** Has PostgreSQL send the plan of each statement that was run, with its counts, as a warning to who sent the statement. */
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

/** The plans of what one service sends. */
export interface ObservedPlans {
  /** The address of the database with which the service has to be started. */
  url: string;
  /** Those since the last call. */
  take(): RunPlan[];
  /** New connections to the database are as they were. */
  end(): Promise<void>;
}

/**
 * Observes the plans of the service in this process that is started with `url`. undefined where the server's administrator
 * cannot be reached.
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

/** Keeps autovacuum away from the tables of a database: what it finds out at some moment changes plans from there on. */
export async function withoutAutovacuum(db: OwnerDb): Promise<void> {
  await db.query(sql`
    do $$ declare t regclass; begin
      for t in select c.oid from pg_class c where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace loop
        execute format('alter table %s set (autovacuum_enabled = false)', t);
      end loop;
    end $$`);
}

/** The rows and buffers of statements that were run. */
export function readIn(plans: readonly RunPlan[]): Pick<RequestCost, 'rows' | 'buffers'> {
  const sum = (of: (plan: RunPlan) => number) => Math.round(plans.reduce((total, plan) => total + of(plan), 0));
  return { rows: sum(rowsRead), buffers: sum(buffersOf) };
}

/**
 * What the nodes of a plan use by themselves: a node counts for those below it, but the root not for a write in a CTE that nothing
 * reads. What a CTE scan uses is the CTE's.
 */
function buffersOf(plan: RunPlan): number {
  const all = (of: RunPlan) => of['Shared Hit Blocks'] + of['Shared Read Blocks'];
  const below = plan.Plans ?? [];
  const own = plan['Node Type'] === 'CTE Scan' ? 0 : all(plan) - below.reduce((sum, each) => sum + all(each), 0);
  return below.reduce((sum, each) => sum + buffersOf(each), Math.max(0, own));
}

/** What is above its budget, or has none, in a sentence each. With ACCEPT_BUDGETS the budgets become what was measured. */
export async function aboveBudget(measured: ReadonlyMap<string, RequestCost>): Promise<string[]> {
  if (process.env.ACCEPT_BUDGETS === 'yes') {
    const lines = [...measured].map(([name, cost]) => `  ${JSON.stringify(name)}: ${inOneLine(cost)}`);
    await writeFile(BUDGETS, `{\n${lines.join(',\n')}\n}\n`);
  }
  return [...measured].flatMap(([name, cost]) => overruns(name, cost));
}

const budgets: Record<string, RequestCost> = JSON.parse(readFileSync(BUDGETS, 'utf8'));

/** What is above the budget of this name, in a sentence each. */
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

/** The statements of the budget of this name; undefined while budgets are renewed, and where there is none. */
export function statementsOf(name: string): number | undefined {
  return process.env.ACCEPT_BUDGETS === 'yes' ? undefined : budgets[name]?.statements;
}

function inOneLine(cost: RequestCost): string {
  return `{ ${Object.entries(cost)
    .map(([what, value]) => `"${what}": ${value}`)
    .join(', ')} }`;
}
