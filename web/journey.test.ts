import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { after, test } from 'node:test';
import { AxeBuilder } from '@axe-core/playwright';
import { pino } from 'pino';
import { chromium, type Page } from 'playwright-core';
import { CHROMIUM } from '../test/browser.ts';
import { openWorld, type World } from '../test/world.ts';

const skip = CHROMIUM ? false : 'Chromium is not installed, so that no journey was made in a real browser';

const lines: string[] = [];
const sink = new Writable({
  write(chunk, _encoding, done) {
    lines.push(String(chunk));
    done();
  },
});

/** A service that nobody has used, and the link that its start has logged. */
async function openFresh(): Promise<{ world: World; link: string }> {
  const world = await openWorld({}, { log: pino({ level: 'info' }, sink) });
  const token = /welcome\?token=([\w-]+)/.exec(lines.join(''))?.[1];
  return { world, link: `${world.address}/welcome?token=${token}` };
}

/** What no page may show: scripts that fail, what the policy forbids, and what is not there. */
function watch(page: Page, complaints: string[]): void {
  page.on('pageerror', (error) => complaints.push(`${page.url()}: ${error.message}`));
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(`${page.url()}: ${message.text()}`);
  });
}

/** Fails for whatever keeps somebody out, in light and in dark, and for a page that is wider than its window. */
async function assertGood(page: Page, name: string): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    const { violations } = await new AxeBuilder({ page })
      .withTags(['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa'])
      .analyze();
    const grave = violations.filter(({ impact }) => impact === 'critical' || impact === 'serious');
    const said = grave.map(
      ({ id, nodes }) => `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join('\n')}`,
    );
    assert.deepEqual(said, [], `${name}, ${colorScheme}`);
  }
  for (const width of [360, 768, 1_440]) {
    await page.setViewportSize({ width, height: 900 });
    const wider = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
    assert.ok(Number(wider) <= 0, `${name} is ${wider} px wider than a window of ${width}`);
  }
}

