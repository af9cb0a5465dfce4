import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { newId } from '../src/platform/core/ids.ts';
import { sql } from '../src/platform/db/sql.ts';
import { longTest } from './extent.ts';
import { startWebService } from './process.ts';
import { until } from './until.ts';
import type { Client } from './world.ts';

/** The cost of 2,000 open event streams and 500 slow connections to other clients. */
const { port, service, world } = await startWebService({ NODE_OPTIONS: '--inspect-port=0' });
const WORKSPACES = 10;
const READERS = 10;
const STREAMS = 20;

/** Adds a job to the wiki that no worker runs, and returns the path of its events. */
async function idleJob(wiki_id: string): Promise<string> {
  const job_id = newId('job');
  await world.db.query(sql`insert into jobs (wiki_id, job_id, kind) values (${wiki_id}, ${job_id}, 'reindex')`);
  return `/v1/wikis/${wiki_id}/jobs/${job_id}/events`;
}

const sockets: Socket[] = [];
let received = 0;

function follow(path: string, { token }: Client): void {
  const socket = connect({ host: '127.0.0.1', port });
  socket.once('data', () => (received += 1));
  socket.on('error', () => undefined);
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n\r\n`);
  sockets.push(socket);
}

/** Forces a garbage collection in the service, through its debugger. */
async function collectGarbage(): Promise<void> {
  service.kill('SIGUSR1');
  const [, address = ''] = await until('the debugger listens', () =>
    /Debugger listening on (ws:\S+)/.exec(service.stderr()),
  );
  const socket = new WebSocket(address);
  await once(socket, 'open');
  socket.send(JSON.stringify({ id: 1, method: 'HeapProfiler.collectGarbage' }));
  await once(socket, 'message');
  socket.close();
}

/** Returns the resident memory after a garbage collection, so that earlier requests do not affect it. */
async function residentKiB(): Promise<number> {
  await collectGarbage();
  const status = await readFile(`/proc/${service.pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]);
}

/** Returns the number of transactions that PostgreSQL has counted for the service's database. */
async function transactions(): Promise<number> {
  const [row] = await world.db.query<{ count: string }>(sql`
    select (xact_commit + xact_rollback)::text as count from pg_stat_database where datname = current_database()`);
  return Number(row?.count);
}

async function statementsPerSecond(): Promise<number> {
  const began = await transactions();
  const time = performance.now();
  await setTimeout(6_000);
  return ((await transactions()) - began) / ((performance.now() - time) / 1_000);
}

test('a user may have 20 open streams, with any number of keys, and the next one is 429', async () => {
  const owner = await world.owner();
  const path = await idleJob(owner.wiki_id);
  const { body: key } = await owner.post('/v1/me/api-keys', { name: 'Another' });
  for (let i = 0; i < STREAMS; i += 1) follow(path, owner);
  await until(
    'all are open',
    () => received,
    (count) => count === STREAMS,
  );
  for (const client of [owner, world.as(key.secret)]) {
    const { status, headers } = await client.get(path);
    assert.deepEqual([status, Number(headers.get('retry-after')) > 0], [429, true]);
  }
  for (const socket of sockets.splice(0)) socket.destroy();
  received = 0;
});

longTest('2,000 idle streams share their access checks, and a stream takes less than 48 KiB', async () => {
  const before = await residentKiB();
  for (let i = 0; i < WORKSPACES; i += 1) {
    const owner = await world.owner();
    const path = await idleJob(owner.wiki_id);
    for (let k = 0; k < READERS; k += 1) {
      const reader = await world.member(owner.workspace_id, 'viewer');
      for (let n = 0; n < STREAMS; n += 1) follow(path, reader);
    }
    await until(
      'all are open',
      () => received,
      (count) => count === (i + 1) * READERS * STREAMS,
    );
  }
  const each = ((await residentKiB()) - before) / sockets.length;
  assert.equal(sockets.length, 2_000);
  assert.ok(each < 48, `${each.toFixed(1)} KiB for each stream`);
  // 100 readers poll every 3 s, and watched jobs twice a second; one poll per stream would be 667 a second. PostgreSQL
  // counts transactions up to 10 s late, so wait until the transactions that opened the streams are counted.
  await until('fewer than 120 statements a second are sent', statementsPerSecond, (perSecond) => perSecond < 120);
});

longTest(
  '500 connections that send their headers a byte at a time are closed, and do not delay other requests',
  async () => {
    const owner = await world.owner();
    const slow = Array.from({ length: 500 }, () => {
      const socket = connect({ host: '127.0.0.1', port });
      socket.on('error', () => undefined);
      socket.resume();
      socket.write('GET /v1/me HTTP/1.1\r\nHost: x\r\nX-');
      return socket;
    });
    const timer = setInterval(() => {
      for (const socket of slow) if (!socket.destroyed) socket.write('x');
    }, 1_000);
    assert.equal((await owner.get('/v1/me')).status, 200);
    await until(
      'all are closed',
      () => slow.filter(({ closed }) => !closed).length,
      (left) => left === 0,
    );
    clearInterval(timer);
    assert.equal((await owner.get('/v1/me')).status, 200);
    for (const socket of sockets) socket.destroy();
  },
);
