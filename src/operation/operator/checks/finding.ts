import type { PoolConfig } from 'pg';
import type { OwnerDb } from '../../../platform/db/db.ts';
import type { Config } from '../../config.ts';
import type { Finding, NamedFinding } from '../schema.ts';

export type { Finding, NamedFinding };

export interface Subject {
  config: Config;
  /** Files from which options were read. */
  files: readonly string[];
}

/** The input of a check that needs a migrated database. */
export interface DatabaseSubject extends Subject {
  db: OwnerDb;
  /** Set for the service's own PostgreSQL; undefined if DATABASE_URL names another server. */
  own: PoolConfig | undefined;
}

export type Check<S> = (subject: S) => Promise<Finding[]>;

export const ok = (seen: string): Finding => ({ level: 'ok', seen });
export const warning = (seen: string, advice: string): Finding => ({ level: 'warning', seen, advice });
export const problem = (seen: string, advice: string): Finding => ({ level: 'problem', seen, advice });

/** Joins the messages of an error and its causes in one line; libraries often put the reason in the innermost cause. */
export function reasonOf(error: unknown): string {
  const parts: string[] = [];
  for (let at = error; at instanceof Error && parts.length < 5; at = at.cause) {
    const { code, name } = at as NodeJS.ErrnoException;
    const text = at.message || (at as AggregateError).errors?.map(reasonOf).join(', ') || code || name;
    // A period at the end of a message becomes a colon before the message of its cause. The hint from Node.js is
    // removed: the service has no such option.
    parts.push(
      text
        .replace(/; if the root CA is installed locally, try running Node\.js with --use-system-ca/, '')
        .replace(/\.\s*$/, ''),
    );
  }
  const [line = String(error)] = [parts.join(': ').replace(/\s+/g, ' ').trim()].filter(Boolean);
  return line.replace(/\.$/, '').slice(0, 500);
}

export function duration(seconds: number): string {
  if (seconds < 120) return `${Math.round(seconds)} s`;
  if (seconds < 7_200) return `${Math.round(seconds / 60)} minutes`;
  return seconds < 172_800 ? `${Math.round(seconds / 3_600)} hours` : `${Math.round(seconds / 86_400)} days`;
}
