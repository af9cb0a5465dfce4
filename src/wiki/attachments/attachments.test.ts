import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readlink, rm, unlink } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { cleanUp } from '../../../test/clean-up.ts';
import { sendRaw } from '../../../test/raw-http.ts';
import { until } from '../../../test/until.ts';
import { type Client, openWorld } from '../../../test/world.ts';
import { sql } from '../../platform/db/sql.ts';

const folder = await mkdtemp(join(tmpdir(), 'ibid-attachments-'));
cleanUp(() => rm(folder, { recursive: true, force: true }));
const world = await openWorld({ DATA_DIR: folder, MAX_FILE_SIZE: '4MiB' });
const owner = await world.owner();
const wiki = `/v1/wikis/${owner.wiki_id}`;
await world.upload(owner, owner.wiki_id, { 'page.md': '# Page\n', 'other.md': '# Other\n' });
const [page, other] = await Promise.all(
  ['page', 'other'].map(async (path) => (await owner.get(`${wiki}/pages/path/${path}`)).body.page_id as string),
);
const blobs = join(folder, 'blobs');

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==',
  'base64',
);

function attach(content: Uint8Array | string, name = 'file.bin', type = '', by: Client = owner, to = page) {
  const body = new FormData();
  body.append('file', new Blob([content as Uint8Array<ArrayBuffer>], { type }), name);
  return by.send('POST', `${wiki}/pages/${to}/attachments`, { body });
}

/** Fetches the raw bytes; the client of the tests would decode them as text. */
async function bytesOf(attachment_id: string, headers: Record<string, string> = {}, method = 'GET') {
  const response = await fetch(`${world.address}${wiki}/attachments/${attachment_id}`, {
    method,
    headers: { authorization: `Bearer ${owner.token}`, ...headers },
  });
  return { status: response.status, headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) };
}

test('a picture comes back byte for byte with its type, name and hash, and may be shown inline', async () => {
  const { status, body } = await attach(PNG, 'Plan of the house.png', 'text/html');
  assert.equal(status, 201);
  const sha256 = createHash('sha256').update(PNG).digest('hex');
  const { attachment_id, created_at, ...rest } = body;
  assert.match(attachment_id, /^attachment_[0-9a-z]{26}$/);
  assert.ok(created_at);
  assert.deepEqual(rest, {
    wiki_id: owner.wiki_id,
    page_id: page,
    filename: 'Plan of the house.png',
    content_type: 'image/png',
    byte_size: PNG.length,
    sha256,
    created_by: owner.user_id,
  });
  const got = await bytesOf(attachment_id);
  assert.equal(got.status, 200);
  assert.deepEqual(got.bytes, PNG);
  const headers = Object.fromEntries(got.headers);
  assert.equal(headers['content-type'], 'image/png');
  assert.equal(headers['content-length'], String(PNG.length));
  assert.equal(headers['content-disposition'], 'inline; filename="Plan of the house.png"');
  assert.equal(headers['content-security-policy'], "default-src 'none'; sandbox; frame-ancestors 'none'");
  assert.equal(headers['x-content-type-options'], 'nosniff');
  assert.equal(headers['cache-control'], 'private, no-cache');
  assert.equal(headers.etag, `"${sha256}"`);
  assert.equal(headers['accept-ranges'], 'bytes');
  const listed = await owner.get(`${wiki}/pages/${page}/attachments`);
  assert.deepEqual(listed.body, [body]);
});

