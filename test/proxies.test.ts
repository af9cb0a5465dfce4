import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { parse } from 'yaml';
import { runDoctor } from '../src/operation/cli/doctor/doctor.ts';
import type { Finding } from '../src/operation/operator/checks/finding.ts';
import { newId } from '../src/platform/core/ids.ts';
import { sql } from '../src/platform/db/sql.ts';
import { skip } from './browser.ts';
import { openBrowserFor } from './browser-visitor.ts';
import { makeFolder } from './process.ts';
import {
  documentedBlock,
  type RunningProxy,
  skipProxies,
  startDefaultNginx,
  startDocumentedCaddy,
  startDocumentedNginx,
} from './proxies.ts';
import { announce } from './resumable.ts';
import { until } from './until.ts';
import { makeDatabase, type Owner, openWorld } from './world.ts';

const MIB = 2 ** 20;
const DATABASE_URL = await makeDatabase();
const world = await openWorld({ DATABASE_URL, TRUSTED_PROXIES: '127.0.0.1', MAX_FILE_SIZE: '5MiB' });

interface Call {
  method?: string;
  headers?: Record<string, string>;
  body?: Uint8Array | string;
  /** Source address of the connection. */
  from?: string;
}

/** Sends a request through a proxy and returns before the body of the answer is read. */
function open(
  { address, ca }: RunningProxy,
  client: Owner,
  path: string,
  { method = 'GET', headers, body, from }: Call = {},
) {
  const send = address.startsWith('https:') ? requestHttps : requestHttp;
  const request = send(address + path, {
    method,
    ca,
    agent: false,
    headers: { authorization: `Bearer ${client.token}`, ...headers },
    // The host name would also resolve to an IPv6 address.
    lookup: (_name, { all }, found) =>
      all ? found(null, [{ address: '127.0.0.1', family: 4 }]) : found(null, '127.0.0.1', 4),
    ...(from && { localAddress: from }),
  });
  const answered = once(request, 'response').then(([answer]) => answer as IncomingMessage);
  answered.catch(() => undefined);
  if (body !== undefined) request.end(body);
  return { request, answered };
}

async function ask(proxy: RunningProxy, client: Owner, path: string, call: Call = {}) {
  const { request, answered } = open(proxy, client, path, call);
  if (call.body === undefined) request.end();
  const answer = await answered;
  const text = Buffer.concat(await answer.toArray()).toString();
  return { status: answer.statusCode, headers: answer.headers, text, body: text === '' ? undefined : JSON.parse(text) };
}

const TUS = { 'tus-resumable': '1.0.0', 'content-type': 'application/offset+octet-stream' };

function form(filename: string, content: Buffer): Call {
  const [head, end] = [
    `--x\r\ncontent-disposition: form-data; name="files"; filename="${filename}"\r\ncontent-type: text/plain\r\n\r\n`,
    '\r\n--x--\r\n',
  ];
  const body = Buffer.concat([Buffer.from(head), content, Buffer.from(end)]);
  return { method: 'POST', headers: { 'content-type': 'multipart/form-data; boundary=x' }, body };
}

const choose = (page: Page, name: string, buffer: Buffer) =>
  page
    .locator('input[type=file]:not([webkitdirectory])')
    .first()
    .setInputFiles({ name, mimeType: 'text/plain', buffer });

for (const [name, start] of [
  ['nginx', startDocumentedNginx],
  ['Caddy', startDocumentedCaddy],
] as const) {
  test(`${name} as documented`, { skip: skipProxies }, async (t) => {
    const proxy = await start(world.address);
    const owner = await world.owner();
    const wiki = `/v1/wikis/${owner.wiki_id}`;
    const content = Buffer.from(randomBytes(2 * MIB).toString('hex'));

    await t.test('an upload of 4 MiB passes in one request', async () => {
      const { status, text } = await ask(proxy, owner, `${wiki}/uploads`, form('large.txt', content));
      assert.equal(status, 201, text);
    });

    await t.test('a body too large for the service gets the error of the service, not of the proxy', async () => {
      const { status, body } = await ask(
        proxy,
        owner,
        `${wiki}/uploads`,
        form('larger.txt', Buffer.alloc(6 * MIB, 'a')),
      );
      assert.equal(status, 413);
      assert.match(body.message, /\w/);
      assert.notEqual(body.error, undefined);
    });

    await t.test('a cut upload resumes after the bytes that arrived', async () => {
      const { files } = await announce(owner, owner.wiki_id, { 'cut.txt': content });
      const address = files[0]?.path ?? '';
      const headers = { ...TUS, 'upload-offset': '0', 'content-length': String(content.length) };
      const cut = open(proxy, owner, address, { method: 'PATCH', headers });
      cut.request.on('error', () => undefined);
      cut.request.write(content.subarray(0, content.length / 2));
      const received = async () => (await owner.get(address)).body.received as number;
      // Bytes count once they are durable, which is when the request has ended or was cut.
      await new Promise<void>((resolve) => cut.request.once('drain', resolve));
      cut.request.destroy();
      const offset = await until('bytes have arrived', received, (bytes) => bytes > 0);
      const rest = await until(
        'the rest is taken',
        async () => {
          const at = await received();
          const { status } = await ask(proxy, owner, address, {
            method: 'PATCH',
            headers: { ...TUS, 'upload-offset': String(at) },
            body: content.subarray(at),
          });
          return status;
        },
        (status) => status === 204,
      );
      assert.deepEqual([rest, offset > 0 && offset < content.length], [204, true]);
      assert.equal(await received(), content.length);
    });

    await t.test('an event arrives while its stream is open', async () => {
      const job_id = newId('job');
      await world.db.query(sql`insert into jobs (wiki_id, job_id, kind, run_after)
        values (${owner.wiki_id}, ${job_id}, 'reindex', now() + interval '1 day')`);
      const { request, answered } = open(proxy, owner, `${wiki}/jobs/${job_id}/events`);
      request.end();
      const answer = await answered;
      assert.match(String(answer.headers['content-type']), /^text\/event-stream/);
      let text = '';
      answer.setEncoding('utf8').on('data', (chunk) => (text += chunk));
      await until(
        'the first event',
        () => text,
        (seen) => /^event: job$/m.test(seen),
      );
      request.destroy();
    });

    await t.test('the audit log has the address of the caller, whatever address the caller names', async () => {
      const { status } = await ask(proxy, owner, `${wiki}/pages`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-forwarded-for': '203.0.113.9' },
        body: JSON.stringify({ title: `From ${name}`, markdown: 'x' }),
        from: '127.0.0.2',
      });
      assert.equal(status, 201);
      const { body } = await owner.get(`/v1/workspaces/${owner.workspace_id}/audit-events`);
      const made = body.find(({ type }: { type: string }) => type === 'page.created');
      assert.equal(made?.address, '127.0.0.2');
    });
  });
}

