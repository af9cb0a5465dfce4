import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { sql } from '../src/platform/db/sql.ts';
import { extent } from './extent.ts';
import {
  bytesOf,
  type End,
  type FuzzedConnection,
  fuzzedConnections,
  type ValidRequest,
} from './fuzz/connection-bytes.ts';
import { openFuzzedService } from './fuzz/fuzzed-service.ts';
import { MINUTES, runCases } from './fuzz/run-cases.ts';
import { announce } from './resumable.ts';
import { signedInClient } from './signed-in.ts';
import { inTime, until } from './until.ts';
import { zipOf } from './zip.ts';

/**
 * Fuzzed connections: requests that are truncated, altered, misframed, sent slowly, abandoned, or whose answers are
 * never read.
 */
const CASES = MINUTES > 0 ? 500 : extent(60, 25);
/** Timeout for an answer to a complete request; an incomplete request may keep its connection open for longer. */
const WAIT_MS = 1_000;
/** Timeout of a read on another connection, on a machine that runs other tests too. */
const HANGS_MS = 30_000;

const service = await openFuzzedService({ PASSWORD_SIGN_IN: 'on' });
const { world } = service;
const { port } = new URL(world.address);
const owner = await world.owner();
await world.upload(owner, owner.wiki_id, {
  'guide/setup.md': '# Setup\n\nText.\n',
  'more.md': '# More\n\n[[Setup]]\n',
});
const valid = await validRequests();
const answered: Record<string, number> = {};

/** Returns a request for each way in which the service reads or writes bytes. */
async function validRequests(): Promise<ValidRequest[]> {
  const wiki = `/v1/wikis/${owner.wiki_id}`;
  const api = `Host: x\r\nAuthorization: Bearer ${owner.token}\r\n`;
  const pages = (await owner.get(`${wiki}/pages`)).body;
  const { page_id, revision } = pages[0];
  const [{ job_id }] = (await owner.get(`${wiki}/jobs`)).body;
  const announced = await announce(owner, owner.wiki_id, { 'later.md': Buffer.from('# Text') });
  const file = announced.files[0]?.path;
  const { body: browser } = await (await signedInClient(world, owner.user_id)).post('/v1/auth/browser');
  const web = `Host: x\r\nCookie: ibid=${browser.browser_secret}\r\nSec-Fetch-Site: same-origin\r\nAccept: text/html\r\n`;
  const form = 'Content-Type: multipart/form-data; boundary=B\r\n';
  const part = (field: string, name: string, content: string) =>
    `--B\r\nContent-Disposition: form-data; name="${field}"; filename="${name}"\r\nContent-Type: text/plain\r\n\r\n${content}\r\n`;
  const zip = Buffer.from(
    zipOf([
      ['a.md', '# A\n\nText.\n'],
      ['b/c.md', '# C\n'],
    ]),
  ).toString('latin1');
  const json = 'Content-Type: application/json\r\n';
  const get = (path: string, more = api) => ({ head: `GET ${path} HTTP/1.1\r\n${more}`, body: '' });
  const post = (path: string, more: string, body: string) => ({ head: `POST ${path} HTTP/1.1\r\n${more}`, body });
  const { body: picture } = await owner.send('POST', `${wiki}/pages/${page_id}/attachments`, { body: attachedForm() });
  const { body: overview } = await owner.get('/v1/overview');
  const home = `/${overview.session.organizations[0].slug}/${overview.wikis[0].slug}`;
  return [
    get(`${wiki}/pages/${page_id}`),
    get(`${wiki}/tree`),
    get(`${wiki}/attachments/${picture.attachment_id}`, `${api}Range: bytes=1-\r\n`),
    get(`${wiki}/search?query=text`),
    get(`${wiki}/jobs/${job_id}/events`, `${api}Accept: text/event-stream\r\n`),
    get(home, web),
    post(`${wiki}/pages`, api + json, JSON.stringify({ title: 'Made', markdown: '# Text\n'.repeat(200) })),
    {
      head: `PATCH ${wiki}/pages/${page_id} HTTP/1.1\r\n${api}${json}`,
      body: JSON.stringify({ markdown: 'Other text', base_revision: revision }),
    },
    post(
      `${wiki}/uploads`,
      api + form,
      `${part('files', 'a.md', '# A\n\nText.\n')}${part('files', 'b/c.txt', 'Text.')}--B--\r\n`,
    ),
    post(`${wiki}/uploads`, api + form, `${part('files', 'all.zip', zip)}--B--\r\n`),
    post(`${wiki}/imports`, api + form, `${part('file', 'all.zip', zip)}--B--\r\n`),
    post(`${wiki}/pages/${page_id}/attachments`, api + form, `${part('file', 'a.txt', 'Text.')}--B--\r\n`),
    {
      head: `PATCH ${file} HTTP/1.1\r\n${api}Tus-Resumable: 1.0.0\r\nUpload-Offset: 0\r\nContent-Type: application/offset+octet-stream\r\n`,
      body: '# Text',
    },
    post(
      `${home}/-/new`,
      `${web}Content-Type: application/x-www-form-urlencoded\r\n`,
      'title=By+a+form&markdown=Text&do=save',
    ),
    post(`${home}/-/upload`, web + form, `${part('files', 'a.md', '# A\n')}--B--\r\n`),
    post(
      '/sign-in',
      `Host: x\r\nContent-Type: application/x-www-form-urlencoded\r\n`,
      'email=a%40example.com&password=x',
    ),
  ];
}

