import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '@ibid/postgres-server/postgres.ts';
import pg from 'pg';
import { type Logger, pino } from 'pino';
import { makeKey } from '../src/operation/cli/key.ts';
import { readConfig } from '../src/operation/config.ts';
import type { ServiceHooks } from '../src/operation/service/hooks.ts';
import { startService } from '../src/operation/service/start-service.ts';
import type { RoleSlug } from '../src/platform/access/roles.ts';
import { newId } from '../src/platform/core/ids.ts';
import { PACKAGE } from '../src/platform/core/package/package-files.ts';
import { type OwnerDb, openDb } from '../src/platform/db/db.ts';
import { sql } from '../src/platform/db/sql.ts';
import { BUDGETS_MS } from '../src/platform/http/handler/budget.ts';
import { cleanUp } from './clean-up.ts';
import { addressOf } from './database-address.ts';
import type { Send } from './keep-alive.ts';
import { until } from './until.ts';

/** Six times the budgets of production, so that tests of other features pass on a machine a fifth as fast. */
Object.assign(BUDGETS_MS, { read: 60_000, write: 180_000 });

/** An answer with its body decoded, JSON or text. */
export interface Answer {
  status: number;
  headers: Headers;
  // Tests read answers of every shape.
  body: any;
}

/** A caller of the API, with or without a credential. */
export interface Client {
  token: string | undefined;
  user_id: string;
  get(path: string, headers?: Record<string, string>): Promise<Answer>;
  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  patch(path: string, body?: unknown): Promise<Answer>;
  send(method: string, path: string, init?: RequestInit): Promise<Answer>;
}

export interface Owner extends Client {
  workspace_id: string;
  wiki_id: string;
  membership_id: string;
}

export interface Hooks extends Pick<ServiceHooks, 'observe' | 'rewrite' | 'services' | 'jobServices'> {
  /** Logger of the service; silent by default. */
  log?: Logger;
}

export interface World {
  /** The database as its owner, who sees all rows. */
  db: OwnerDb;
  address: string;
  /** The text of every statement that the service has sent. */
  statements: string[];
  anonymous: Client;
  as(token: string | undefined, user_id?: string): Client;
  /** Creates a user with a personal key and no workspace. */
  person(email?: string): Promise<Client>;
  /** Creates a user who has onboarded. */
  owner(email?: string): Promise<Owner>;
  member(
    workspace_id: string,
    role: RoleSlug,
    status?: 'active' | 'inactive',
  ): Promise<Client & { membership_id: string }>;
  workspaceKey(email: string, workspace_id: string): Promise<Client>;
  /** Uploads files by name and content, waits for the job's end and returns the upload. */
  upload(client: Client, wiki_id: string, files: Record<string, string | Uint8Array>): Promise<Answer>;
}

/** The service's check of the database clock each minute, which may run during any request. */
const OF_THE_CLOCK = /^\s*select \(extract\(epoch from clock_timestamp\(\)\) \* 1000\)/;

/**
 * Starts the service in this process on a new database: on the PostgreSQL of the test run (IBID_TEST_DATABASE_URL, or
 * DATABASE_URL), else on a server started here. Everything is stopped after the tests of the file.
 */
