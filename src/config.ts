import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { readBackupRetention, readBackupSchedule } from './core/backup-plan.ts';
import { SESSION_TARGETS, sessionTarget, splitServers } from './core/database-url.ts';
import { readQuotas } from './core/quotas.ts';

/** An option of the service, read from the environment. */
interface Option<T> {
  doc: string;
  fallback: string;
  read: (text: string) => T;
}

/** An option has an invalid value; the message names it and says what it takes. */
export class ConfigError extends Error {}

const option = <T>(doc: string, fallback: string, read: (text: string) => T): Option<T> => ({ doc, fallback, read });

const text = (value: string) => value;
const optional = (value: string) => (value === '' ? undefined : value);

function port(value: string): number {
  const number = Number(value);
  if (!/^\d+$/.test(value) || number > 65_535) throw new Error('a port number from 0 to 65535');
  return number;
}

function bytes(value: string): number {
  const [, amount, unit] = /^(\d+)\s*(KiB|MiB|GiB)?$/i.exec(value) ?? [];
  if (!amount || Number(amount) === 0) throw new Error('a size such as 512KiB, 100MiB or 1GiB');
  const power = { kib: 1, mib: 2, gib: 3 }[unit?.toLowerCase() as 'kib'] ?? 0;
  return Number(amount) * 1024 ** power;
}

function count(value: string): number {
  if (!/^[1-9]\d{0,5}$/.test(value)) throw new Error('a whole number from 1 to 999999');
  return Number(value);
}

function niceValue(value: string): number {
  if (!/^1?\d$/.test(value)) throw new Error('a nice value from 0 to 19');
  return Number(value);
}

function share(value: string): number {
  if (!/^(0|1|0?\.\d+|1\.0+)$/.test(value)) throw new Error('a share from 0 to 1, such as 0.1');
  return Number(value);
}

const UNITS = { s: 1, min: 60, h: 3600 };

/** A number of requests in a time: 600/min, 20/h, 5/10s; a plain number uses the default's time unit. */
const rate = (usual: 'min' | 'h') => (value: string) => {
  const [, quota, , amount = '1', unit = usual] = /^([1-9]\d{0,5})(\/([1-9]\d{0,3})?(s|min|h))?$/.exec(value) ?? [];
  if (!quota) throw new Error('how often in which time, such as 600/min, 20/h or 5/10s');
  return { quota: Number(quota), windowSeconds: Number(amount) * UNITS[unit as keyof typeof UNITS] };
};

function networks(value: string): string[] {
  const list = value.split(',').map((entry) => entry.trim());
  const isNetwork = (entry: string) => {
    const [, address = '', bits = '0'] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(entry) ?? [];
    return isIP(address) !== 0 && Number(bits) <= (isIP(address) === 4 ? 32 : 128);
  };
  if (value === '') return [];
  if (!list.every(isNetwork)) throw new Error('addresses and networks with commas between, such as 10.0.0.1,fd00::/8');
  return list;
}

function webhookSecrets(value: string): string[] {
  const secrets = value === '' ? [] : value.split(',').map((secret) => secret.trim());
  if (secrets.length > 2 || !secrets.every((secret) => /^whsec_\w+$/.test(secret))) {
    throw new Error('one or two secrets that begin with whsec_, with a comma between');
  }
  return secrets;
}

const oneOf =
  <T extends string>(...values: T[]) =>
  (value: string): T => {
    const found = values.find((candidate) => candidate === value);
    if (!found) throw new Error(`one of ${values.join(', ')}`);
    return found;
  };

