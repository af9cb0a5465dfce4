import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cleanUp } from '../../../../test/clean-up.ts';
import { runScheduled } from '../../../../test/jobs.ts';
import { AUDIENCE, startOpenIdProvider } from '../../../../test/openid-provider.ts';
import { exif, GIF, JPEG, jpegSegment, png, pngChunk, WEBP, webp } from '../../../../test/pictures.ts';
import { type Client, openWorld } from '../../../../test/world.ts';
import { deleteUnreferencedBlobs } from '../../../platform/blobs/delete-unreferenced-blobs.job.ts';
import { sql } from '../../../platform/db/sql.ts';

const openId = await startOpenIdProvider();
cleanUp(() => openId.stop());
const world = await openWorld({ OIDC_ISSUER: openId.issuer, OIDC_AUDIENCE: AUDIENCE });
const owner = await world.owner();

const put = (client: Client, bytes: Buffer | string, type = 'image/png') =>
  client.send('PUT', '/v1/me/avatar', {
    body: typeof bytes === 'string' ? bytes : new Uint8Array(bytes),
    headers: { 'content-type': type },
  });
const remove = (client: Client) => client.send('DELETE', '/v1/me/avatar');
const addressOf = async (client: Client): Promise<string> => (await client.get('/v1/me')).body.avatar_url;
const pathOf = (address: string) => new URL(address).pathname;
/** Fetches a picture without credentials. */
async function shown(address: string, headers: Record<string, string> = {}) {
  const response = await fetch(world.address + pathOf(address), { headers });
  return { response, bytes: Buffer.from(await response.arrayBuffer()) };
}

test('a picture is visible to colleagues, and to anyone at its address, who may cache it and embed it on other sites', async () => {
  const set = await put(owner, png());
  assert.equal(set.status, 200, JSON.stringify(set.body));
  assert.deepEqual(Object.keys(set.body), ['user_id', 'email', 'display_name', 'avatar_url']);
  const address = set.body.avatar_url;
  assert.match(address, /^https?:\/\/[^/]+\/v1\/avatars\/[A-Za-z0-9_-]{22}$/);

  assert.equal(await addressOf(owner), address);
  assert.equal((await owner.get('/v1/overview')).body.session.user.avatar_url, address);
  const { body: listed } = await owner.get(`/v1/workspaces/${owner.workspace_id}/members`);
  assert.equal(listed.members[0].avatar_url, address);

  const { response, bytes } = await shown(address);
  assert.equal(response.status, 200);
  assert.deepEqual(bytes, png());
  const header = (name: string) => response.headers.get(name);
  assert.equal(header('content-type'), 'image/png');
  assert.equal(header('x-content-type-options'), 'nosniff');
  assert.equal(header('content-security-policy'), "default-src 'none'; sandbox; frame-ancestors 'none'");
  assert.equal(header('cross-origin-resource-policy'), 'cross-origin');
  assert.equal(header('cache-control'), 'private, max-age=31536000, immutable');
  const again = await shown(address, { 'if-none-match': header('etag') ?? '' });
  assert.equal(again.response.status, 304);
  assert.equal(again.response.headers.get('cache-control'), 'private, max-age=31536000, immutable');

  const path = pathOf(address);
  for (const wrong of [path.slice(0, -1), `${path}x`, `/v1/avatars/${owner.user_id}`, '/v1/avatars/%25']) {
    const { status, body } = await world.anonymous.get(wrong);
    assert.deepEqual([status, body.error], [404, 'not_found'], wrong);
  }
});

test('many pictures in a list count as reads of their address, not as sign-in attempts', async () => {
  const address = await addressOf(owner);
  const { response } = await shown(address);
  assert.match(response.headers.get('ratelimit-policy') ?? 'none', /^(none|"general")/);
});

test('a new picture gets a new address, the same picture keeps its address, and a removed one is gone at once', async () => {
  const person = await world.person();
  const first = (await put(person, png({ grey: 1 }))).body.avatar_url;
  assert.equal((await put(person, png({ grey: 1 }))).body.avatar_url, first, 'sent again after a lost answer');
  const second = (await put(person, png({ grey: 2 }))).body.avatar_url;
  assert.notEqual(second, first);
  assert.equal((await shown(first)).response.status, 404);
  assert.equal((await shown(second)).response.status, 200);
  assert.equal((await remove(person)).status, 204);
  assert.equal((await shown(second)).response.status, 404);
  assert.equal(await addressOf(person), '');
  assert.equal((await remove(person)).status, 204, 'none is left to remove');
});

