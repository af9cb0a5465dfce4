import { QUOTA_NAMES, quotaAmount, readQuota } from '../../platform/core/quotas.ts';
import type { Db } from '../../platform/db/db.ts';
import { sql } from '../../platform/db/sql.ts';
import type { Config } from '../config.ts';
import { COMMAND } from '../operator/audit.ts';
import type { LimitChanges } from '../operator/schema.ts';
import {
  changeLimits,
  changeShare,
  listLargest,
  pauseJobs,
  signOutMembers,
  usageOf,
} from '../operator/workspace-controls.ts';
import { readArguments } from './arguments.ts';
import { UsageError, withDatabase } from './with-database.ts';

export const WORKSPACE_USAGE = `  ibid workspace list [--top 20]                                lists the workspaces that store the most
  ibid workspace limits WORKSPACE [--bytes 10GB] [--pages N] …  shows its usage and limits; sets its own limits
                                                                (a number, unlimited, or plan for its plan's limit)
  ibid workspace pause WORKSPACE                                pauses its uploads, exports, imports and reindexing
  ibid workspace resume WORKSPACE                               resumes them
  ibid workspace share WORKSPACE N                              sets how many of its jobs run before those of others
  ibid workspace sign-out WORKSPACE [--keys]                    ends the sessions and widget tokens of its members;
                                                                --keys: also revokes its and its members' API keys
`;

type Print = (line: string) => void;

const OPTIONS: Record<string, { [name: string]: { type: 'string' | 'boolean'; default?: string } }> = {
  list: { top: { type: 'string', default: '20' } },
  limits: Object.fromEntries(QUOTA_NAMES.map((name) => [name, { type: 'string' }])),
  pause: {},
  resume: {},
  share: {},
  'sign-out': { keys: { type: 'boolean' } },
};

/** Maximum number of arguments, if it is not only the workspace. */
const MOST: Record<string, number> = { list: 0, share: 2 };

/** Runs `ibid workspace …`. Throws UsageError. */
export async function runWorkspaceCommand(config: Config, args: readonly string[], print: Print): Promise<void> {
  const [name = '', ...rest] = args;
  const options = OPTIONS[name];
  if (!options) throw new UsageError(`unknown command "workspace ${name}".\n\n${WORKSPACE_USAGE}`);
  const { positionals, values } = readArguments(rest, { options, most: MOST[name] ?? 1, usage: WORKSPACE_USAGE });
  await withDatabase(config, (db) => run(db, { name, positionals, values }, print));
}

type Values = { [name: string]: string | boolean | (string | boolean)[] | undefined };

async function run(
  db: Db,
  { name, positionals, values }: { name: string; positionals: string[]; values: Values },
  print: Print,
): Promise<void> {
  if (name === 'list') return printLargest(db, wholeNumber('--top', String(values.top), 1_000_000), print);
  const [given = '', value = ''] = positionals;
  const workspace = await findWorkspace(db, given);
  const { workspace_id, slug } = workspace;
  if (name === 'limits') {
    const changes = readChanges(values);
    if (Object.keys(changes).length > 0) await changeLimits(db, COMMAND, workspace_id, changes);
    return printUsage(db, workspace_id, print);
  }
  if (name === 'share') {
    const share = wholeNumber('a share', value, 100);
    await changeShare(db, COMMAND, workspace_id, share);
    return print(`${slug}: ${share} of its jobs run before those of other workspaces`);
  }
  if (name === 'sign-out') {
    const ended = await signOutMembers(db, COMMAND, workspace_id, values.keys === true);
    return print(`${slug}: ${ended.sessions} sessions ended, ${ended.keys} API keys revoked, widget tokens refused`);
  }
  await pauseJobs(db, COMMAND, workspace_id, name === 'pause');
  print(`${slug}: its jobs ${name === 'pause' ? 'are paused' : 'have resumed'}`);
}

/** Finds a workspace by id or slug. Throws UsageError. */
export async function findWorkspace(db: Db, given: string): Promise<{ workspace_id: string; slug: string }> {
  const [found] = await db.query<{ workspace_id: string; slug: string }>(sql`
    select workspace_id, slug from workspaces where workspace_id = ${given} or slug = ${given}`);
  if (!found) throw new UsageError(given === '' ? 'give a workspace by its slug or ID.' : `no workspace "${given}".`);
  return found;
}

function readChanges(values: Values): LimitChanges {
  const changes: LimitChanges = {};
  for (const name of QUOTA_NAMES) {
    const text = values[name];
    if (typeof text !== 'string') continue;
    try {
      changes[name] = text === 'plan' ? 'plan' : readQuota(name, text);
    } catch (error) {
      throw new UsageError(`--${name} is "${text}"; it must be ${(error as Error).message}, or plan.`);
    }
  }
  return changes;
}

/** Parses an integer from 1 to `max`. Throws UsageError. */
export function wholeNumber(what: string, text: string, max: number): number {
  const number = Number(text);
  if (!/^[1-9]\d*$/.test(text) || number > max)
    throw new UsageError(`${what} must be a whole number from 1 to ${max}.`);
  return number;
}

async function printUsage(db: Db, workspace_id: string, print: Print): Promise<void> {
  for (const { name, used, allowed, is_own } of await usageOf(db.query, workspace_id)) {
    const limit = allowed === null ? 'unlimited' : quotaAmount(name, allowed);
    print(`${name.padEnd(12)} ${quotaAmount(name, used).padStart(12)} of ${limit}${is_own ? ' (its own limit)' : ''}`);
  }
}

async function printLargest(db: Db, top: number, print: Print): Promise<void> {
  print(`${'workspace'.padEnd(31)} ${'bytes'.padStart(12)} ${'pages'.padStart(10)} ${'jobs'.padStart(6)}  slug`);
  for (const { workspace_id, slug, bytes, pages, jobs, jobs_are_paused, job_share } of await listLargest(
    db.query,
    top,
  )) {
    const notes = [jobs_are_paused && 'paused', job_share > 1 && `share ${job_share}`].filter(Boolean).join(', ');
    const amounts = `${quotaAmount('bytes', bytes).padStart(12)} ${quotaAmount('pages', pages).padStart(10)} ${String(jobs).padStart(6)}`;
    print(`${workspace_id.padEnd(31)} ${amounts}  ${slug}${notes && ` (${notes})`}`);
  }
}