test('the type of a file comes from its bytes, not from its name or the declared type; active content is never shown inline', async () => {
  const chunk = (name: string, data: string) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(data.length);
    return Buffer.concat([length, Buffer.from(name + data), Buffer.alloc(4)]);
  };
  const files: [name: string, claim: string, content: Uint8Array | string, type: string, shown?: boolean][] = [
    ['a.png', 'image/png', '<html><script>alert(1)</script>', 'text/plain; charset=utf-8'],
    ['b.png', 'image/png', '\x89PNG\r\n\x1a\n<script>alert(1)</script>', 'application/octet-stream'],
    [
      'c.png',
      'image/png',
      Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), Buffer.from('<html><script>alert(1)</script>')]),
      'application/octet-stream',
    ],
    [
      'd.html',
      'text/html',
      Buffer.concat([PNG.subarray(0, 33), chunk('tEXt', '<script>alert(1)</script>'), PNG.subarray(33)]),
      'image/png',
      true,
    ],
    ['e.html', 'text/html', 'GIF89a/*<script>alert(1)</script>*/=1', 'image/gif', true],
    [
      'f.svg',
      'image/svg+xml',
      '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>',
      'image/svg+xml',
    ],
    [
      'g.png',
      'image/png',
      '\ufeff<?xml version="1.0"?>\n<!-- x --><!-- y -->\n<svg onload="alert(1)"/>',
      'image/svg+xml',
    ],
    [
      'h.svg',
      'image/svg+xml',
      '<!DOCTYPE svg [<!ENTITY x SYSTEM "file:///etc/passwd">]><svg>&x;</svg>',
      'text/plain; charset=utf-8',
    ],
    [
      'i.xhtml',
      'application/xhtml+xml',
      '<?xml version="1.0"?><html xmlns="x"><script/></html>',
      'text/plain; charset=utf-8',
    ],
    ['j.js', 'text/javascript', 'alert(1)', 'text/plain; charset=utf-8'],
    ['k.pdf', 'text/html', '%PDF-1.4\n<script>alert(1)</script>', 'application/pdf'],
    ['l.zip', 'image/png', `PK\x03\x04${'\0'.repeat(40)}`, 'application/zip'],
    ['m.txt', 'text/plain', '\0\0\0\0', 'application/octet-stream'],
    ['n', '', '', 'text/plain; charset=utf-8'],
    ['o.html', 'text/html', Buffer.from('<script>alert(1)</script>', 'utf16le'), 'application/octet-stream'],
    ['p.svg', 'image/svg+xml', `${'<!---->'.repeat(3_000)}<p>`, 'text/plain; charset=utf-8'],
  ];
  for (const [name, claim, content, type, shown = false] of files) {
    const { body } = await attach(content, name, claim);
    assert.equal(body.content_type, type, name);
    const { headers } = await bytesOf(body.attachment_id);
    assert.equal(headers.get('content-type'), type, name);
    assert.match(headers.get('content-disposition') ?? '', shown ? /^inline;/ : /^attachment;/, name);
    assert.match(headers.get('content-security-policy') ?? '', /\bsandbox\b/, name);
    assert.equal(headers.get('x-content-type-options'), 'nosniff', name);
  }
});

test('a file name is stored without folders and control characters, and is escaped in its header', async () => {
  const names: [sent: string, kept: string, header: string][] = [
    ['../../etc/passwd', 'passwd', 'attachment; filename="passwd"'],
    ['C:\\Temp\\plan.txt', 'plan.txt', 'attachment; filename="plan.txt"'],
    [
      'größe 100%.txt',
      'größe 100%.txt',
      `attachment; filename="gr__e 100_.txt"; filename*=UTF-8''gr%C3%B6%C3%9Fe%20100%25.txt`,
    ],
    ["it's (new)*.txt", "it's (new)*.txt", 'attachment; filename="it\'s (new)*.txt"'],
    ['a;b=c.txt', 'a;b=c.txt', 'attachment; filename="a;b=c.txt"'],
    ['\u202egnp.exe', 'gnp.exe', 'attachment; filename="gnp.exe"'],
    [
      '日本語😀.txt',
      '日本語😀.txt',
      `attachment; filename="_____.txt"; filename*=UTF-8''%E6%97%A5%E6%9C%AC%E8%AA%9E%F0%9F%98%80.txt`,
    ],
  ];
  for (const [sent, kept, header] of names) {
    const { body } = await attach(`content of ${sent}`, sent);
    assert.equal(body.filename, kept);
    assert.equal((await bytesOf(body.attachment_id)).headers.get('content-disposition'), header);
  }
});