test('the file of a replaced or removed picture is deleted a day later, unless another user has the same one', async () => {
  const [one, other] = [await world.person(), await world.person()];
  const [replaced, common] = [png({ grey: 31 }), png({ grey: 32 })];
  await put(one, replaced);
  await put(one, common);
  const kept = (await put(other, common)).body.avatar_url;
  const collected = async () => {
    await world.db.query(sql`update blobs set kept_at = kept_at - interval '25 hours'`);
    await runScheduled(world, deleteUnreferencedBlobs);
    return (await world.db.query(sql`select sha256 from blobs`)).length;
  };
  const before = (await world.db.query(sql`select sha256 from blobs`)).length;
  const after = await collected();
  assert.ok(after < before);
  await remove(one);
  assert.equal(await collected(), after, 'the other still has it');
  assert.deepEqual((await shown(kept)).bytes, common);
  await remove(other);
  assert.equal(await collected(), after - 1);
});

test("a later sign-in does not replace a user's own picture, and after its removal the provider's is shown again", async () => {
  const ann = world.as(await openId.token('ES256'));
  await ann.post('/v1/onboarding');
  const provided = 'https://img.example.org/ann.png';
  assert.equal(await addressOf(ann), provided);
  const own = (await put(ann, png({ grey: 7 }))).body.avatar_url;
  await world.db.query(sql`update users set display_name = 'Another' where email = 'ann.lee@example.org'`);
  const later = world.as(await openId.token('ES256'));
  const { session } = (await later.post('/v1/onboarding')).body.overview;
  assert.equal(session.user.avatar_url, own);
  await remove(later);
  assert.equal(await addressOf(later), provided);
});

test('only the user sets and removes a picture, with an unrestricted credential', async () => {
  const key = await world.workspaceKey('keyed@example.com', (await world.owner('keyed@example.com')).workspace_id);
  for (const [client, status] of [
    [world.anonymous, 401],
    [key, 403],
  ] as const) {
    assert.equal((await put(client, png())).status, status);
    assert.equal((await remove(client)).status, status);
  }
  const before = await addressOf(owner);
  const stranger = await world.person();
  for (const path of [`/v1/me/avatar?user_id=${owner.user_id}`, '/v1/me/avatar']) {
    await stranger.send('PUT', path, {
      body: new Uint8Array(png({ grey: 99 })),
      headers: { 'content-type': 'image/png', 'x-user-id': owner.user_id ?? '' },
    });
    await stranger.send('DELETE', path);
  }
  for (const method of ['PUT', 'DELETE'])
    assert.ok([404, 405].includes((await stranger.send(method, pathOf(before))).status));
  assert.equal(await addressOf(owner), before);
});

const GPS = 'GPS 48.8583 N';
const SCRIPT = '<script>alert(1)</script>';
const dirty: Record<string, [bytes: Buffer, type: string, clean: Buffer | undefined]> = {
  'a PNG with texts and a page behind its end': [
    Buffer.concat([
      png({ more: [pngChunk('tEXt', Buffer.from(`Comment\0${SCRIPT}`)), pngChunk('eXIf', Buffer.from(GPS))] }),
      Buffer.from(SCRIPT),
    ]),
    'image/png',
    png(),
  ],
  'a JPEG with a place, a comment and an archive behind its end': [
    Buffer.concat([
      JPEG.subarray(0, 2),
      exif(1, GPS),
      jpegSegment(0xfe, Buffer.from(SCRIPT)),
      JPEG.subarray(2),
      Buffer.from(`PK\x03\x04${SCRIPT}`),
    ]),
    'image/jpeg',
    JPEG,
  ],
  'a JPEG that is also a script': [
    Buffer.concat([JPEG.subarray(0, 2), jpegSegment(0xe0, Buffer.from(`*/=1;${SCRIPT}`)), JPEG.subarray(2)]),
    'image/jpeg',
    JPEG,
  ],
  'a WebP with a place and a profile': [
    webp([
      ['VP8X', Buffer.from('0c000000' + '0b0000' + '070000', 'hex')],
      ['VP8 ', WEBP.subarray(20)],
      ['EXIF', Buffer.from(GPS)],
      ['XMP ', Buffer.from(SCRIPT)],
    ]),
    'image/webp',
    WEBP,
  ],
  'a GIF with a comment and a page behind its end': [
    Buffer.concat([
      GIF.subarray(0, -1),
      Buffer.from([0x21, 0xfe, SCRIPT.length]),
      Buffer.from(SCRIPT),
      Buffer.from([0, 0x3b]),
      Buffer.from(SCRIPT),
    ]),
    'image/gif',
    GIF,
  ],
};

