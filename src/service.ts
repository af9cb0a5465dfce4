import crypto from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { dirname } from 'node:path';
import type { FastifyInstance } from 'fastify';
import type { PoolConfig } from 'pg';
import type { Logger } from 'pino';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { registerWeb } from '../web/web.ts';
import { ENDPOINTS } from './app.ts';
import { loadPlans } from './billing/plans.ts';
import type { Config } from './config.ts';
import { type OwnerDb, openDb, openServiceDb, type ServiceDb } from './db/db.ts';
import { StartError, startPostgres } from './db/postgres.ts';
import { toStartError } from './db/postgres-error.ts';
import { prepareDatabase } from './db/prepare-database.ts';
import { SERVICE } from './db/scope.ts';
import { exportJob } from './exports/export.job.ts';
import { sweepFiles } from './exports/sweep-files.ts';
import { credentialReader } from './http/credential.ts';
import type { Limits, Services } from './http/endpoint.ts';
import { openRateLimits, type Rates } from './http/rate-limits.ts';
import { makeServer } from './http/server.ts';
import { registerServiceRoutes } from './http/service-routes.ts';
import { openWidgetTokens } from './http/widget-token.ts';
import { importJob } from './imports/import.job.ts';
import { openDocumentReader } from './ingest/document-reader.ts';
import { ingestJob } from './ingest/ingest.job.ts';
import { openSandbox } from './ingest/sandbox.ts';
import { openJobChanges } from './jobs/job-changes.ts';
import { expireLeases } from './jobs/queue.ts';
import { startWorker, type Worker } from './jobs/worker.ts';
import { purgeTrash } from './pages/purge-trash.ts';
import type { Blobs } from './providers/blobs.ts';
import { type IdentityProvider, openIdentityProvider } from './providers/identity.ts';
import { openLogMail, openSmtpMail } from './providers/mail.ts';
import { openStore } from './providers/open-store.ts';
import { type OpenIdSignIn, openOpenIdSignIn } from './providers/openid-sign-in.ts';
import { builtInPayments } from './providers/payments.ts';
import { readS3Url } from './providers/s3-blobs.ts';
import { keepIndexes } from './search/keep-indexes.ts';
import { reindexJob } from './search/reindex.job.ts';
import { CALLBACK_PATH } from './session/openid.ts';
import { offerWelcomeLink } from './session/welcome-link.ts';
import { forgetUploads } from './uploads/forget-uploads.ts';
import { removeDeletedWikis } from './wikis/remove-deleted.ts';

export const VERSION: string = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version;

export interface Service {
  /** Where the API answers, for example http://127.0.0.1:8080; "" for a worker. */
  address: string;
  /** The link by which somebody becomes the first user; undefined where there is one. */
  welcome: string | undefined;
  /** The pid of the supervised PostgreSQL, where there is one. */
  postgresPid(): number | undefined;
  /** Lets requests and the present step of a job end, then stops everything in the reverse order of its start. */
  stop(): Promise<void>;
}

export interface ServiceHooks {
  /** Called with the text and the values of each statement. */
  observe?: (text: string, values: readonly unknown[]) => void;
  /** Changes the text of each statement. */
  rewrite?: (text: string) => string;
}

const PURGE_MS = 3_600_000;
const FOLD_MS = 1_000;
const DELETED_MS = 60_000;
const SWEEP_MS = 6 * 3_600_000;
const FORGET_MS = 600_000;
const RENDERING_THREADS = 2;