test('nginx with its defaults', { skip: skipProxies || skip }, async (t) => {
  const proxy = await startDefaultNginx(world.address);
  const owner = await world.owner();

  await t.test('the doctor reports that nginx refuses 2 MB, and says which setting to change', async () => {
    const publicOf = async (PUBLIC_URL: string) => {
      const lines: string[] = [];
      await runDoctor({ DATABASE_URL, DATA_DIR: await makeFolder(), PUBLIC_URL }, ['--json'], (line) =>
        lines.push(line),
      );
      const { findings } = JSON.parse(lines.join('\n')) as { findings: (Finding & { check: string })[] };
      return findings.filter(({ check }) => check === 'public');
    };
    const [found] = await publicOf(proxy.address);
    assert.equal(found?.level, 'problem');
    assert.match(
      found?.seen ?? '',
      /^a request of 2 MB to .* is refused by nginx\/\S+ in front of the service \(413\)$/,
    );
    assert.match(found?.advice ?? '', /client_max_body_size.*docs\/operations\/proxy\.md/);
    const [direct] = await publicOf(world.address);
    assert.deepEqual([direct?.level, direct?.seen], ['ok', `${world.address} answers, and accepts requests of 2 MB`]);
  });

  const context = await openBrowserFor({ ...world, address: proxy.address }, owner.user_id);
  const page = await context.newPage();
  const { body } = await owner.get('/v1/overview');
  const root = `${proxy.address}/${body.session.organizations[0].slug}/${body.wikis[0].slug}`;
  const statuses: number[] = [];
  page.on('response', (response) => {
    if (response.request().method() === 'PATCH') statuses.push(response.status());
  });

  await t.test('a file of 4 MiB is sent in parts that pass, and becomes a page', async () => {
    await page.goto(`${root}/-/upload`);
    await page.locator('html.scripted').waitFor();
    await choose(page, 'large.txt', Buffer.from(randomBytes(2 * MIB).toString('hex')));
    const wiki = `/v1/wikis/${owner.wiki_id}`;
    await until(
      'all bytes have arrived',
      async () => (await owner.get(`${wiki}/uploads`)).body[0]?.status,
      (status) => status !== undefined && status !== 'uploading',
    );
    assert.ok(statuses.includes(413), 'the first part was larger than nginx takes');
  });
});

test('if no part is small enough for the proxy, the page says that the proxy refuses it', {
  skip: skipProxies || skip,
}, async () => {
  const proxy = await startDefaultNginx(world.address, 'client_max_body_size 32k;');
  const owner = await world.owner();
  const { body } = await owner.get('/v1/overview');
  const root = `${proxy.address}/${body.session.organizations[0].slug}/${body.wikis[0].slug}`;
  const page = await (await openBrowserFor({ ...world, address: proxy.address }, owner.user_id)).newPage();
  await page.goto(`${root}/-/upload`);
  await page.locator('html.scripted').waitFor();
  await choose(page, 'small.txt', Buffer.alloc(MIB, 'a'));
  const panel = page.getByRole('region', { name: 'Upload' });
  await panel.getByText('A proxy or firewall in front of the service').waitFor();
  const text = (await panel.textContent()) ?? '';
  assert.match(text, /rejected the request as too large \(413\)\. Ask the operator to raise its limit\./);
  assert.doesNotMatch(text, /cannot be reached/);
  assert.equal(await panel.getByText('sent', { exact: true }).count(), 0, 'nothing of the file has arrived');
});

test('the blocks for Apache and Traefik have the same settings as the other blocks', () => {
  const apache = documentedBlock('apache');
  for (const setting of [
    'LimitRequestBody 0',
    'AllowEncodedSlashes NoDecode',
    'ProxyPreserveHost On',
    'flushpackets=on',
  ]) {
    assert.ok(apache.includes(setting), setting);
  }
  const { http } = parse(documentedBlock('yaml'));
  assert.equal(http.routers.wiki.service, Object.keys(http.services)[0]);
});