test('somebody who never saw it gets from the printed link to a wiki of their own files, and works in it', {
  skip,
}, async (t) => {
  const { world, link } = await openFresh();
  const folder = await mkdtemp(join(tmpdir(), 'ibid-journey-'));
  after(() => rm(folder, { recursive: true, force: true }));
  await mkdir(join(folder, 'guide'), { recursive: true });
  await writeFile(
    join(folder, 'guide/setup.md'),
    '# Setup\n\nTurn the crank of the analytical engine. See [use](use.md).\n',
  );
  await writeFile(
    join(folder, 'guide/use.md'),
    '# Use\n\n## Cards\n\nPunch them.\n\n## Crank\n\nTurn it, $x^2$ times.\n',
  );

  const browser = await chromium.launch({ executablePath: CHROMIUM ?? '', args: ['--no-sandbox'] });
  after(() => browser.close());
  const context = await browser.newContext();
  context.setDefaultTimeout(10_000);
  const page = await context.newPage();
  const complaints: string[] = [];
  watch(page, complaints);

  await t.test('the welcome makes a workspace', async () => {
    await page.goto(link);
    await assertGood(page, 'welcome');
    await page.getByLabel('Your name').fill('Ada <b>Lovelace</b>');
    await page.getByLabel('Your e-mail').fill('ada@example.com');
    await page.getByLabel('Name of your workspace').fill('Engine & Co');
    await page.getByRole('button', { name: 'Make my wiki' }).click();
    await page.waitForURL('**/engine-co/main/-/upload?first');
    await assertGood(page, 'upload');
  });

  await t.test('a folder becomes pages', async () => {
    await page.locator('input[webkitdirectory]').setInputFiles(join(folder, 'guide'));
    await page.getByRole('link', { name: 'Read the wiki' }).click();
    await page.waitForURL('**/engine-co/main');
    await assertGood(page, 'home');
  });

  await t.test('the tree opens by keyboard, and pages are read', async () => {
    await page.getByRole('button', { name: 'Pages below guide' }).focus();
    await page.keyboard.press('Enter');
    await page.locator('.tree').getByRole('link', { name: 'Use' }).click();
    await page.getByRole('heading', { level: 1, name: 'Use' }).waitFor();
    await page.locator('.katex').first().waitFor();
    await assertGood(page, 'page');
    assert.deepEqual(await page.locator('.outline a').allTextContents(), ['Cards', 'Crank']);
  });

  await t.test('a search goes where its words are, by keyboard alone', async () => {
    await page.keyboard.press('Control+k');
    await page.keyboard.type('analytical');
    await page.getByRole('option').first().waitFor();
    await assertGood(page, 'palette');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Setup' }).waitFor();
    await page.goto(`${world.address}/engine-co/main/-/search?query=crank`);
    assert.ok((await page.locator('.hit mark').count()) > 0);
    await assertGood(page, 'search');
  });

  await t.test('what somebody writes is shown beside, kept while it is not saved, and saved', async () => {
    await page.goto(`${world.address}/engine-co/main/guide/setup`);
    await page.getByRole('link', { name: 'Edit', exact: true }).click();
    const text = page.getByRole('textbox', { name: 'Text, in Markdown' });
    await text.click();
    await page.keyboard.press('Control+End');
    await page.keyboard.type('\nOil it **well**.');
    await page.locator('.preview strong').getByText('well').waitFor();
    await page.getByText('Kept in this browser').waitFor();
    await page.reload();
    await page.getByText('What you wrote and did not save is back').waitFor();
    await text.getByText('Oil it').waitFor();
    await assertGood(page, 'editor');
    await page.getByLabel('Title').fill('Setting up');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.waitForURL('**/engine-co/main/guide/setup');
    await page.locator('.prose strong').getByText('well').waitFor();
    await page.getByRole('link', { name: 'Edit', exact: true }).click();
    await text.waitFor();
    assert.equal(await page.getByText('did not save is back').count(), 0, 'what was saved is no draft any more');
  });

  await t.test('two tabs that edit at once are brought together', async () => {
    const other = await context.newPage();
    watch(other, complaints);
    const address = `${world.address}/engine-co/main/-/edit/guide/use`;
    for (const tab of [page, other]) {
      await tab.goto(address);
      await tab.getByRole('textbox', { name: 'Text, in Markdown' }).click();
    }
    await page.keyboard.press('Control+End');
    await page.keyboard.type('\nSlowly.');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.waitForURL('**/engine-co/main/guide/use');
    await other.keyboard.press('Control+Home');
    await other.keyboard.type('Carefully.\n\n');
    await other.getByRole('button', { name: 'Save', exact: true }).click();
    await other.getByText('Somebody saved this page while you wrote').waitFor();
    await assertGood(other, 'conflict');
    await other.getByRole('button', { name: 'Save', exact: true }).click();
    await other.waitForURL('**/engine-co/main/guide/use');
    for (const word of ['Carefully.', 'Slowly.']) await other.locator('.prose').getByText(word).waitFor();
    await other.close();
  });

  await t.test('the history says what changed', async () => {
    await page.goto(`${world.address}/engine-co/main/guide/setup`);
    await page.getByRole('link', { name: 'History' }).click();
    await page.getByText('present').waitFor();
    await assertGood(page, 'history');
    await page.getByRole('button', { name: 'Compare' }).click();
    await page.getByText('The title was').waitFor();
    await assertGood(page, 'diff');
  });

  await t.test('what is not there says what to do', async () => {
    const answer = await page.goto(`${world.address}/engine-co/main/guide/setap`);
    assert.equal(answer?.status(), 404);
    await assertGood(page, 'missing');
    for (const action of ['sources', 'trash', 'uploads', 'new', 'pages/guide']) {
      await page.goto(`${world.address}/engine-co/main/-/${action}`);
      await assertGood(page, action);
    }
  });

  await t.test('the theme that is chosen stays', async () => {
    await page.locator('.menu summary').click();
    await page.getByRole('button', { name: 'Dark' }).click();
    assert.equal(await page.locator('html').getAttribute('data-theme'), 'dark');
  });

  await t.test('who signs out is out', async () => {
    await page.locator('.menu summary').click();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.waitForURL('**/sign-in');
    await assertGood(page, 'sign-in');
    await page.goto(`${world.address}/engine-co/main/guide/setup`);
    assert.match(page.url(), /\/sign-in\?next=%2Fengine-co%2Fmain%2Fguide%2Fsetup$/);
  });

  const expected = complaints.filter((line) => !/40[49] \((?:Not Found|Conflict)\)/.test(line));
  assert.deepEqual(expected, [], 'nothing may fail or be forbidden in a page');
});