/** Starts everything that the configuration asks for. Errors: StartError, whose message says what to do. */
export async function startService(config: Config, log: Logger, hooks: ServiceHooks = {}): Promise<Service> {
  const stops: (() => Promise<unknown>)[] = [];
  const stop = async () => {
    const failures: unknown[] = [];
    // Whatever does not stop as it should, what it stands on is stopped all the same.
    for (const end of stops.splice(0).reverse()) await end().catch((error: unknown) => failures.push(error));
    if (failures.length > 0) throw failures[0];
  };
  try {
    const plans = orStartError(() => loadPlans(config.PLANS_FILE));
    const identities = orStartError(() => openIdentities(config, log));
    const openid = orStartError(() => openSignIn(config, log));
    refuseOldNode(config);
    if (config.DATABASE_URL) await makeDataDir(config.DATA_DIR);
    const postgres = config.DATABASE_URL
      ? undefined
      : await startPostgres({
          data_dir: config.DATA_DIR,
          log: (level, message, details) => log[level](details ?? {}, message),
        });
    if (postgres) stops.push(() => postgres.stop());
    const connection = postgres ? postgres.connection : { connectionString: config.DATABASE_URL };
    await asOwner(connection, async (owner) => {
      const applied = await prepareDatabase(owner, { url: config.DATABASE_URL, data_dir: config.DATA_DIR });
      if (applied.length > 0) log.info({ applied }, 'the database was migrated');
    });
    const db = openServiceDb({
      connection,
      connections: config.DATABASE_CONNECTIONS,
      onConnectionLost: (err) => log.warn({ err }, 'a connection to the database was lost'),
      ...hooks,
    });
    stops.push(() => db.close());
    // Nobody else can be at work in this DATA_DIR, so whoever held a job is gone.
    if (postgres) await expireLeases(db.in(SERVICE).query);

    const { blobs, close: closeBlobs } = await openBlobs(config);
    stops.push(async () => closeBlobs());
    let worker: Worker | undefined;
    if (config.ROLE !== 'web') {
      const sandbox = openSandbox({ threads: RENDERING_THREADS });
      stops.push(() => sandbox.close());
      const chores = [
        { name: 'purge the trash', every_ms: PURGE_MS, run: () => purgeTrash(db) },
        { name: 'take away deleted wikis', every_ms: DELETED_MS, run: () => removeDeletedWikis(db) },
        { name: 'sweep exports and files', every_ms: SWEEP_MS, run: () => sweepFiles(db, blobs) },
        { name: 'forget uploads', every_ms: FORGET_MS, run: () => forgetUploads(db, blobs) },
      ];
      const reader = openDocumentReader();
      stops.push(() => reader.close());
      const kinds = [
        ingestJob({ blobs, reader, sandbox, log }),
        exportJob({ blobs }),
        importJob({ blobs, sandbox, limits: limitsOf(config) }),
      ];
      const started = startWorker({ db, kinds, chores, log });
      stops.push(() => started.stop());
      worker = started;
      // By itself, so that what is written is soon folded also while a long upload is worked on.
      const upkeep = [
        { name: 'fold what was written into the search index', every_ms: FOLD_MS, run: () => keepIndexes(db) },
      ];
      const librarian = startWorker({ db, kinds: [reindexJob], chores: upkeep, log });
      stops.push(() => librarian.stop());
    }
    let address = '';
    let welcome: string | undefined;
    if (config.ROLE !== 'worker') {
      // Pages wait for each other, and never for the files of an upload.
      const renderer = openSandbox({ threads: RENDERING_THREADS });
      stops.push(() => renderer.close());
      const services = {
        renderPage: renderer.render,
        blobs,
        plans,
        wakeWorker: () => worker?.wake(),
        jobChanges: openJobChanges(db.in(SERVICE).query, (err) => log.warn({ err }, 'jobs could not be watched')),
        diskIsFull: () => postgres?.diskIsFull() ?? false,
        mail: config.SMTP_URL ? openSmtpMail(config.SMTP_URL, config.MAIL_FROM, log) : openLogMail(log),
        signIn: { sign_up: config.SIGN_UP, passwords: config.PASSWORD_SIGN_IN === 'on', openid },
      };
      stops.push(() => services.mail.settled());
      const app = await makeApp(config, db, log, services, identities);
      stops.push(() => app.close());
      address = await listen(app, config);
      welcome = await offerWelcomeLink(db.in(SERVICE).query, publicUrlOf(config));
      if (welcome) {
        log.info({ link: welcome }, `Nobody can sign in yet. Whoever opens this link is the first user: ${welcome}`);
      }
    }
    if (config.METRICS_PORT !== undefined) {
      const metrics = await serveMetrics(config.HOST, config.METRICS_PORT);
      stops.push(() => new Promise((resolve) => metrics.close(resolve)));
    }
    return { address, welcome, postgresPid: () => postgres?.pid, stop };
  } catch (error) {
    await stop().catch((err: unknown) => log.error({ err }, 'the stop after a start that failed was not orderly'));
    throw error;
  }
}

/** The owner of the tables migrates them; the service itself works with less. */
async function asOwner(connection: PoolConfig, work: (db: OwnerDb) => Promise<void>): Promise<void> {
  const owner = openDb({ connection, connections: 1 });
  try {
    await work(owner);
  } finally {
    await owner.close();
  }
}

async function makeDataDir(folder: string): Promise<void> {
  try {
    await mkdir(dirname(folder), { recursive: true });
    await mkdir(folder, { recursive: true, mode: 0o700 });
  } catch (cause) {
    throw dataDirError(cause, folder);
  }
}

function dataDirError(cause: unknown, folder: string): StartError {
  const known = toStartError(cause, folder);
  if (known instanceof StartError) return known;
  return new StartError(
    `DATA_DIR ${folder} cannot be used (${(cause as Error).message}): set DATA_DIR to a folder that can be written.`,
    { cause },
  );
}

async function openBlobs({ STORAGE_URL, DATA_DIR }: Config): Promise<{ blobs: Blobs; close(): void }> {
  const place = orStartError(() => (STORAGE_URL === undefined ? undefined : readS3Url(STORAGE_URL)));
  try {
    return await openStore(place, DATA_DIR);
  } catch (cause) {
    throw dataDirError(cause, DATA_DIR);
  }
}

