import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BrowserContext } from 'playwright-core';
import { assertAccessible, collectComplaints } from '../test/assert-page.ts';
import { launchBrowser, PAGE_TIMEOUT_MS, skip } from '../test/browser.ts';
import { cleanUp } from '../test/clean-up.ts';
import { plainText, startMailServer } from '../test/mail-server.ts';
import { png } from '../test/pictures.ts';
import { signedInClient } from '../test/signed-in.ts';
import { until } from '../test/until.ts';
import { openWorld, type World } from '../test/world.ts';

async function signIn(world: World, context: BrowserContext, user_id: string): Promise<void> {
  const { body } = await (await signedInClient(world, user_id)).post('/v1/auth/browser');
  await context.addCookies([{ name: 'ibid', value: body.browser_secret, url: world.address }]);
}

test('an owner renames a workspace, changes their address, deletes the workspace and restores it', {
  skip,
}, async (t) => {
  const mail = await startMailServer();
  cleanUp(() => mail.stop());
  const world = await openWorld({ SMTP_URL: mail.url, MAIL_FROM: 'wiki@example.com' });
  const owner = await world.owner('ada@example.com');
  const browser = await launchBrowser();
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  context.setDefaultTimeout(PAGE_TIMEOUT_MS);
  const complaints: string[] = [];
  context.on('page', (page) => collectComplaints(page, complaints));
  await signIn(world, context, owner.user_id);
  const page = await context.newPage();
  const at = (path: string) => world.address + path;
  const pathOfPage = () => new URL(page.url()).pathname;

  /** Returns the path of the confirmation link in the mail to this address. */
  async function linkTo(address: string): Promise<string> {
    const found = () =>
      mail.messages
        .filter(({ recipients }) => recipients.includes(address))
        .flatMap((message) => /\/email-change\?token=[\w-]{43}/.exec(plainText(message))?.[0] ?? []);
    return (await until(`${address} has a link`, found, ({ length }) => length > 0)).at(-1) ?? '';
  }

  await t.test('the page General comes first in the settings, and changes name and address', async () => {
    await page.goto(at('/ada/-/members'));
    await page.getByRole('navigation', { name: 'Settings' }).getByRole('link').first().click();
    await page.waitForURL('**/ada/-/general');
    await assertAccessible(page, 'general');
    await page.getByLabel('Name', { exact: true }).fill('Acme Engineering');
    await page.getByLabel('Address', { exact: true }).fill('admin');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('alert').getByText('is taken').waitFor();
    assert.equal(await page.getByLabel('Name', { exact: true }).inputValue(), 'Acme Engineering', 'the input is kept');
    await page.getByLabel('Address', { exact: true }).fill('acme');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Links with an earlier address redirect here.').waitFor();
    assert.equal(pathOfPage(), '/acme/-/general');
    await page.getByRole('link', { name: 'Acme Engineering' }).first().waitFor();
  });

  await t.test('a workspace shows its letter, and a new logo appears everywhere at once', async () => {
    const width = (at = page.locator('.brand img.logo')) =>
      at.evaluate((it: HTMLImageElement) => it.decode().then(() => it.naturalWidth));
    const type = () =>
      page
        .locator('.brand img.logo')
        .evaluate(async (it: HTMLImageElement) => (await fetch(it.src)).headers.get('content-type'));
    assert.equal(await type(), 'image/svg+xml');
    await page
      .getByRole('form', { name: 'Logo' })
      .locator('input[type=file]')
      .setInputFiles({ name: 'logo.png', mimeType: 'image/png', buffer: png({ width: 300, height: 300 }) });
    await page.getByRole('button', { name: 'Save logo' }).click();
    await page.getByText('Logo changed.').waitFor();
    await page.locator('.brand img.logo[src$="#fresh"]').waitFor();
    assert.equal(await width(), 300);
    await assertAccessible(page, 'general with a logo');
    await page.goto(at('/acme/main'));
    assert.equal(await width(), 300);
    await page.goto(at('/acme/-/general'));
    await page.getByRole('button', { name: 'Remove logo' }).click();
    await page.getByText('Logo removed.').waitFor();
    await page.locator('.brand img.logo[src$="#fresh"]').waitFor();
    assert.equal(await type(), 'image/svg+xml');
  });

  await t.test('an earlier address redirects to the current one', async () => {
    await page.goto(at('/ada/main'));
    assert.equal(pathOfPage(), '/acme/main');
    await page.goto(at('/ada/-/general'));
    assert.equal(pathOfPage(), '/acme/-/general');
  });

  await t.test('the address of the account changes after both links were opened', async () => {
    await page.goto(at('/me'));
    await page.getByLabel('New address').fill('ada@example.org');
    await page.getByRole('button', { name: 'Send links' }).click();
    await page.getByText('Two e-mails are on their way').waitFor();
    await page.getByText('is pending. Open the link sent to each of the two addresses').waitFor();
    await assertAccessible(page, 'a change of address that waits');
    await page.goto(at(await linkTo('ada@example.com')));
    await assertAccessible(page, 'the link of a change of address');
    await page.getByRole('button', { name: 'Confirm' }).click();
    await page.getByText('Now open the link in the other e-mail').waitFor();
    await page.goto(at(await linkTo('ada@example.org')));
    await page.getByRole('button', { name: 'Confirm' }).click();
    await page.getByRole('heading', { name: 'Address changed' }).waitFor();
    await page.getByRole('link', { name: 'Go to your profile' }).click();
    await page.getByText('You sign in as ada@example.org').waitFor();
  });

  await t.test('a workspace is deleted only with its name, after an export of each wiki was offered', async () => {
    await page.goto(at('/acme/-/general'));
    const exports = page.getByRole('link', { name: /^Export / });
    assert.equal(await exports.first().getAttribute('href'), '/acme/main/-/transfer');
    const erase = async (name: string) => {
      await page.getByText('Delete Acme Engineering').click();
      await page.getByLabel('Workspace name, to confirm').fill(name);
      await page.getByRole('button', { name: 'Delete workspace' }).click();
    };
    await erase('Acme');
    await page.getByRole('alert').getByText('This is not the name of the workspace').waitFor();
    await erase('Acme Engineering');
    await page.getByText('Workspace deleted.').waitFor();
    assert.equal((await page.goto(at('/acme/main')))?.status(), 404);
    complaints.length = 0;
  });

  await t.test('an owner restores the workspace from the profile', async () => {
    await page.goto(at('/me'));
    await assertAccessible(page, 'a profile with a deleted workspace');
    await page.getByRole('button', { name: 'Restore Acme Engineering' }).click();
    await page.waitForURL('**/acme/main');
  });

  assert.deepEqual(complaints, []);
});