for (const [name, [bytes, type, clean]] of Object.entries(dirty)) {
  test(`from ${name} only the picture is kept, regardless of the declared type`, async () => {
    const person = await world.person();
    const { status, body } = await put(person, bytes, 'image/png');
    assert.equal(status, 200, JSON.stringify(body));
    const stored = await shown(body.avatar_url);
    assert.equal(stored.response.headers.get('content-type'), type);
    assert.deepEqual(stored.bytes, clean);
  });
}

test("from a photo's Exif only the orientation is kept", async () => {
  const person = await world.person();
  const { body } = await put(person, Buffer.concat([JPEG.subarray(0, 2), exif(6, GPS), JPEG.subarray(2)]));
  const { bytes } = await shown(body.avatar_url);
  assert.ok(!bytes.includes('GPS'));
  assert.equal(bytes.readUInt16BE(bytes.indexOf('MM\0*') + 18), 6);
});

/** With the prefix used in a JPEG, and without it, as in a WebP. */
const exifs = [exif(6, GPS).subarray(4), exif(6, GPS).subarray(10)];
/** 12 × 8 pixels, lossless and transparent. */
const LOSSLESS = Buffer.from('2f0bc001100000', 'hex');
const turned: Record<string, [chunks: (readonly [string, Buffer])[], flags: number]> = {
  lossy: [[['VP8 ', WEBP.subarray(20)]], 0x08],
  'transparent lossy': [
    [
      ['ALPH', Buffer.from([0, 1, 2])],
      ['VP8 ', WEBP.subarray(20)],
    ],
    0x18,
  ],
  'transparent lossless': [[['VP8L', LOSSLESS]], 0x18],
};

test("from a WebP's Exif only the orientation is kept, and an upright picture has no Exif", async () => {
  const person = await world.person();
  const stored = async (chunks: Parameters<typeof webp>[0]) => {
    const { status, body } = await put(person, webp(chunks));
    assert.equal(status, 200, JSON.stringify(body));
    return (await shown(body.avatar_url)).bytes;
  };
  const head = (flags: number) => Buffer.from(`${flags.toString(16).padStart(2, '0')}0000000b0000070000`, 'hex');
  for (const [kind, [image, flags]] of Object.entries(turned)) {
    for (const found of exifs) {
      const clean = await stored([
        ['VP8X', head(flags | 0x24)],
        ...image,
        ['EXIF', found],
        ['XMP ', Buffer.from(SCRIPT)],
      ]);
      const tiff = clean.subarray(clean.indexOf('EXIF') + 8);
      assert.equal(tiff.readUInt16BE(18), 6, kind);
      assert.deepEqual(clean, webp([['VP8X', head(flags)], ...image, ['EXIF', tiff]]), kind);
      assert.equal(tiff.length, 26, 'one entry');
    }
  }
  for (const none of [exif(1, GPS), exif(9, GPS), exif(6, GPS).subarray(0, 30), Buffer.from(GPS)]) {
    assert.deepEqual(
      await stored([
        ['VP8X', head(0x08)],
        ['VP8 ', WEBP.subarray(20)],
        ['EXIF', none.subarray(10)],
      ]),
      WEBP,
    );
  }
  // Browsers read an Exif chunk only if the header has its flag.
  for (const heads of [[], [['VP8X', head(0)] as const]]) {
    assert.deepEqual(await stored([...heads, ['VP8 ', WEBP.subarray(20)], ['EXIF', exifs[1] as Buffer]]), WEBP);
  }
});