async function makeApp(
  config: Config,
  db: ServiceDb,
  log: Logger,
  own: Pick<
    Services,
    'renderPage' | 'blobs' | 'plans' | 'wakeWorker' | 'jobChanges' | 'diskIsFull' | 'mail' | 'signIn'
  >,
  identities: IdentityProvider | undefined,
): Promise<FastifyInstance> {
  const service = db.in(SERVICE);
  const rates = ratesOf(config);
  const widgetTokens = await openWidgetTokens(service.query);
  const app = makeServer({
    endpoints: ENDPOINTS,
    db,
    credentials: credentialReader({ query: service.query, identities, widgetTokens }),
    services: {
      ...own,
      publicUrl: publicUrlOf(config),
      payments: builtInPayments(),
      widgetTokens,
      limits: limitsOf(config),
      rates,
    },
    limits:
      rates &&
      openRateLimits({
        rates,
        query: service.query,
        onSweepFailed: (err) => log.warn({ err }, 'counts of windows that have ended were not removed'),
      }),
    trustedProxies: config.TRUSTED_PROXIES,
    log,
  });
  registerWeb(app, { publicUrl: publicUrlOf(config), formBytes: config.MAX_JSON_SIZE + 3 * config.MAX_MARKDOWN_SIZE });
  registerServiceRoutes(app, { endpoints: ENDPOINTS, query: service.query, version: VERSION });
  return app;
}

function limitsOf(config: Config): Limits {
  return {
    json_bytes: config.MAX_JSON_SIZE,
    markdown_bytes: config.MAX_MARKDOWN_SIZE,
    file_bytes: config.MAX_FILE_SIZE,
    upload_bytes: config.MAX_UPLOAD_SIZE,
    upload_files: config.MAX_UPLOAD_FILES,
  };
}

function ratesOf(config: Config): Rates | undefined {
  if (config.RATE_LIMITS === 'off') return undefined;
  return {
    general: config.RATE_LIMIT_GENERAL,
    search: config.RATE_LIMIT_SEARCH,
    uploads: config.RATE_LIMIT_UPLOADS,
    auth: config.RATE_LIMIT_AUTH,
    invitations: config.RATE_LIMIT_INVITATIONS,
  };
}

function openIdentities({ OIDC_ISSUER: issuer, OIDC_AUDIENCE: audience }: Config, log: Logger) {
  if (!issuer || !audience) return undefined;
  return openIdentityProvider({ issuer, audience, log: (message, details) => log.warn(details ?? {}, message) });
}

function openSignIn(config: Config, log: Logger): OpenIdSignIn | undefined {
  const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: client_id, OIDC_CLIENT_SECRET: client_secret } = config;
  if (!issuer || !client_id) return undefined;
  const redirect_uri = publicUrlOf(config) + CALLBACK_PATH;
  const warn = (message: string, details?: object) => log.warn(details ?? {}, message);
  return openOpenIdSignIn({ issuer, client_id, client_secret, redirect_uri, log: warn });
}

function publicUrlOf({ PUBLIC_URL, HOST, PORT }: Config): string {
  return PUBLIC_URL ?? `http://${HOST}:${PORT}`;
}

function refuseOldNode({ PASSWORD_SIGN_IN }: Config): void {
  if (PASSWORD_SIGN_IN !== 'on' || typeof crypto.argon2 === 'function') return;
  throw new StartError('PASSWORD_SIGN_IN needs Node.js 24.7 or newer: update it, or set PASSWORD_SIGN_IN to off.');
}

/** What reads an option says what is wrong with it. */
function orStartError<T>(read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw new StartError((cause as Error).message, { cause });
  }
}

async function listen(app: FastifyInstance, { HOST: host, PORT: port }: Config): Promise<string> {
  try {
    return await app.listen({ host, port });
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE')
      throw new StartError(`Port ${port} of ${host} is in use: stop what listens there, or set PORT.`);
    if (code === 'EACCES')
      throw new StartError(`Port ${port} needs more rights than this user has: set PORT to 1024 or above.`);
    if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
      throw new StartError(
        `HOST ${host} is no address of this machine: set HOST to 127.0.0.1, 0.0.0.0 or one that it has.`,
      );
    }
    throw cause;
  }
}

/** Prometheus' text format, apart from the API so that it need not be guarded there. */
async function serveMetrics(host: string, port: number): Promise<Server> {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const server = createServer(async (request, response) => {
    if (request.url !== '/metrics') return void response.writeHead(404).end();
    response.writeHead(200, { 'content-type': registry.contentType }).end(await registry.metrics());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        new StartError(`METRICS_PORT ${port} cannot be used (${error.code}): set it to a free port, or to nothing.`),
      ),
    );
    server.listen(port, host, resolve);
  });
  return server;
}