function url(...protocols: string[]) {
  return (value: string): string | undefined => {
    if (value === '') return undefined;
    if (!URL.canParse(value) || !protocols.includes(new URL(value).protocol)) {
      throw new Error(`an address that begins with ${protocols.map((protocol) => `${protocol}//`).join(' or ')}`);
    }
    return value.replace(/\/$/, '');
  };
}

/** A PostgreSQL, or several of which one takes writes. */
function databaseUrl(value: string): string | undefined {
  const read = url('postgres:', 'postgresql:');
  for (const each of splitServers(value)) read(each);
  if (!SESSION_TARGETS.includes(sessionTarget(value))) {
    throw new Error(`a target_session_attrs that is one of ${SESSION_TARGETS.join(', ')}`);
  }
  return value === '' ? undefined : value;
}

/** Every option with its description, format and default. */
export const OPTIONS = {
  PORT: option('The port of the API.', '8080', port),
  HOST: option('The address that the API listens on.', '127.0.0.1', text),
  DATA_DIR: option('Where files and, without DATABASE_URL, the database are kept.', 'data', (value) => resolve(value)),
  DATABASE_URL: option(
    'A PostgreSQL (15 or later) to use instead of an own one; several servers as postgres://user@one:5432,two:5432/db?target_session_attrs=read-write.',
    '',
    databaseUrl,
  ),
  SERVICE_DATABASE_URL: option(
    'Where the service itself connects as ibid_service, for example a PgBouncer; DATABASE_URL is then used to migrate only.',
    '',
    databaseUrl,
  ),
  PUBLIC_URL: option('Where users reach the service; links are made of it.', '', url('http:', 'https:')),
  STORAGE_URL: option(
    'A bucket for files instead of DATA_DIR, as s3://key:secret@host:port/bucket?region=…&path_style=true.',
    '',
    url('s3:'),
  ),
  BACKUP_URL: option(
    'Where backups are kept: file:///folder, or a bucket as STORAGE_URL has it.',
    '',
    url('file:', 's3:'),
  ),
  BACKUP_KEY_FILE: option('A file with 64 hexadecimal digits: the key that backups are encrypted with.', '', optional),
  BACKUP_SCHEDULE: option(
    'When the service makes backups: at a time of day in UTC such as 02:30, or every so often, such as 6h; empty: never.',
    '',
    readBackupSchedule,
  ),
  BACKUP_RETENTION: option(
    'Which backups are kept, such as daily=7,weekly=4,monthly=12: the latest of so many days, weeks and months; empty: all.',
    '',
    readBackupRetention,
  ),
  OIDC_ISSUER: option(
    'An OpenID Connect issuer that people sign in at, or whose access tokens are accepted.',
    '',
    optional,
  ),
  OIDC_CLIENT_ID: option('As what the service is registered at the issuer, so that people sign in there.', '', text),
  OIDC_CLIENT_SECRET: option('The secret of that registration; empty for a public client.', '', text),
  OIDC_AUDIENCE: option('The audience that access tokens of the issuer must name to be accepted.', '', text),
  SIGN_UP: option(
    'invited: sign-in links go to users and to who is invited; open: to every address.',
    'invited',
    oneOf('invited', 'open'),
  ),
  PASSWORD_SIGN_IN: option('on: people may have a password; off: they sign in without.', 'off', oneOf('on', 'off')),
  SMTP_URL: option(
    'A mail server, as smtp://user:password@host:port or smtps://…; without it messages go to the log.',
    '',
    url('smtp:', 'smtps:'),
  ),
  MAIL_FROM: option('The sender of mail.', 'Ibid <ibid@localhost>', text),
  PLANS_FILE: option('A JSON file with the catalogue of plans.', '', optional),
  STRIPE_SECRET_KEY: option(
    'The secret key of a Stripe account that is paid for plans; empty: the operator sets them.',
    '',
    optional,
  ),
  STRIPE_WEBHOOK_SECRETS: option(
    'The signing secret of the webhook endpoint at Stripe; two with a comma between while one is replaced.',
    '',
    webhookSecrets,
  ),
  STRIPE_AUTOMATIC_TAX: option('on: Stripe Tax computes taxes.', 'off', oneOf('on', 'off')),
  STRIPE_API_URL: option('Another address of the Stripe API, for tests.', '', url('http:', 'https:')),
  ROLE: option(
    'all: the API and the jobs; web: the API alone; worker: the jobs alone.',
    'all',
    oneOf('all', 'web', 'worker'),
  ),
  WORKER_IDLE_SECONDS: option(
    'With ROLE=all: after this time without uploads, exports and imports the process that works on them ends.',
    '30',
    count,
  ),
  WORKER_NICE: option('How much lower the CPU priority of that process is, as a nice value.', '5', niceValue),
  LOG_LEVEL: option('How much is logged.', 'info', oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent')),
  METRICS_PORT: option('A port of its own for /metrics (Prometheus); empty: none.', '', (value) =>
    value === '' ? undefined : port(value),
  ),
  LOG_FORMAT: option(
    'json: a line of JSON for each event; text: lines to read; auto: text where the output is a terminal.',
    'auto',
    oneOf('auto', 'json', 'text'),
  ),
  OTEL_EXPORTER_OTLP_ENDPOINT: option(
    'Where traces are sent (OTLP over HTTP), such as http://127.0.0.1:4318; empty: nowhere.',
    '',
    url('http:', 'https:'),
  ),
  OTEL_TRACES_SAMPLER_ARG: option('The share of requests and jobs that are traced, from 0 to 1.', '0.1', share),
  STYLEGUIDE: option(
    'For development: every component of the web application, at …/-/styleguide of a wiki.',
    'off',
    oneOf('on', 'off'),
  ),
  MAX_JSON_SIZE: option('The largest JSON body, the text of a page not counted.', '1MiB', bytes),
  MAX_MARKDOWN_SIZE: option('The longest text of a page.', '1536KiB', bytes),
  MAX_FILE_SIZE: option('The largest file of an upload.', '100MiB', bytes),
  MAX_UPLOAD_SIZE: option('The largest upload.', '1GiB', bytes),
  MAX_UPLOAD_FILES: option('The most files of an upload.', '1000', count),
  WORKSPACE_LIMITS: option(
    'What a workspace may have where its plan says nothing else, such as bytes=10GB,pages=unlimited.',
    '',
    readQuotas,
  ),
  RATE_LIMITS: option('Whether requests are limited by the rates below.', 'on', oneOf('on', 'off')),
  RATE_LIMIT_GENERAL: option('Requests of a credential; refused ones of an address.', '600/min', rate('min')),
  RATE_LIMIT_SEARCH: option('Searches of a credential.', '120/min', rate('min')),
  RATE_LIMIT_UPLOADS: option('Uploads of a credential.', '60/min', rate('min')),
  RATE_LIMIT_USER_FACTOR: option(
    'How many times the three rates above a user has, over all of their credentials.',
    '2',
    count,
  ),
  RATE_LIMIT_WORKSPACE_FACTOR: option('The same of a workspace, over all of its members and keys.', '10', count),
  RATE_LIMIT_AUTH: option('Requests of an address to sign in.', '30/min', rate('min')),
  RATE_LIMIT_INVITATIONS: option('Messages with invitations of a workspace.', '20/h', rate('h')),
  RATE_LIMIT_USER_INVITATIONS: option('Messages with invitations that a user sends.', '40/h', rate('h')),
  RATE_LIMIT_ADDRESS_INVITATIONS: option(
    'The same to one address; all users together send it four times as many.',
    '5/24h',
    rate('h'),
  ),
  RATE_LIMIT_NEW_WORKSPACE_INVITATIONS: option(
    'Messages with invitations of a workspace without a paid plan, while it is not older than this time.',
    '20/24h',
    rate('h'),
  ),
  RATE_LIMIT_SERVICE_INVITATIONS: option('Messages with invitations of all users together.', '1000/h', rate('h')),
  RATE_LIMIT_WORKSPACES: option('Workspaces that a user creates.', '10/24h', rate('h')),
  TRUSTED_PROXIES: option(
    'Addresses and networks of proxies, with commas between, whose X-Forwarded-For is believed.',
    '',
    networks,
  ),
  DATABASE_CONNECTIONS: option('The most connections of a process to the database.', '10', count),
};

type Options = typeof OPTIONS;
export type Config = { [Name in keyof Options]: Options[Name] extends Option<infer T> ? T : never };

/** Reads all options. Errors: ConfigError, which names every invalid one. */
export function readConfig(env: Record<string, string | undefined>): Config {
  const config: Record<string, unknown> = {};
  const problems: string[] = [];
  for (const [name, { fallback, read }] of Object.entries(OPTIONS) as [string, Option<unknown>][]) {
    const value = env[name]?.trim() || fallback;
    try {
      config[name] = read(value);
    } catch (error) {
      // The part before an @ may be a password.
      const shown = name.includes('SECRET') ? '…' : value.replace(/^.*@/s, '…@');
      problems.push(`${name} is "${shown}", but takes ${(error as Error).message}`);
    }
  }
  if (config.OIDC_ISSUER !== undefined && config.OIDC_AUDIENCE === '' && config.OIDC_CLIENT_ID === '') {
    problems.push(
      'OIDC_ISSUER is set, so set OIDC_CLIENT_ID to sign people in there, or OIDC_AUDIENCE to the audience that its tokens name for this service',
    );
  }
  if (config.OIDC_ISSUER === undefined && config.OIDC_CLIENT_ID !== '') {
    problems.push('OIDC_CLIENT_ID is set, so set OIDC_ISSUER to the issuer that knows it');
  }
  if (config.SERVICE_DATABASE_URL !== undefined && config.DATABASE_URL === undefined) {
    problems.push('SERVICE_DATABASE_URL is set, so set DATABASE_URL to the same database for the user who owns it');
  }
  if (config.BACKUP_SCHEDULE !== undefined && config.BACKUP_URL === undefined) {
    problems.push('BACKUP_SCHEDULE is set, so set BACKUP_URL to where backups are kept');
  }
  if (config.STRIPE_SECRET_KEY !== undefined && (config.STRIPE_WEBHOOK_SECRETS as string[]).length === 0) {
    problems.push(
      'STRIPE_SECRET_KEY is set, so set STRIPE_WEBHOOK_SECRETS to the signing secret of its webhook endpoint',
    );
  }
  if (problems.length > 0) throw new ConfigError(`${problems.join('; ')}.`);
  return config as Config;
}