test('one valid range returns its bytes, several or malformed ranges return the whole file, and one past the end answers 416', async () => {
  const content = randomBytes(1_000);
  const { body } = await attach(content);
  const id = body.attachment_id;
  const parts: [range: string, start: number, end: number][] = [
    ['bytes=0-0', 0, 0],
    ['bytes=0-99', 0, 99],
    ['bytes=990-', 990, 999],
    ['bytes=990-5000', 990, 999],
    ['bytes=-10', 990, 999],
    ['bytes=-5000', 0, 999],
    ['BYTES=1-2', 1, 2],
    ['bytes= 5-6 ', 5, 6],
    [`bytes=999-${'9'.repeat(400)}`, 999, 999],
  ];
  for (const [range, start, end] of parts) {
    const { status, headers, bytes } = await bytesOf(id, { range });
    assert.equal(status, 206, range);
    assert.equal(headers.get('content-range'), `bytes ${start}-${end}/1000`, range);
    assert.equal(headers.get('content-length'), String(end - start + 1), range);
    assert.deepEqual(bytes, content.subarray(start, end + 1), range);
  }
  const passedOver = [
    'bytes=5-1',
    'bytes=',
    'bytes=-',
    'bytes=a-b',
    'items=0-1',
    'bytes=0-1,5-6',
    'bytes=0x1-2',
    'bytes=--1',
    'bytes=1.5-2',
  ];
  for (const range of passedOver) {
    const { status, bytes } = await bytesOf(id, { range });
    assert.equal(status, 200, range);
    assert.deepEqual(bytes, content, range);
  }
  for (const range of ['bytes=1000-', 'bytes=1000-1001', 'bytes=-0', `bytes=${'9'.repeat(400)}-`]) {
    const { status, headers, bytes } = await bytesOf(id, { range });
    assert.equal(status, 416, range);
    assert.equal(headers.get('content-range'), 'bytes */1000', range);
    assert.equal(JSON.parse(bytes.toString()).error, 'range_not_satisfiable');
    assert.equal(headers.get('cache-control'), 'no-store');
  }
  const empty = (await attach('')).body.attachment_id;
  assert.equal((await bytesOf(empty)).status, 200);
  assert.equal((await bytesOf(empty, { range: 'bytes=-5' })).status, 200);
  assert.equal((await bytesOf(empty, { range: 'bytes=0-' })).status, 416);
});

test('a client with the current bytes gets 304, and If-Range returns a range only of the same version', async () => {
  const { body } = await attach(randomBytes(100));
  const id = body.attachment_id;
  const etag = `"${body.sha256}"`;
  for (const known of [etag, `W/${etag}`, '*', `"x", ${etag}`]) {
    const { status, headers, bytes } = await bytesOf(id, { 'if-none-match': known, range: 'bytes=0-1' });
    assert.equal(status, 304, known);
    assert.equal(bytes.length, 0);
    assert.equal(headers.get('etag'), etag);
    assert.equal(headers.get('cache-control'), 'private, no-cache');
    assert.equal((await bytesOf(id, { 'if-none-match': known }, 'HEAD')).status, 304);
  }
  assert.equal((await bytesOf(id, { 'if-none-match': '"x"' })).status, 200);
  assert.equal((await bytesOf(id, { 'if-range': etag, range: 'bytes=0-1' })).status, 206);
  for (const stale of ['"x"', `W/${etag}`, 'Sat, 21 Nov 2026 05:29:32 GMT']) {
    assert.equal((await bytesOf(id, { 'if-range': stale, range: 'bytes=0-1' })).status, 200, stale);
  }
});