export async function openWorld(env: Record<string, string> = {}, hooks: Hooks = {}): Promise<World> {
  const folder = await mkdtemp(join(tmpdir(), 'ibid-test-'));
  cleanUp(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  const database = env.DATABASE_URL ?? (await makeDatabase());
  const statements: string[] = [];
  const { log = pino({ level: process.env.TEST_LOG_LEVEL ?? 'silent' }), ...rest } = hooks;
  const config = readConfig({
    PORT: '0',
    DATA_DIR: join(folder, 'data'),
    // test/storage.long.test.ts runs other tests again with this, on a bucket.
    STORAGE_URL: process.env.IBID_TEST_STORAGE_URL,
    // Tests send more requests than the limits allow. The tests of limits enable them.
    RATE_LIMITS: 'off',
    // The log is written at any time, and would add to the statements of requests.
    REQUEST_LOG_SIZE: '0',
    ...env,
    DATABASE_URL: database,
  });
  const observe: ServiceHooks['observe'] = (text, values) => {
    if (!OF_THE_CLOCK.test(text)) statements.push(text);
    hooks.observe?.(text, values);
  };
  const service = await startService(config, log, { ...rest, observe });
  cleanUp(() => service.stop());
  return worldOf(openOwner(database), service.address, statements);
}

/** Opens the database as its owner, until the tests of the file have ended. */
export function openOwner(database: string): OwnerDb {
  const db = openDb({ connection: { connectionString: database }, connections: 4 });
  cleanUp(() => db.close());
  return db;
}

export function worldOf(db: OwnerDb, address: string, statements: string[] = [], sender: Send = fetch): World {
  const as = (token: string | undefined, user_id = '') => makeClient(address, token, user_id, sender);

  async function person(email = `${randomUUID()}@example.com`): Promise<Client> {
    const token = await makeKey(db, { email, name: 'test', workspace_id: null });
    const [row] = await db.query<{ user_id: string }>(sql`select user_id from users where email = ${email}`);
    return as(token, row?.user_id);
  }

  return {
    db,
    address,
    statements,
    anonymous: as(undefined),
    as,
    person,
    async owner(email) {
      const client = await person(email);
      const { body } = await client.post('/v1/onboarding');
      const workspace_id = body.workspace.workspace_id;
      const [row] = await db.query<{ membership_id: string }>(sql`
        select membership_id from memberships where workspace_id = ${workspace_id} and user_id = ${client.user_id}`);
      return {
        ...client,
        workspace_id,
        wiki_id: body.overview.wikis[0].wiki_id,
        membership_id: row?.membership_id ?? '',
      };
    },
    async member(workspace_id, role, status = 'active') {
      const client = await person();
      const membership_id = newId('mem');
      await db.query(sql`
        insert into memberships (membership_id, workspace_id, user_id, role, status)
        values (${membership_id}, ${workspace_id}, ${client.user_id}, ${role}, ${status})`);
      return { ...client, membership_id };
    },
    async workspaceKey(email, workspace_id) {
      return as(await makeKey(db, { email, name: 'test', workspace_id }));
    },
    async upload(client, wiki_id, files) {
      const form = new FormData();
      for (const [name, content] of Object.entries(files)) form.append('files', new Blob([content as string]), name);
      const made = await client.send('POST', `/v1/wikis/${wiki_id}/uploads`, { body: form });
      if (made.status !== 201) return made;
      return waitForUpload(client, wiki_id, made.body.upload_id);
    },
  };
}

/** Waits until the upload has ended and returns it, or the refusal if the client may not read it. */
export async function waitForUpload(client: Client, wiki_id: string, upload_id: string): Promise<Answer> {
  const path = `/v1/wikis/${wiki_id}/uploads/${upload_id}`;
  let looks = 0;
  let jobs: Answer['body'] = [];
  await until(
    `the upload ${upload_id} has ended`,
    async () => {
      const { status, body } = await client.get(path);
      if (status !== 200 || body.finished_at) return 'ended';
      // Progress of the jobs, so that a long upload counts as news. A job that is retried while the store is
      // unavailable makes no progress, so `updated_at` and `attempt` do not count.
      if (looks++ % 10 === 9) ({ body: jobs } = await client.get(`/v1/wikis/${wiki_id}/jobs?upload_id=${upload_id}`));
      return [body, jobs].flat().map(({ updated_at, attempt, ...rest }) => rest);
    },
    (seen) => seen === 'ended',
  );
  return client.get(path);
}

function makeClient(address: string, token: string | undefined, user_id: string, sender: Send): Client {
  async function send(method: string, path: string, init: RequestInit = {}): Promise<Answer> {
    const headers = new Headers(init.headers);
    if (token !== undefined && !headers.has('authorization')) headers.set('authorization', `Bearer ${token}`);
    const response = await sender(address + path, { ...init, method, headers });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.startsWith('application/json');
    return {
      status: response.status,
      headers: response.headers,
      body: isJson && text !== '' ? JSON.parse(text) : text,
    };
  }
  const withJson = (method: string, path: string, body: unknown, headers: Record<string, string> = {}) =>
    send(method, path, {
      headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  return {
    token,
    user_id,
    send,
    get: (path, headers) => send('GET', path, headers && { headers }),
    post: (path, body, headers) => withJson('POST', path, body, headers),
    patch: (path, body) => withJson('PATCH', path, body),
  };
}

/** Creates a database for this test file, on the server of the run or on a server started for this file. */
export function makeDatabase(): Promise<string> {
  return copyDatabase(process.env.IBID_TEST_TEMPLATE || 'template0');
}

export function makeEmptyDatabase(): Promise<string> {
  return copyDatabase('template0');
}

async function copyDatabase(template: string): Promise<string> {
  const shared = process.env.IBID_TEST_DATABASE_URL || process.env.DATABASE_URL;
  const server = new URL(shared || (await startOwnPostgres()));
  const name = `ibid_test_${randomUUID().replaceAll('-', '')}`;
  await administer(server, `create database ${name} encoding 'UTF8' template ${template} strategy file_copy`);
  // A server of this file alone is removed with all its databases.
  if (shared) cleanUp(() => dropDatabase(server, name));
  const address = new URL(server);
  address.pathname = `/${name}`;
  return address.href;
}

/** Drops a database. Its owner cannot terminate a running autovacuum worker, so retry until that has ended. */
async function dropDatabase(server: URL, name: string): Promise<void> {
  await until(
    `the database ${name} is dropped`,
    () =>
      administer(server, `drop database ${name} with (force)`).then(
        () => 'dropped',
        (error) => {
          if (error.code !== '42501') throw error;
          return String(error);
        },
      ),
    (seen) => seen === 'dropped',
  );
}

async function administer(server: URL, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: server.href });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

async function startOwnPostgres(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'ibid-pg-'));
  const postgres = await startPostgres({ dataDir: folder, log: () => undefined });
  cleanUp(async () => {
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
  });
  return addressOf(postgres.connection);
}

/** Returns real files by name from the folder next to this checkout, or undefined if it does not exist. */
export async function corpus(folder: string): Promise<Record<string, Buffer> | undefined> {
  const path = new URL(`../shared/corpora/${folder}/`, PACKAGE);
  const names = await readdir(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (!names) return undefined;
  const entries = await Promise.all(
    names.map(async (name) => [name, await readFile(new URL(encodeURIComponent(name), path))] as const),
  );
  return Object.fromEntries(entries);
}
