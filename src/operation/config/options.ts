import { resolve } from 'node:path';
import { readBackupRetention, readBackupSchedule, readRecoveryWindow } from '../../platform/core/backup-plan.ts';
import { readQuotas } from '../../platform/core/quotas.ts';
import {
  addresses,
  bytes,
  count,
  databaseUrl,
  databaseUrls,
  groupRoles,
  mailDomains,
  networks,
  niceValue,
  oneOf,
  optional,
  origin,
  port,
  rate,
  share,
  text,
  upTo,
  url,
  webhookSecrets,
} from './formats.ts';
import { option } from './option.ts';

const BACKUPS = 'docs/operations/backups.md';
const SCALE = 'docs/operations/scale.md';
const OBSERVE = 'docs/operations/observe.md';
const SIGN_IN = 'docs/operations/sign-in.md';
const STRIPE = 'docs/operations/billing.md';

/** Every option with its description, default and format. `npm run accept` writes the table in README.md from it. */
export const OPTIONS = {
  PORT: option('The port of the API.', '8080', port),
  HOST: option('The address that the API listens on; 0.0.0.0 for all addresses.', '127.0.0.1', text),
  DATA_DIR: option('Where files and, without DATABASE_URL, the database are kept.', 'data', (value) => resolve(value)),
  DATABASE_URL: option(
    'A PostgreSQL, 15 or later, to use instead of the supervised one; of several servers, the one that takes writes: postgres://ibid@one:5432,two:5432/ibid?target_session_attrs=read-write.',
    '',
    databaseUrl,
    { secret: true },
  ),
  SERVICE_DATABASE_URL: option(
    'Where the service itself connects as ibid_service, for example through PgBouncer. DATABASE_URL is then used to migrate, for /-/admin and for backups only; without it the service has no rights of the owner, and "ibid migrate" has to be run before.',
    '',
    databaseUrl,
    { secret: true, see: 'docs/operations/poolers.md' },
  ),
  DATABASE_REPLICA_URLS: option(
    'Streaming replicas that answer reads, with the user of SERVICE_DATABASE_URL, or else of DATABASE_URL: an address of one server each, separated by spaces. A read is never older than what was committed before it.',
    '',
    databaseUrls,
    { secret: true, see: SCALE },
  ),
  DATABASE_CONNECTIONS: option(
    'The most connections of a process to the database, and to each replica; the process for jobs has at most 10 more. Reads, writes and jobs have shares of them, and so does each workspace; what waits too long is 503.',
    '10',
    count,
  ),
  PUBLIC_URL: option(
    'Where users reach the service, such as https://wiki.example.com, without a path; links in mail are made only of it, and forms are accepted only from there. Empty: http://HOST:PORT, and http://127.0.0.1:PORT if HOST is 0.0.0.0 or ::.',
    '',
    origin,
  ),
  TRUSTED_PROXIES: option(
    'Proxies whose X-Forwarded-For is trusted: addresses and networks, separated by commas, such as 10.0.0.1,fd00::/8. Set it behind a proxy; otherwise all callers have the address of the proxy.',
    '',
    networks,
  ),
  STORAGE_URL: option(
    'A bucket of S3 or a compatible server, for files: s3://key:secret@host:port/bucket/folder?region=eu-central-1. By https, unless the host is this machine or tls=false is given; with the bucket in the path, unless path_style=false is given. Share the folder with no other service: files that the database does not refer to are deleted.',
    '',
    url('s3:'),
    { secret: true },
  ),
  BACKUP_URL: option(
    'Where backups are kept: file:///folder, or a bucket as STORAGE_URL has it.',
    '',
    url('file:', 's3:'),
    { secret: true, see: BACKUPS },
  ),
  BACKUP_KEY_FILE: option('A file with 64 hexadecimal digits: the key that backups are encrypted with.', '', optional, {
    see: BACKUPS,
  }),
  BACKUP_SCHEDULE: option(
    'When the service makes backups: at a time of day in UTC such as 02:30, or every so often, such as 6h; empty: never.',
    '',
    readBackupSchedule,
    { see: BACKUPS },
  ),
  BACKUP_RETENTION: option(
    'Which backups are kept, such as daily=7,weekly=4,monthly=12: the latest of so many days, weeks and months; empty: all.',
    '',
    readBackupRetention,
    { see: BACKUPS },
  ),
  BACKUP_WAL: option(
    'How far back the service can be restored to any moment, such as 7d: its own PostgreSQL stores its write-ahead log at BACKUP_URL all the time; empty: backups alone can be restored.',
    '',
    readRecoveryWindow,
    { see: BACKUPS },
  ),
  SIGN_UP: option(
    'Who gets a sign-in link by mail: users and invited people (invited), or every address (open).',
    'invited',
    oneOf('invited', 'open'),
  ),
  SIGN_IN_DOMAINS: option(
    'Whose addresses may sign in and be invited: domains with commas between, such as example.com; .example.com means its subdomains. Empty: all.',
    '',
    mailDomains,
    { see: SIGN_IN },
  ),
  PASSWORD_SIGN_IN: option('on: people may also set a password; off: they sign in without.', 'off', oneOf('on', 'off')),
  OIDC_ISSUER: option(
    'An OpenID Connect issuer that people sign in at, or whose access tokens are accepted.',
    '',
    optional,
  ),
  OIDC_CLIENT_ID: option(
    'As what the service is registered at the issuer, so that people sign in there; it redirects to PUBLIC_URL/sign-in/callback.',
    '',
    text,
  ),
  OIDC_CLIENT_SECRET: option('The secret of that registration; empty: a public client.', '', text, { secret: true }),
  OIDC_SIGN_OUT: option(
    'on: signing out in the web application also ends the session at the issuer, which must know PUBLIC_URL/sign-out as an address to return to; off: the session at the issuer, and with it other applications, stays open.',
    'on',
    oneOf('on', 'off'),
    { see: SIGN_IN },
  ),
  OIDC_ROLES: option(
    'The roles that groups at the issuer give in workspaces, at each sign-in there: wiki-admins=acme:admin,staff=acme:member, with the slug or the id of the workspace; of several the highest counts. Empty: people are invited.',
    '',
    groupRoles,
    { see: SIGN_IN },
  ),
  OIDC_GROUPS_CLAIM: option('The claim that lists the groups of a person, for OIDC_ROLES.', 'groups', text, {
    see: SIGN_IN,
  }),
  OIDC_AUDIENCE: option(
    'The audience that access tokens of the issuer must name to be accepted; empty: they are not.',
    '',
    text,
  ),
  SMTP_URL: option(
    'A mail server, as smtp://user:password@host:port or smtps://…; empty: messages and their links go to the log. A password crosses a public network by TLS alone, unless ?requireTLS=false is added.',
    '',
    url('smtp:', 'smtps:'),
    { secret: true },
  ),
  MAIL_FROM: option('The sender of mail.', 'Ibid <ibid@localhost>', text),
  PLANS_FILE: option(
    'A JSON file with a catalogue of plans to use instead of the built-in one, src/organization/billing/plans.json.',
    '',
    optional,
    { see: STRIPE },
  ),
  STRIPE_SECRET_KEY: option(
    'The secret key of a Stripe account that is paid for plans; empty: the operator sets them by "ibid plan".',
    '',
    optional,
    { secret: true, see: STRIPE },
  ),
  STRIPE_WEBHOOK_SECRETS: option(
    'The signing secret of the webhook endpoint at Stripe; two with a comma between while one is replaced.',
    '',
    webhookSecrets,
    { secret: true, see: STRIPE },
  ),
  STRIPE_AUTOMATIC_TAX: option('on: Stripe Tax computes taxes.', 'off', oneOf('on', 'off')),
  STRIPE_API_URL: option('Another address of the Stripe API, for tests.', '', url('http:', 'https:')),
  ROLE: option(
    'all: the API, and a process for jobs that is started when there is an upload, an export or an import; web: the API alone; worker: the jobs alone.',
    'all',
    oneOf('all', 'web', 'worker'),
  ),
  WORKER_IDLE_SECONDS: option(
    'With ROLE=all: after this time without uploads, exports and imports the process that works on them ends.',
    '30',
    count,
  ),
  WORKER_NICE: option(
    'How much lower the CPU priority of that process is, as a nice value from 0 to 19.',
    '5',
    niceValue,
  ),
  LOG_LEVEL: option(
    'How much is logged: fatal, error, warn, info, debug, trace or silent.',
    'info',
    oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
  ),
  LOG_FORMAT: option(
    'json: a line of JSON for each event; text: lines to read; auto: text where the output is a terminal.',
    'auto',
    oneOf('auto', 'json', 'text'),
  ),
  METRICS_PORT: option(
    'A port of its own for /metrics (Prometheus); empty: none.',
    '',
    (value) => (value === '' ? undefined : port(value)),
    { see: OBSERVE },
  ),
  OTEL_EXPORTER_OTLP_ENDPOINT: option(
    'Where traces are sent (OTLP over HTTP), such as http://127.0.0.1:4318; empty: nowhere.',
    '',
    url('http:', 'https:'),
    { see: OBSERVE },
  ),
  OTEL_TRACES_SAMPLER_ARG: option('The share of requests and jobs that are traced, from 0 to 1.', '0.1', share),
  OPERATORS: option(
    'Addresses, with commas between, of the people who see /-/admin of the web application when they are signed in and the address is verified; empty: there is no such page.',
    '',
    addresses,
    { see: 'docs/operations/admin.md' },
  ),
  REQUEST_LOG_SIZE: option(
    'How many of the last calls with keys and access tokens each workspace can look at, at most 1,000; 0: none are kept.',
    '200',
    upTo(1_000),
    { see: OBSERVE },
  ),
  STYLEGUIDE: option(
    'For development: on shows every component of the web application, at /-/styleguide of a wiki.',
    'off',
    oneOf('on', 'off'),
  ),
  WORKSPACE_LIMITS: option(
    'What a workspace may have where its plan says nothing else: bytes=10GB,pages=unlimited,… of bytes (100GiB), pages (1,000,000), files of unfinished uploads (100,000), wikis, invitations, keys and jobs (1,000 each).',
    '',
    readQuotas,
    { see: 'docs/operations/tenants.md' },
  ),
  MAX_JSON_SIZE: option('The largest JSON body, the text of a page not counted.', '1MiB', bytes),
  MAX_MARKDOWN_SIZE: option('The longest text of a page.', '1536KiB', bytes),
  MAX_FILE_SIZE: option('The largest file of an upload.', '100MiB', bytes),
  MAX_UPLOAD_SIZE: option('The largest upload.', '1GiB', bytes),
  MAX_UPLOAD_FILES: option('The most files of an upload.', '1000', count),
  RATE_LIMITS: option('Whether requests are limited by the rates below.', 'on', oneOf('on', 'off')),
  RATE_LIMIT_GENERAL: option(
    'Requests of a credential; of an address without a valid one. Units: s, min, h, or a number of them: 5/10s.',
    '600/min',
    rate('min'),
  ),
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
};