test('HEAD returns the headers of GET, reads no bytes and ignores ranges', async () => {
  const { body } = await attach(randomBytes(300));
  const got = await bytesOf(body.attachment_id);
  const head = await bytesOf(body.attachment_id, { range: 'bytes=0-1' }, 'HEAD');
  assert.equal(head.status, 200);
  assert.equal(head.bytes.length, 0);
  for (const name of [
    'content-type',
    'content-length',
    'content-disposition',
    'etag',
    'accept-ranges',
    'cache-control',
  ]) {
    assert.equal(head.headers.get(name), got.headers.get(name), name);
  }
});

test('the same bytes attached twice to a page are one attachment under the first name; each page has its own', async () => {
  const content = randomBytes(50);
  const first = await attach(content, 'first.bin');
  const again = await attach(content, 'second.bin');
  assert.equal(again.status, 201);
  assert.deepEqual(again.body, first.body);
  const elsewhere = await attach(content, 'third.bin', '', owner, other);
  assert.notEqual(elsewhere.body.attachment_id, first.body.attachment_id);
  const atOnce = randomBytes(50);
  const made = await Promise.all(Array.from({ length: 10 }, () => attach(atOnce)));
  assert.equal(new Set(made.map(({ body }) => body.attachment_id)).size, 1);
  const records = await world.db.query(sql`
    select 1 from audit_events where type = 'attachment.created' and target_id = ${made[0]?.body.attachment_id}`);
  assert.equal(records.length, 1, 'an existing attachment is not created again');
});

test('a deleted attachment cannot be read, and the same bytes on another page stay readable', async () => {
  const content = randomBytes(60);
  const { body } = await attach(content);
  const kept = (await attach(content, 'kept.bin', '', owner, other)).body;
  assert.equal((await owner.send('DELETE', `${wiki}/attachments/${body.attachment_id}`)).status, 204);
  assert.equal((await bytesOf(body.attachment_id)).status, 404);
  assert.equal((await owner.send('DELETE', `${wiki}/attachments/${body.attachment_id}`)).status, 404);
  assert.deepEqual((await bytesOf(kept.attachment_id)).bytes, content);
  const [record] = await world.db.query<{ before: { filename?: string; sha256: string } }>(sql`
    select before from audit_events where type = 'attachment.deleted' and target_id = ${body.attachment_id}`);
  // The name of the file may say what the reader of the record may not see.
  assert.deepEqual([record?.before.filename, record?.before.sha256], [undefined, body.sha256]);
  assert.notEqual((await attach(content)).body.attachment_id, body.attachment_id);
});

test('a viewer can read attachments but not write them, and cannot read the attachments of a draft', async () => {
  const { body } = await attach(randomBytes(70), 'draft.bin', '', owner, other);
  const viewer = await world.member(owner.workspace_id, 'viewer');
  const at = `${wiki}/attachments/${body.attachment_id}`;
  const list = `${wiki}/pages/${other}/attachments`;
  assert.equal((await viewer.get(at)).status, 200);
  assert.equal((await viewer.get(list)).status, 200);
  assert.equal((await attach('x', 'x', '', viewer)).status, 403);
  assert.equal((await viewer.send('DELETE', at)).status, 403);
  await world.db.query(sql`update pages set status = 'draft' where page_id = ${other}`);
  for (const path of [at, list]) {
    assert.equal((await viewer.get(path)).status, 404, path);
    assert.equal((await viewer.send('HEAD', path)).status, 404, path);
    assert.equal((await owner.get(path)).status, 200, path);
  }
  await world.db.query(sql`update pages set status = 'published' where page_id = ${other}`);
});