const animatedGif = Buffer.concat([GIF.subarray(0, -1), GIF.subarray(19)]);
const broken = png();
broken[40] = (broken[40] ?? 0) ^ 1;
const refused: [what: string, bytes: Buffer | string, status: number, code: string][] = [
  ['a page', `<!doctype html>${SCRIPT}`, 415, 'unsupported_media_type'],
  ['an SVG', `<svg xmlns="http://www.w3.org/2000/svg">${SCRIPT}</svg>`, 415, 'unsupported_media_type'],
  ['nothing', '', 415, 'unsupported_media_type'],
  ['a PDF', '%PDF-1.7\n', 415, 'unsupported_media_type'],
  ['the beginning of a PNG', png().subarray(0, 20), 400, 'invalid_request'],
  ['a PNG without its end', png().subarray(0, -12), 400, 'invalid_request'],
  ['a PNG with a wrong checksum', broken, 400, 'invalid_request'],
  ['a PNG of 1,025 pixels', png({ width: 1_025, height: 1 }), 400, 'invalid_request'],
  ['a PNG of 4,000,000,000 pixels a side', png({ width: 4e9, height: 4e9 }), 400, 'invalid_request'],
  ['a PNG of no pixels', png({ width: 0, height: 1 }), 400, 'invalid_request'],
  ['an animated PNG', png({ more: [pngChunk('acTL', Buffer.alloc(8))] }), 400, 'invalid_request'],
  ['a PNG with an unknown critical chunk', png({ more: [pngChunk('ABCD', Buffer.alloc(8))] }), 400, 'invalid_request'],
  [
    'a PNG whose chunk is longer than it',
    Buffer.concat([png().subarray(0, 8), Buffer.from('7fffffff49484452', 'hex')]),
    400,
    'invalid_request',
  ],
  ['an animated GIF', animatedGif, 400, 'invalid_request'],
  ['a GIF without an image', Buffer.concat([GIF.subarray(0, 19), Buffer.from([0x3b])]), 400, 'invalid_request'],
  ['a JPEG without its end', JPEG.subarray(0, -2), 400, 'invalid_request'],
  [
    'a JPEG without an image',
    Buffer.concat([JPEG.subarray(0, 2), Buffer.from([0xff, 0xd9, 0xff])]),
    400,
    'invalid_request',
  ],
  [
    'a lossless JPEG',
    Buffer.concat([JPEG.subarray(0, 2), jpegSegment(0xc3, Buffer.alloc(11, 8)), JPEG.subarray(2)]),
    400,
    'invalid_request',
  ],
  [
    'an animated WebP',
    webp([
      ['VP8X', Buffer.from('02000000000000000000', 'hex')],
      ['ANIM', Buffer.alloc(6)],
    ]),
    400,
    'invalid_request',
  ],
  ['a WebP without an image', webp([['EXIF', Buffer.from(GPS)]]), 400, 'invalid_request'],
  ['a WebP of 16,384 pixels', webp([['VP8L', Buffer.from('2fffffff0f00', 'hex')]]), 400, 'invalid_request'],
  ['the beginning of a WebP', WEBP.subarray(0, 12), 400, 'invalid_request'],
  ['more than 1 MiB', Buffer.concat([png(), Buffer.alloc(2 ** 20)]), 413, 'payload_too_large'],
];

test('a file that is not a small still picture is refused with the remedy, and the previous picture stays', async () => {
  const person = await world.person();
  const before = (await put(person, png())).body.avatar_url;
  for (const [what, bytes, status, code] of refused) {
    const answer = await put(person, bytes);
    assert.deepEqual([answer.status, answer.body.error], [status, code], what);
    assert.match(answer.body.message, /\. .*\.$/, what);
  }
  assert.equal((await put(person, png(), 'image/svg+xml')).status, 415);
  assert.equal((await put(person, '{}', 'application/json')).status, 415);
  assert.equal(await addressOf(person), before);
  assert.deepEqual((await shown(before)).bytes, png());
});

test('a body of unknown length is read only up to the maximum size of a picture', async () => {
  const person = await world.person();
  let sent = 0;
  const body = new ReadableStream({
    pull(controller) {
      sent += 2 ** 16;
      controller.enqueue(new Uint8Array(2 ** 16));
      if (sent > 2 ** 26) controller.close();
    },
  });
  const answer = await person
    .send('PUT', '/v1/me/avatar', { body, duplex: 'half', headers: { 'content-type': 'image/png' } } as RequestInit)
    .catch(() => undefined);
  // The connection may be closed while the client is still sending.
  assert.ok(answer === undefined || answer.status === 413, JSON.stringify(answer?.body));
  assert.equal(await addressOf(person), '');
});

test('only one of several concurrently set pictures is served afterwards, undamaged', async () => {
  const person = await world.person();
  const pictures = Array.from({ length: 8 }, (_, i) => png({ grey: 100 + i, width: 10 + i, height: 10 }));
  const answers = await Promise.all(pictures.map((bytes) => put(person, bytes)));
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
  const last = await addressOf(person);
  const winner = answers.findIndex(({ body }) => body.avatar_url === last);
  assert.deepEqual((await shown(last)).bytes, pictures[winner]);
  const others = answers.filter((_, i) => i !== winner).map(({ body }) => shown(body.avatar_url));
  assert.deepEqual(new Set((await Promise.all(others)).map(({ response }) => response.status)), new Set([404]));
});

test('the audit log has the hash of the new picture, and not its secret address', async () => {
  const person = await world.person();
  const secret = String((await put(person, png({ grey: 55 }))).body.avatar_url)
    .split('/')
    .at(-1);
  await remove(person);
  const records = await world.db.query<{ type: string; text: string }>(sql`
    select type, before::text || after::text as text from audit_events
    where target_id = ${person.user_id} and type = 'user.updated' order by event_id`);
  assert.equal(records.length, 2);
  for (const { text } of records) {
    assert.match(text, /"avatar_sha256": "[0-9a-f]{64}"/);
    assert.ok(!text.includes(String(secret)));
  }
});
