import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import { test } from 'node:test';
import { pino } from 'pino';
import { chromium } from 'playwright-core';
import { assertAccessible, openWatched } from '../test/assert-page.ts';
import { CHROMIUM, launchBrowser, skip } from '../test/browser.ts';
import { openContext } from '../test/browser-visitor.ts';
import { freePort, makeFolder, spawnService } from '../test/process.ts';
import { openPalette } from '../test/web-steps.ts';
import { makeDatabase, openWorld } from '../test/world.ts';

/** Launches Chromium as on another machine of the network, which reaches this machine by a name. */
const onLan = () =>
  chromium.launch({
    executablePath: CHROMIUM ?? '',
    args: ['--no-sandbox', '--disable-gpu', '--host-resolver-rules=MAP nas.lan 127.0.0.1'],
  });

const lines: { msg: string; reason?: string; level: number; link?: string }[] = [];
const sink = new Writable({
  write(chunk, _encoding, done) {
    for (const line of String(chunk).trim().split('\n')) lines.push(JSON.parse(line));
    done();
  },
});
const log = pino({ level: 'info' }, sink);

test('at a LAN name the first user is told what to set, and then gets to a working wiki', {
  skip,
}, async () => {
  const port = String(await freePort());
  const origin = `http://nas.lan:${port}`;
  const DATABASE_URL = await makeDatabase();
  const unset = await openWorld({ DATABASE_URL, HOST: '0.0.0.0', PORT: port }, { log });
  const warning = lines.find(({ msg }) => msg.startsWith('PUBLIC_URL is not set'));
  assert.match(warning?.msg ?? '', /set PUBLIC_URL to the address that they open, such as http:\/\/\S+:\d+\.$/);
  const token = /welcome\?token=([\w-]+)/.exec(JSON.stringify(lines))?.[1];
  assert.ok(lines.some(({ link }) => link === `http://127.0.0.1:${port}/welcome?token=${token}`));

  const context = await openContext(await launchBrowser(onLan));
  const { page } = await openWatched(context);
  await page.goto(`${origin}/welcome?token=${token}`);
  const told = page.getByRole('alert');
  await told.getByText(`This service is set up for http://127.0.0.1:${port}, and you came by ${origin}.`).waitFor();
  await told.getByText(`PUBLIC_URL=${origin}`).waitFor();
  assert.equal(await page.getByRole('button', { name: 'Create my wiki' }).count(), 0);
  await assertAccessible(page, 'welcome at another address');

  // A form that is sent all the same, for example from a page that was already open.
  await page.evaluate(
    `document.body.insertAdjacentHTML('beforeend', '<form method="post" action="/welcome"><button>Send</button></form>')`,
  );
  await page.getByRole('button', { name: 'Send' }).click();
  await page.getByText(`have the service started with PUBLIC_URL=${origin}.`).waitFor();
  assert.equal(await page.getByText('Your role').count(), 0);
  assert.equal(lines.filter(({ reason, level }) => reason === 'form_at_another_address' && level === 40).length, 1);
  void unset;

  const second = String(await freePort());
  const named = `http://nas.lan:${second}`;
  await openWorld({ DATABASE_URL, HOST: '0.0.0.0', PORT: second, PUBLIC_URL: named });
  const { page: there, complaints } = await openWatched(context);
  await there.goto(`${named}/welcome?token=${token}`);
  await there.getByLabel('Your name').fill('Ada');
  await there.getByLabel('Your e-mail').fill('ada@example.com');
  await there.getByLabel('Workspace name').fill('Home');
  await there.getByRole('button', { name: 'Create my wiki' }).click();
  await there.waitForURL('**/home/main/-/upload?first');
  await there.goto(`${named}/home/main`);
  // Requests by scripts: over HTTP a browser does not state the origin site.
  await (await openPalette(there)).fill('home');
  await there.getByRole('option').first().waitFor();
  // Chromium reports this for each page over HTTP.
  assert.deepEqual(
    complaints.filter((it) => !it.includes('Cross-Origin-Opener-Policy header has been ignored')),
    [],
  );
});

test('the start prints the missing setting with the link if HOST is every address and PUBLIC_URL is not set', async () => {
  for (const [HOST, isTold] of [
    ['::', true],
    ['127.0.0.1', false],
  ] as const) {
    const port = String(await freePort());
    const DATABASE_URL = await makeDatabase();
    const service = spawnService({ HOST, PORT: port, DATABASE_URL, DATA_DIR: await makeFolder(), ROLE: 'web' });
    await service.ready;
    assert.match(service.stdout(), new RegExp(`\\n  http://127\\.0\\.0\\.1:${port}/welcome\\?token=`));
    assert.equal(/^PUBLIC_URL is not set, so the link/m.test(service.stdout()), isTold, service.stdout());
    service.kill('SIGTERM');
    await service.ended;
  }
});

test('without a mail server the inviter is told so, and passes on a link that the invited person can use', {
  skip,
}, async () => {
  const world = await openWorld({ PASSWORD_SIGN_IN: 'on' }, { log });
  const token = /welcome\?token=([\w-]+)/.exec(lines.findLast(({ link }) => link !== undefined)?.link ?? '')?.[1];
  const browser = await launchBrowser();
  const owner = await openContext(browser);
  const { page, complaints } = await openWatched(owner);
  await page.goto(`${world.address}/welcome?token=${token}`);
  await page.getByLabel('Your name').fill('Ada');
  await page.getByLabel('Your e-mail').fill('ada@example.com');
  await page.getByLabel('Workspace name').fill('Acme');
  await page.getByRole('button', { name: 'Create my wiki' }).click();
  await page.waitForURL('**/acme/main/-/upload?first');
  await page.goto(`${world.address}/acme/-/members`);
  await page.getByLabel('E-mail').fill('grace@example.com');
  await page.getByRole('button', { name: 'Invite' }).click();
  await page.getByText('No mail server is set up, so nothing was sent to grace@example.com.').waitFor();
  const link = await page.locator('#secret').innerText();
  await assertAccessible(page, 'the link of an invitation');
  await page.getByRole('link', { name: 'Back to members' }).click();
  assert.equal(await page.getByText(link).count(), 0, 'it is shown once');
  await page.getByRole('button', { name: 'Create link for grace@example.com' }).waitFor();

  const guest = await openContext(browser);
  const { page: theirs, complaints: others } = await openWatched(guest);
  await theirs.goto(link.replace(/^https?:\/\/[^/]+/, world.address));
  await theirs.getByRole('heading', { name: 'Join Acme' }).waitFor();
  assert.equal(await theirs.getByRole('button', { name: 'Join as grace@example.com' }).count(), 0);
  await theirs.getByRole('button', { name: 'Send me a sign-in link' }).click();
  await theirs.getByText('This service has no mail server, so nothing was sent.').waitFor();
  assert.deepEqual([complaints, others], [[], []]);
});