function attachedForm(): FormData {
  const form = new FormData();
  form.append('file', new Blob(['Text of a file.']), 'a.txt');
  return form;
}

/** Sends the bytes as the case describes, and returns all received data. */
function send(connection: FuzzedConnection): Promise<string> {
  const bytes = bytesOf(connection, valid);
  return new Promise((resolve) => {
    const socket = connect({ port: Number(port), host: '127.0.0.1', allowHalfOpen: true });
    let answer = '';
    let isSent = false;
    const over = () => {
      clearTimeout(timer);
      socket.destroy();
      resolve(answer);
    };
    // Extended while the connection may still deliver an answer.
    let timer = setTimeout(over, 10 * WAIT_MS);
    const wait = (ms: number) => {
      clearTimeout(timer);
      timer = setTimeout(over, ms);
    };
    socket.on('error', over).on('close', over).on('end', over);
    if (connection.end !== 'unread') {
      socket.on('data', (data) => {
        answer += data.toString('latin1');
        if (connection.end === 'answered') over();
        else if (isSent) wait(WAIT_MS / 10);
      });
    }
    socket.once('connect', async () => {
      const size = connection.piece || Math.max(bytes.length, 1);
      for (let from = 0; from < bytes.length && !socket.destroyed; from += size) {
        socket.write(bytes.subarray(from, from + size));
        if (connection.pause_ms > 0 && connection.piece > 0) await delay(connection.pause_ms);
      }
      isSent = true;
      after[connection.end](socket, over);
      wait(WAIT_MS);
    });
  });
}

const after: Record<End, (socket: ReturnType<typeof connect>, over: () => void) => void> = {
  wait: () => undefined,
  answered: () => undefined,
  unread: () => undefined,
  half: (socket) => socket.end(),
  // Give the bytes time to leave.
  reset: (socket, over) =>
    setTimeout(() => {
      socket.resetAndDestroy();
      over();
    }, 2),
};

function checkAnswers(answer: string): void {
  if (answer === '') return;
  assert.match(answer, /^HTTP\/1\.1 \d{3} /, `what comes back is an answer: ${answer.slice(0, 300)}`);
  for (const [, status = ''] of answer.matchAll(/HTTP\/1\.1 (\d{3}) [A-Z]/g)) {
    answered[status] = (answered[status] ?? 0) + 1;
    assert.ok(Number(status) < 500, `no bytes make the service fail: ${answer.slice(0, 600)}`);
  }
}

function assertNoErrors(): void {
  const log = service.takeLog();
  assert.ok(!/"level":(?:50|60)/.test(log), `nothing is logged as an error: ${log.slice(0, 3_000)}`);
}

async function checkCase(connections: FuzzedConnection[]): Promise<void> {
  const answers = await Promise.all(connections.map(send));
  await service.assertAlive();
  for (const answer of answers) checkAnswers(answer);
  const asked = fetch(`${world.address}/v1/wikis/${owner.wiki_id}`, {
    headers: { authorization: `Bearer ${owner.token}` },
  });
  const { status } = await inTime('another connection is not answered', asked, HANGS_MS);
  assert.equal(status, 200, 'another connection is answered');
  assertNoErrors();
}

test('a client that disconnects within its body is not logged as a failure of the service', async () => {
  const whole: Omit<FuzzedConnection, 'requests' | 'cut'> = {
    framing: { kind: 'length', added: 0 },
    changes: [],
    piece: 0,
    pause_ms: 0,
    end: 'half',
  };
  for (const [which, { body }] of valid.entries()) {
    if (body === '') continue;
    const connection = { ...whole, requests: [which], cut: undefined };
    const cut = bytesOf(connection, valid).length - Math.ceil(body.length / 2);
    for (const end of ['half', 'reset'] as const) checkAnswers(await send({ ...connection, cut, end }));
    assertNoErrors();
  }
});

test('no bytes of a connection stop the service, make it fail, or hold a transaction open', async (t) => {
  await runCases(t, {
    cases: CASES,
    arbitrary: fuzzedConnections(valid.length),
    show: (connections) =>
      connections
        .map(
          (one) => `${JSON.stringify(one)}\n${JSON.stringify(bytesOf(one, valid).toString('latin1').slice(0, 1_500))}`,
        )
        .join('\n'),
    check: checkCase,
    async afterSeed() {
      // A truncated body holds no transaction; the service may still be working on the bytes that arrived.
      await until(
        'no transaction waits for bytes',
        () =>
          world.db.query<{ query: string }>(sql`
            select query from pg_stat_activity
            where state like 'idle in transaction%' and xact_start < now() - interval '5 seconds'`),
        (held) => held.length === 0,
      );
    },
  });
  t.diagnostic(`${Object.entries(answered).map(([status, times]) => `${status}: ${times}`)}`);
});
