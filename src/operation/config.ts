import type { Env } from './config/given-values.ts';
import { inspectOptions } from './config/inspect-options.ts';
import type { Option } from './config/option.ts';
import { OPTIONS } from './config/options.ts';

/** Thrown if options cannot be read; the message names every invalid option and the accepted values. */
export class ConfigError extends Error {
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    super(`${problems.join('; ')}.`);
    this.problems = problems;
  }
}

type Options = typeof OPTIONS;
export type Config = { [Name in keyof Options]: Options[Name] extends Option<infer T> ? T : never };

/** Reads all options, with the default in place of an invalid value. The result has the shape of `inspectOptions`. */
export function inspectConfig(env: Env) {
  const { read, problems, ...rest } = inspectOptions(OPTIONS, env);
  const config = read as Config;
  return { config, problems: [...problems, ...missingCompanions(config)], ...rest };
}

/**
 * Reads all options from the environment and the file that IBID_CONFIG names. Throws a ConfigError that names every
 * problem.
 */
export function readConfig(env: Env): Config {
  const { config, problems } = inspectConfig(env);
  if (problems.length > 0) throw new ConfigError(problems);
  return config;
}

/** Reports options that have no effect, or not the intended one, without another option. */
function missingCompanions(config: Config): string[] {
  const { OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_AUDIENCE, STRIPE_WEBHOOK_SECRETS } = config;
  const problems: string[] = [];
  if (OIDC_ISSUER !== undefined && OIDC_AUDIENCE === '' && OIDC_CLIENT_ID === '') {
    problems.push(
      'OIDC_ISSUER is set, so set OIDC_CLIENT_ID to let people sign in there, or OIDC_AUDIENCE to the audience of its tokens for this service',
    );
  }
  if (OIDC_ISSUER === undefined && OIDC_CLIENT_ID !== '') {
    problems.push('OIDC_CLIENT_ID is set, so set OIDC_ISSUER to the issuer where it is registered');
  }
  if (config.OIDC_ROLES.length > 0 && OIDC_CLIENT_ID === '') {
    problems.push(
      'OIDC_ROLES is set, so set OIDC_CLIENT_ID: roles follow the groups of people who sign in at the issuer',
    );
  }
  problems.push(...missingDatabase(config));
  if (config.BACKUP_SCHEDULE !== undefined && config.BACKUP_URL === undefined) {
    problems.push('BACKUP_SCHEDULE is set, so set BACKUP_URL to the place for backups');
  }
  if (config.BACKUP_WAL !== undefined && config.BACKUP_URL === undefined) {
    problems.push('BACKUP_WAL is set, so set BACKUP_URL to the place for backups');
  }
  if (config.BACKUP_WAL !== undefined && (config.DATABASE_URL ?? config.SERVICE_DATABASE_URL) !== undefined) {
    problems.push(
      "BACKUP_WAL works only with the service's own PostgreSQL: for the PostgreSQL in DATABASE_URL use its own tools, such as pgBackRest, or its provider's, and leave BACKUP_WAL empty",
    );
  }
  if (config.STRIPE_SECRET_KEY !== undefined && STRIPE_WEBHOOK_SECRETS.length === 0) {
    problems.push(
      'STRIPE_SECRET_KEY is set, so set STRIPE_WEBHOOK_SECRETS to the signing secret of its webhook endpoint',
    );
  }
  return problems;
}

/** Reports options that need the owner's database login, if only SERVICE_DATABASE_URL is set. */
function missingDatabase(config: Config): string[] {
  const { DATABASE_URL, SERVICE_DATABASE_URL, DATABASE_REPLICA_URLS, OPERATORS, BACKUP_SCHEDULE, ROLE } = config;
  if (DATABASE_URL !== undefined) return [];
  if (SERVICE_DATABASE_URL === undefined) {
    return DATABASE_REPLICA_URLS.length > 0
      ? ['DATABASE_REPLICA_URLS is set, so set DATABASE_URL to the primary that they follow']
      : [];
  }
  const problems: string[] = [];
  if (OPERATORS.length > 0 && ROLE !== 'worker') {
    problems.push('OPERATORS is set, so set DATABASE_URL too: /-/admin needs the owner of the database');
  }
  if (BACKUP_SCHEDULE !== undefined && ROLE !== 'web') {
    problems.push('BACKUP_SCHEDULE is set, so set DATABASE_URL too: backups need the owner of the database');
  }
  return problems;
}