test('an attachment cannot be read or deleted from outside its workspace or through another wiki', async () => {
  const { body } = await attach('secret bytes');
  const outsider = await world.owner();
  const { attachment_id } = body;
  const asked: Record<string, string>[] = [{}, { range: 'bytes=0-1' }, { 'if-none-match': '*' }];
  for (const headers of asked) {
    const foreign = await outsider.get(`${wiki}/attachments/${attachment_id}`, headers);
    assert.equal(foreign.status, 403);
    assert.equal(foreign.headers.get('etag'), null);
    assert.equal(
      (await outsider.get(`/v1/wikis/${outsider.wiki_id}/attachments/${attachment_id}`, headers)).status,
      404,
    );
    assert.equal((await world.anonymous.get(`${wiki}/attachments/${attachment_id}`, headers)).status, 401);
  }
  const own = await outsider.send('DELETE', `/v1/wikis/${outsider.wiki_id}/attachments/${attachment_id}`);
  assert.equal(own.status, 404);
  assert.equal((await bytesOf(attachment_id)).status, 200);
});

test('a body with no file, two files or a file that is too large is refused, and leaves no partial file', async () => {
  const files = (...contents: (string | Uint8Array)[]) => {
    const body = new FormData();
    for (const content of contents) body.append('file', new Blob([content as string]), 'x.bin');
    return owner.send('POST', `${wiki}/pages/${page}/attachments`, { body });
  };
  const before = (await owner.get(`${wiki}/pages/${page}/attachments?limit=500`)).body.length;
  assert.equal((await files()).status, 400);
  assert.equal((await files('one', 'two')).status, 413);
  assert.equal((await files(randomBytes(4 * 2 ** 20 + 1))).status, 413);
  assert.equal((await files(randomBytes(4 * 2 ** 20))).status, 201);
  assert.equal((await attach('x', 'x', '', owner, 'page_00000000000000000000000000')).status, 404);
  assert.equal((await owner.get(`${wiki}/pages/${page}/attachments?limit=500`)).body.length, before + 1);
  await until(
    'nothing of a rejected upload is kept',
    () => readdir(join(blobs, 'incoming')),
    (names) => names.length === 0,
  );
});

test('a request with an Idempotency-Key attaches the file once', async () => {
  const content = randomBytes(40);
  const send = () => {
    const body = new FormData();
    body.append('file', new Blob([content]), 'once.bin');
    const headers = { 'idempotency-key': 'attach-once' };
    return owner.send('POST', `${wiki}/pages/${page}/attachments`, { body, headers });
  };
  const first = await send();
  await owner.send('DELETE', `${wiki}/attachments/${first.body.attachment_id}`);
  const again = await send();
  assert.equal(again.headers.get('idempotency-replayed'), 'true');
  assert.deepEqual(again.body, first.body);
});

/** Counts the open files of this process in the blob store. */
async function openBlobFiles(): Promise<number> {
  const names = await readdir('/proc/self/fd').catch(() => []);
  const targets = await Promise.all(names.map((name) => readlink(`/proc/self/fd/${name}`).catch(() => '')));
  return targets.filter((target) => target.startsWith(blobs)).length;
}

test('aborted uploads and downloads leave no partial and no open files', async () => {
  const { hostname, port } = new URL(world.address);
  const large = (await attach(randomBytes(4 * 2 ** 20))).body.attachment_id;
  const head = (method: string, path: string, more: string) =>
    `${method} ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${owner.token}\r\n${more}\r\n`;
  const part = '--x\r\nContent-Disposition: form-data; name="file"; filename="a.bin"\r\n\r\n';
  const requests = [
    head(
      'POST',
      `${wiki}/pages/${page}/attachments`,
      'Content-Type: multipart/form-data; boundary=x\r\nContent-Length: 100000\r\n',
    ) +
      part +
      'y'.repeat(50_000),
    head('GET', `${wiki}/attachments/${large}`, ''),
  ];
  // Abort one upload after its file was created; the requests below may be aborted at any point.
  const begun = connect({ host: hostname, port: Number(port) });
  begun.write(requests[0] ?? '');
  const incoming = () => readdir(join(blobs, 'incoming'));
  await until('a file has begun to come', incoming, (names) => names.length > 0);
  begun.resetAndDestroy();
  await Promise.all(
    Array.from({ length: 60 }, (_, i) => {
      const socket = connect({ host: hostname, port: Number(port) });
      return new Promise<void>((resolve) => {
        socket.on('close', () => resolve());
        socket.on('error', () => resolve());
        // Abort an upload once its bytes are sent, a download once its first bytes arrive.
        socket.write(requests[i % 2] ?? '', () => i % 2 === 0 && socket.resetAndDestroy());
        socket.once('data', () => socket.resetAndDestroy());
      });
    }),
  );
  await until(
    'no file is left over or open',
    async () => ({ left: await incoming(), open: await openBlobFiles() }),
    ({ left, open }) => left.length === 0 && open === 0,
  );
  assert.equal((await bytesOf(large)).bytes.length, 4 * 2 ** 20, 'the service still answers');
  const raw = await sendRaw(world.address, {
    method: 'HEAD',
    path: `${wiki}/attachments/${large}`,
    headers: { authorization: `Bearer ${owner.token}` },
  });
  assert.equal(raw.headers['content-length'], String(4 * 2 ** 20));
  assert.equal(await openBlobFiles(), 0, 'HEAD opens no file');
});

