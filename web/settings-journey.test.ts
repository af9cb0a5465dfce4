import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { BrowserContext, Page } from 'playwright-core';
import { sql } from '../src/platform/db/sql.ts';
import { assertAccessible, collectComplaints } from '../test/assert-page.ts';
import { launchBrowser, PAGE_TIMEOUT_MS, skip } from '../test/browser.ts';
import { cleanUp } from '../test/clean-up.ts';
import { startMailServer } from '../test/mail-server.ts';
import { png } from '../test/pictures.ts';
import { signedInClient } from '../test/signed-in.ts';
import { openWorld, type World } from '../test/world.ts';

/** Opens a site of another origin. Each step sets the page that it serves. */
async function openOtherSite() {
  const site = { text: '', origin: '' };
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html; charset=utf-8').end(site.text);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanUp(() => server.close());
  site.origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return site;
}

async function signIn(world: World, context: BrowserContext, user_id: string): Promise<void> {
  const { body } = await (await signedInClient(world, user_id)).post('/v1/auth/browser');
  await context.addCookies([{ name: 'ibid', value: body.browser_secret, url: world.address }]);
}

/** Returns the link in a mail, with the address of the test's service. */
function linkIn(raw: string, world: World): string {
  const text = raw.replaceAll('=\r\n', '').replaceAll('=3D', '=');
  const [link] = /http:\/\/[^\s"<>]+token=[\w-]+/.exec(text) ?? [];
  assert.ok(link, text);
  const { pathname, search } = new URL(link);
  return world.address + pathname + search;
}

test('a user is invited by mail, joins, gets a role, makes a key and embeds a widget in another site', {
  skip,
}, async (t) => {
  const mail = await startMailServer();
  cleanUp(() => mail.stop());
  const folder = await mkdtemp(join(tmpdir(), 'ibid-journey-'));
  cleanUp(() => rm(folder, { recursive: true, force: true }));
  const world = await openWorld({
    SMTP_URL: mail.url,
    MAIL_FROM: 'wiki@example.com',
    PASSWORD_SIGN_IN: 'on',
  });
  const owner = await world.owner('ada@example.com');
  await world.db.query(sql`update users set display_name = 'Ada Lovelace' where user_id = ${owner.user_id}`);
  const site = await openOtherSite();

  const browser = await launchBrowser();
  const [adas, graces, guests] = [await browser.newContext(), await browser.newContext(), await browser.newContext()];
  const complaints: string[] = [];
  for (const context of [adas, graces]) {
    context.setDefaultTimeout(PAGE_TIMEOUT_MS);
    context.on('page', (page) => collectComplaints(page, complaints));
  }
  await signIn(world, adas, owner.user_id);
  const [ada, grace] = [await adas.newPage(), await graces.newPage()];
  const settings = (section: string) => `${world.address}/ada/-/${section}`;
  let secret = '';

  await t.test('an owner invites a user by mail', async () => {
    await ada.goto(`${world.address}/ada/main`);
    await ada.getByLabel('Your account and wikis').click();
    await ada.getByRole('link', { name: 'Settings for ada' }).click();
    await assertAccessible(ada, 'members');
    await ada.goto(`${world.address}/me`);
    // A photo from a camera, which the page scales down before sending.
    await ada
      .getByLabel('Picture', { exact: false })
      .and(ada.locator('input[type=file]'))
      .setInputFiles({ name: 'photo.png', mimeType: 'image/png', buffer: png({ width: 2_000, height: 1_000 }) });
    await ada.getByRole('button', { name: 'Save picture' }).click();
    await ada.getByText('Picture changed.').waitFor();
    const face = ada.locator('.own-picture img.face');
    assert.equal(await face.evaluate((it: HTMLImageElement) => it.decode().then(() => it.naturalWidth)), 512);
    await assertAccessible(ada, 'the profile');
    await ada.goto(settings('members'));
    await ada.locator('.people img.face').waitFor();
    await ada.getByLabel('E-mail').fill('grace@example.com');
    // By keyboard.
    const role = ada.getByRole('form', { name: 'Invite a member' }).getByRole('combobox');
    await role.focus();
    await ada.keyboard.type('View');
    assert.equal(await role.inputValue(), 'viewer');
    await ada.getByLabel('E-mail').press('Enter');
    await ada.getByText('The invitation is on its way to grace@example.com.').waitFor();
    await assertAccessible(ada, 'the link of an invitation');
    await ada.goto(settings('members'));
    await assertAccessible(ada, 'members, with an invitation');
    await mail.sentTo('grace@example.com');
    assert.equal(mail.messages.length, 1);
  });

  await t.test('the invited user joins by this single message, in another browser', async () => {
    await grace.goto(linkIn(mail.messages[0]?.raw ?? '', world));
    await assertAccessible(grace, 'invitation');
    await grace.getByRole('button', { name: 'Join as grace@example.com' }).click();
    await grace.waitForURL('**/ada/main');
    assert.equal(mail.messages.length, 1);
    await grace.goto(settings('members'));
    assert.equal(
      await grace.getByRole('button', { name: 'Invite' }).count(),
      0,
      'a viewer is offered nothing to change',
    );
    await assertAccessible(grace, 'members, to a viewer');
    assert.equal((await grace.goto(settings('keys')))?.status(), 403);
  });

  await t.test("the owner changes the member's role by keyboard", async () => {
    await ada.goto(settings('members'));
    await ada.getByLabel('Role of grace').focus();
    await ada.keyboard.type('Dev');
    await ada.keyboard.press('Tab');
    await ada.keyboard.press('Enter');
    await ada.getByText('Role changed').waitFor();
    assert.equal(await ada.getByLabel('Role of grace').inputValue(), 'developer');
  });

  await t.test('a developer makes a key and copies it, and a program uses it', async () => {
    await graces.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: world.address });
    await grace.goto(settings('keys'));
    await assertAccessible(grace, 'keys, none yet');
    await grace.getByLabel('Name').fill('Nightly import');
    await grace.getByText('Restrict permissions').click();
    await grace.getByLabel('members:read').check();
    await grace.getByLabel('developers:manage').check();
    await grace.getByRole('button', { name: 'Create key' }).click();
    await grace.getByRole('button', { name: 'Copy' }).click();
    await grace.getByText('Copied.').waitFor();
    await assertAccessible(grace, 'a new key');
    secret = String(await grace.evaluate('navigator.clipboard.readText()'));
    const answer = await fetch(`${world.address}/v1/workspaces/${owner.workspace_id}/members`, {
      headers: { authorization: `Bearer ${secret}` },
    });
    assert.equal(answer.status, 200);
    await grace.getByRole('link', { name: 'I have saved it' }).click();
    await assertAccessible(grace, 'keys');
  });

  async function widgetToken(widget: string, bearer: string): Promise<string> {
    const answer = await world.as(bearer).post(`/v1/workspaces/${owner.workspace_id}/widget-token`, { widget });
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    return answer.body.token;
  }

  const embedding = (elements: string) => `<!doctype html><html lang="en"><head><title>Intranet</title>
    <meta name="color-scheme" content="light dark"><style>body { background: Canvas; color: CanvasText }</style>
    <script type="module" src="${world.address}/widgets.js"></script></head>
    <body><main><h1>Intranet</h1>${elements}</main></body></html>`;

  await t.test('a page of another site shows no widget unless the workspace allows the site', async () => {
    site.text = embedding(`<ibid-developers token="${await widgetToken('developers', secret)}"></ibid-developers>`);
    const page = await guests.newPage();
    await page.goto(site.origin);
    await page.getByRole('alert').getByText('does not allow this site').waitFor();
    assert.equal(await page.getByText('Nightly import').count(), 0);
    await assertAccessible(page, 'a widget that is refused');
    await page.close();
  });

  await t.test('a developer allows the site, and its page shows the widgets', async () => {
    await grace.goto(settings('widgets'));
    await assertAccessible(grace, 'widgets');
    await grace.getByLabel('Origins, one per line').fill(`${site.origin}/`);
    await grace.getByRole('button', { name: 'Save' }).click();
    await grace.getByText('Saved.').waitFor();
    assert.equal(await grace.getByLabel('Origins, one per line').inputValue(), site.origin);

    const tokens = {
      developers: await widgetToken('developers', secret),
      profile: await widgetToken('profile', String(owner.token)),
      enterprise: await widgetToken('enterprise', String(owner.token)),
    };
    site.text = embedding(
      Object.entries(tokens)
        .map(([name, token]) => `<ibid-${name} token="${token}"></ibid-${name}>`)
        .join('\n'),
    );
    const page = await graces.newPage();
    await page.goto(site.origin);
    await page.locator('ibid-developers').getByText('Nightly import').waitFor();
    await page.locator('ibid-profile').getByText('ada@example.com').waitFor();
    await page.locator('ibid-enterprise').getByText('2 active, 0 invited').waitFor();
    await page.locator('ibid-enterprise').getByText('Permissions', { exact: true }).first().click();
    await assertAccessible(page, 'the widgets in a page of another site');
    const seen = await page.evaluate(`getComputedStyle(document.querySelector('ibid-profile')).backgroundColor`);
    await page.addStyleTag({ content: 'ibid-profile { --ibid-paper: rgb(1, 2, 3) }' });
    const themed = await page.evaluate(`getComputedStyle(document.querySelector('ibid-profile')).backgroundColor`);
    assert.notEqual(seen, themed);
    assert.equal(themed, 'rgb(1, 2, 3)');
    await page.close();
  });

  /** Records the service's addresses that a page requests, including its frames. */
  function requestsOf(page: Page): string[] {
    const asked: string[] = [];
    page.on('request', (request) => {
      const [address = ''] = request.url().split('#');
      if (address.startsWith(world.address)) asked.push(address);
    });
    return asked;
  }

  await t.test('an allowed site can show a widget in a frame, another site cannot', async () => {
    const token = await widgetToken('developers', secret);
    const address = `${world.address}/-/widgets/${owner.workspace_id}/developers`;
    const framing = `<!doctype html><html lang="en"><title>Intranet</title><main><h1>Intranet</h1>
      <iframe title="API keys" src="${address}#token=${token}"></iframe></main></html>`;
    site.text = framing;
    const page = await graces.newPage();
    const asked = requestsOf(page);
    await page.goto(site.origin);
    await page.frameLocator('iframe').getByText('Nightly import').waitFor();
    await assertAccessible(page, 'a widget in a frame');
    const inside = page.frames().find((frame) => frame.url().startsWith(world.address));
    assert.equal(inside?.url(), address, 'the token is removed from the address');
    assert.ok(asked.length > 1, 'a frame that is shown asks for its scripts');
    await page.close();

    const other = await openOtherSite();
    other.text = framing;
    const refused = await guests.newPage();
    const askedInVain = requestsOf(refused);
    // The page has loaded when its frame has.
    await refused.goto(other.origin);
    assert.deepEqual(askedInVain, [address], 'nothing that the document in the frame holds is asked for');
    assert.equal(await refused.frameLocator('iframe').getByText('Nightly import').count(), 0);
    await refused.close();
  });

  await t.test('a widget whose key was revoked tells the user and the page', async () => {
    const token = await widgetToken('developers', secret);
    await grace.goto(settings('keys'));
    await grace.getByText('Revoke', { exact: false }).first().click();
    await grace.getByRole('button', { name: 'Revoke key' }).click();
    await grace.getByText('Key revoked').waitFor();
    site.text = embedding(`<script>addEventListener('ibid-token-ended', () => { document.title = 'ended' })</script>
      <ibid-developers token="${token}"></ibid-developers>`);
    const page = await guests.newPage();
    await page.goto(site.origin);
    await page.getByText('This view has expired').waitFor();
    assert.equal(await page.title(), 'ended');
    await page.close();
  });

  await t.test('an owner exports a wiki and opens the remaining settings', async () => {
    await ada.goto(settings('wikis'));
    await assertAccessible(ada, 'wikis');
    await ada.getByRole('link', { name: 'Export or import' }).click();
    await assertAccessible(ada, 'export and import');
    await ada.getByRole('button', { name: 'Export' }).click();
    const download = ada.waitForEvent('download');
    await ada.getByRole('link', { name: 'Download the archive' }).click();
    const archive = join(folder, 'wiki.zip');
    await (await download).saveAs(archive);
    await assertAccessible(ada, 'an export that is done');
    await ada.goto(settings('wikis'));
    await ada.getByLabel('Title of a new wiki').fill('Copy');
    await ada.getByRole('button', { name: 'Create', exact: true }).click();
    await ada.goto(`${world.address}/ada/copy/-/transfer`);
    await ada.getByLabel('Archive').setInputFiles(archive);
    await ada.getByRole('button', { name: 'Import', exact: true }).click();
    await ada.getByText('The import is complete').waitFor();
    for (const path of [
      `${world.address}/ada`,
      settings('audit'),
      settings('usage'),
      settings('billing?plan=team_monthly'),
      `${world.address}/me`,
      `${world.address}/me/keys`,
    ]) {
      await ada.goto(path);
      await assertAccessible(ada, path);
    }
  });

  await t.test('on a phone the setting comes before the links to the others, which a single row opens', async () => {
    await ada.setViewportSize({ width: 390, height: 844 });
    await ada.goto(settings('members'));
    const wikis = ada.getByRole('navigation', { name: 'Settings' }).getByRole('link', { name: 'Wikis' });
    const [heading, field] = [ada.getByRole('heading', { level: 1 }), ada.getByLabel('E-mail')];
    const [title, first] = [await heading.boundingBox(), await field.boundingBox()];
    assert.ok(title && title.y < 180, `the heading is ${title?.y} px below the top`);
    assert.ok(first && first.y < 422, 'the first field is in the upper half');
    assert.equal(await wikis.isVisible(), false);
    const row = ada.locator('.sections summary');
    assert.ok(((await row.boundingBox())?.height ?? 0) >= 44, 'a finger hits it');
    await row.focus();
    await ada.keyboard.press('Enter');
    assert.ok(((await wikis.boundingBox())?.height ?? 0) >= 44, 'and each link');
    await assertAccessible(ada, 'the links of the settings, open');
    await ada.setViewportSize({ width: 390, height: 844 });
    await wikis.click();
    await ada.getByRole('heading', { level: 1, name: 'Wikis' }).waitFor();
    await ada.setViewportSize({ width: 1_280, height: 720 });
    assert.equal(await wikis.isVisible(), true, 'in a wide window all are shown');
  });

  await t.test('a member leaves, and signs out everywhere', async () => {
    await grace.goto(settings('members'));
    await grace.getByText('Leave', { exact: true }).click();
    await grace.getByRole('button', { name: 'Leave ada' }).click();
    await grace.waitForURL('**/begin');
    await assertAccessible(grace, 'in no workspace');
    await grace.goto(`${world.address}/me`);
    await assertAccessible(grace, 'profile, in no workspace');
    await grace.getByText('Sign out everywhere').first().click();
    await grace.getByRole('button', { name: 'Sign out everywhere' }).click();
    await grace.waitForURL('**/sign-in');
  });

  // Expected refusals: a page of another site, a revoked key, and settings that a viewer cannot see.
  const unexpected = complaints.filter((line) => !/answered 40[13]$/.test(line));
  assert.deepEqual(unexpected, [], 'no request of a page may fail or be blocked');
});
