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
  PORT: option('The port that the API listens on.', '8080', port),
  HOST: option('The address that the API listens on; 0.0.0.0 for all addresses.', '127.0.0.1', text),
  DATA_DIR: option('The folder for files and, without DATABASE_URL, the database.', 'data', (value) => resolve(value)),
  DATABASE_URL: option(
    'A PostgreSQL, 15 or later, to use instead of the built-in one. With several servers, the one that accepts writes is used: postgres://ibid@one:5432,two:5432/ibid?target_session_attrs=read-write.',
    '',
    databaseUrl,
    { secret: true },
  ),
  SERVICE_DATABASE_URL: option(
    'Where the service connects as ibid_service, for example through PgBouncer. DATABASE_URL is then used only for migrations, /-/admin and backups. Without DATABASE_URL the service has no owner\'s rights, and "ibid migrate" must be run first.',
    '',
    databaseUrl,
    { secret: true, see: 'docs/operations/poolers.md' },
  ),
  DATABASE_REPLICA_URLS: option(
    'Streaming replicas that answer reads: addresses of one server each, separated by spaces, with the user of SERVICE_DATABASE_URL, or else of DATABASE_URL. Reads always include everything committed before them.',
    '',
    databaseUrls,
    { secret: true, see: SCALE },
  ),
  DATABASE_CONNECTIONS: option(
    'The maximum number of connections from a process to the database, and to each replica; the process for jobs opens up to 10 more. Reads, writes, jobs and workspaces each have a share. Requests that wait too long get 503.',
    '10',
    count,
  ),
  PUBLIC_URL: option(
    'The address where users reach the service, such as https://wiki.example.com, without a path. Links in messages start with it, and forms are accepted only from it. Empty: http://HOST:PORT, or http://127.0.0.1:PORT if HOST is 0.0.0.0 or ::.',
    '',
    origin,
  ),
  TRUSTED_PROXIES: option(
    "Proxies whose X-Forwarded-For is trusted: addresses and networks, separated by commas, such as 10.0.0.1,fd00::/8. Set it behind a proxy; otherwise all callers have the proxy's address.",
    '',
    networks,
  ),
  STORAGE_URL: option(
    'A bucket of S3 or a compatible server, for files: s3://key:secret@host:port/bucket/folder?region=eu-central-1. Uses https unless the host is this machine or tls=false is set, and puts the bucket in the path unless path_style=false is set. Do not share the folder with another service: files that the database does not refer to are deleted.',
    '',
    url('s3:'),
    { secret: true },
  ),
  BACKUP_URL: option(
    'Where backups are stored: file:///folder, or a bucket in the format of STORAGE_URL.',
    '',
    url('file:', 's3:'),
    { secret: true, see: BACKUPS },
  ),
  BACKUP_KEY_FILE: option('A file with the key that encrypts backups, as 64 hexadecimal digits.', '', optional, {
    see: BACKUPS,
  }),
  BACKUP_SCHEDULE: option(
    'When the service makes backups: a time of day in UTC, such as 02:30, or an interval, such as 6h. Empty: never.',
    '',
    readBackupSchedule,
    { see: BACKUPS },
  ),
  BACKUP_RETENTION: option(
    'Which backups are kept, such as daily=7,weekly=4,monthly=12: the latest backup of each of that many days, weeks and months. Empty: all.',
    '',
    readBackupRetention,
    { see: BACKUPS },
  ),
  BACKUP_WAL: option(
    'How far back the service can be restored to any moment, such as 7d. The built-in PostgreSQL then stores its write-ahead log at BACKUP_URL continuously. Empty: only backups can be restored.',
    '',
    readRecoveryWindow,
    { see: BACKUPS },
  ),
  SIGN_UP: option(
    'Who gets a sign-in link by e-mail: users and invited people (invited), or any address (open).',
    'invited',
    oneOf('invited', 'open'),
  ),
  SIGN_IN_DOMAINS: option(
    'Domains whose addresses may sign in and be invited, separated by commas, such as example.com; .example.com means its subdomains. Empty: all.',
    '',
    mailDomains,
    { see: SIGN_IN },
  ),
  PASSWORD_SIGN_IN: option(
    'on: users may also set a password; off: users sign in without a password.',
    'off',
    oneOf('on', 'off'),
  ),
  OIDC_ISSUER: option(
    'An OpenID Connect issuer where users sign in, or whose access tokens are accepted.',
    '',
    optional,
  ),
  OIDC_CLIENT_ID: option(
    'The client ID of the service at the issuer, so that users can sign in there; the redirect address is PUBLIC_URL/sign-in/callback.',
    '',
    text,
  ),
  OIDC_CLIENT_SECRET: option('The client secret of that registration. Empty: a public client.', '', text, {
    secret: true,
  }),
  OIDC_SIGN_OUT: option(
    'on: signing out in the web application also ends the session at the issuer, where PUBLIC_URL/sign-out must be registered as a return address; off: the sessions at the issuer, and in other applications, stay open.',
    'on',
    oneOf('on', 'off'),
    { see: SIGN_IN },
  ),
  OIDC_ROLES: option(
    'Workspace roles granted by groups at the issuer, at each sign-in there: wiki-admins=acme:admin,staff=acme:member, with the slug or ID of the workspace. The highest role applies. Empty: users are invited.',
    '',
    groupRoles,
    { see: SIGN_IN },
  ),
  OIDC_GROUPS_CLAIM: option("The claim that lists a user's groups, for OIDC_ROLES.", 'groups', text, {
    see: SIGN_IN,
  }),
  OIDC_AUDIENCE: option(
    'The audience that access tokens of the issuer must have to be accepted. Empty: they are refused.',
    '',
    text,
  ),
  SMTP_URL: option(
    'A mail server, as smtp://user:password@host:port or smtps://…. Empty: messages and their links go to the log. Passwords are sent over public networks only with TLS, unless ?requireTLS=false is added.',
    '',
    url('smtp:', 'smtps:'),
    { secret: true },
  ),
  MAIL_FROM: option('The sender of messages.', 'Ibid <ibid@localhost>', text),
  PLANS_FILE: option(
    'A JSON file with a plan catalogue to use instead of the built-in one, src/organization/billing/plans.json.',
    '',
    optional,
    { see: STRIPE },
  ),
  STRIPE_SECRET_KEY: option(
    'The secret key of the Stripe account that receives payments for plans. Empty: the operator sets plans with "ibid plan".',
    '',
    optional,
    { secret: true, see: STRIPE },
  ),
  STRIPE_WEBHOOK_SECRETS: option(
    'The signing secret of the webhook endpoint at Stripe; two, separated by a comma, while one is being replaced.',
    '',
    webhookSecrets,
    { secret: true, see: STRIPE },
  ),
  STRIPE_AUTOMATIC_TAX: option('on: Stripe Tax calculates taxes.', 'off', oneOf('on', 'off')),
  STRIPE_API_URL: option('Another address of the Stripe API, for tests.', '', url('http:', 'https:')),
  ROLE: option(
    'all: the API, and a process for jobs that starts when there is an upload, an export or an import; web: only the API; worker: only the jobs.',
    'all',
    oneOf('all', 'web', 'worker'),
  ),
  WORKER_IDLE_SECONDS: option(
    'With ROLE=all: how long the process for uploads, exports and imports stays idle before it exits.',
    '30',
    count,
  ),
  WORKER_NICE: option(
    'The nice value of that process, from 0 to 19; higher values lower its CPU priority.',
    '5',
    niceValue,
  ),
  LOG_LEVEL: option(
    'Minimum level of logged events: fatal, error, warn, info, debug, trace or silent.',
    'info',
    oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
  ),
  LOG_FORMAT: option(
    'json: one line of JSON per event; text: readable lines; auto: text if the output is a terminal.',
    'auto',
    oneOf('auto', 'json', 'text'),
  ),
  METRICS_PORT: option(
    'A separate port for /metrics (Prometheus). Empty: none.',
    '',
    (value) => (value === '' ? undefined : port(value)),
    { see: OBSERVE },
  ),
  OTEL_EXPORTER_OTLP_ENDPOINT: option(
    'Where traces are sent (OTLP over HTTP), such as http://127.0.0.1:4318. Empty: nowhere.',
    '',
    url('http:', 'https:'),
    { see: OBSERVE },
  ),
  OTEL_TRACES_SAMPLER_ARG: option('The share of requests and jobs to trace, from 0 to 1.', '0.1', share),
  OPERATORS: option(
    'Addresses of the operators, separated by commas. They see /-/admin of the web application when signed in with a verified address. Empty: there is no such page.',
    '',
    addresses,
    { see: 'docs/operations/admin.md' },
  ),
  REQUEST_LOG_SIZE: option(
    'The number of recent calls with keys and access tokens that each workspace can view, at most 1,000; 0: none are kept.',
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
    'Limits of a workspace where its plan sets none: bytes=10GB,pages=unlimited,… of bytes (100GiB), pages (1,000,000), files of unfinished uploads (100,000), wikis, invitations, keys and jobs (1,000 each).',
    '',
    readQuotas,
    { see: 'docs/operations/tenants.md' },
  ),
  MAX_JSON_SIZE: option('The largest JSON body, excluding the text of a page.', '1MiB', bytes),
  MAX_MARKDOWN_SIZE: option('The longest page text.', '1536KiB', bytes),
  MAX_FILE_SIZE: option('The largest file in an upload.', '100MiB', bytes),
  MAX_UPLOAD_SIZE: option('The largest upload.', '1GiB', bytes),
  MAX_UPLOAD_FILES: option('The most files in an upload.', '1000', count),
  RATE_LIMITS: option('Whether requests are limited by the rates below.', 'on', oneOf('on', 'off')),
  RATE_LIMIT_GENERAL: option(
    'Requests per credential, or per address without a valid credential. Units: s, min, h, or a number of them: 5/10s.',
    '600/min',
    rate('min'),
  ),
  RATE_LIMIT_SEARCH: option('Searches per credential.', '120/min', rate('min')),
  RATE_LIMIT_UPLOADS: option('Uploads per credential.', '60/min', rate('min')),
  RATE_LIMIT_USER_FACTOR: option(
    'The multiple of the three rates above for a user, over all their credentials.',
    '2',
    count,
  ),
  RATE_LIMIT_WORKSPACE_FACTOR: option('The same for a workspace, over all its members and keys.', '10', count),
  RATE_LIMIT_AUTH: option('Sign-in requests per address.', '30/min', rate('min')),
  RATE_LIMIT_INVITATIONS: option('Invitation messages per workspace.', '20/h', rate('h')),
  RATE_LIMIT_USER_INVITATIONS: option('Invitation messages per user.', '40/h', rate('h')),
  RATE_LIMIT_ADDRESS_INVITATIONS: option(
    'Invitation messages from one user to one address; all users together may send four times as many.',
    '5/24h',
    rate('h'),
  ),
  RATE_LIMIT_NEW_WORKSPACE_INVITATIONS: option(
    'Invitation messages per workspace without a paid plan, while the workspace is younger than the period of this rate.',
    '20/24h',
    rate('h'),
  ),
  RATE_LIMIT_SERVICE_INVITATIONS: option('Invitation messages of all users together.', '1000/h', rate('h')),
  RATE_LIMIT_WORKSPACES: option('Workspaces created per user.', '10/24h', rate('h')),
};