test('a file missing from the store answers 503, never a truncated body', async () => {
  const { body } = await attach(randomBytes(80));
  await unlink(join(blobs, body.sha256.slice(0, 2), body.sha256));
  const lost = await bytesOf(body.attachment_id);
  assert.equal(lost.status, 503);
  assert.equal(JSON.parse(lost.bytes.toString()).error, 'storage_unavailable');
  assert.equal(lost.headers.get('content-disposition'), null);
});

test('attachment:<id> in a text is rendered as the address of the attachment and stored as written', async () => {
  const { body } = await attach(randomBytes(70), 'plan.png');
  const reference = `attachment:${body.attachment_id}`;
  const address = `${wiki}/attachments/${body.attachment_id}`;
  const markdown = `![Plan](${reference}) [it](<${reference}>) [ref][r] <img src="${reference}"> [[Other]] [near](other)\n\n[r]: ${reference}\n`;
  const made = await owner.post(`${wiki}/pages`, { title: 'Shows', markdown });
  assert.equal(made.status, 201, JSON.stringify(made.body));
  assert.equal(made.body.markdown, markdown);
  assert.equal(made.body.html.split(`src="${address}"`).length, 3, made.body.html);
  assert.equal(made.body.html.split(`href="${address}"`).length, 3, made.body.html);
  assert.equal((await owner.get(address)).status, 200);
  const moved = await owner.patch(`${wiki}/pages/${made.body.page_id}`, { parent_page_id: page, slug: 'below' });
  assert.ok(moved.body.markdown.includes(reference) && moved.body.html.includes(`src="${address}"`));
  const uploaded = await world.upload(owner, owner.wiki_id, { 'shown.md': `![x](${reference})\n` });
  assert.equal(uploaded.body.status, 'completed');
  const { body: shown } = await owner.get(`${wiki}/pages/path/shown`);
  assert.ok(shown.html.includes(`src="${address}"`), shown.html);
  assert.equal(shown.markdown, `![x](${reference})\n`);
});

test('a malformed attachment reference is rendered without an address', async () => {
  const ids = ['', 'attachment_', 'page_01jd8w3v6xf3e8h2k9m4n5p6v1', 'attachment_01jd8w3v6xf3e8h2k9m4n5p6v1/../../x'];
  for (const id of [...ids, 'attachment_01JD8W3V6XF3E8H2K9M4N5P6V1', 'attachment_01jd8w3v6xf3e8h2k9m4n5p6v1?x']) {
    const made = await owner.post(`${wiki}/pages`, {
      title: 'x',
      markdown: `[a](<attachment:${id}>) ![b](<attachment:${id}>)`,
    });
    assert.match(made.body.html, /^<p><a>a<\/a> <img alt="b"[^>]*><\/p>$/, id);
    assert.doesNotMatch(made.body.html, /attachment:|src=/, id);
  }
});
