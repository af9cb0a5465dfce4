import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { assertAccessible, openWatched } from '../test/assert-page.ts';
import { skip } from '../test/browser.ts';
import { openBrowserFor } from '../test/browser-visitor.ts';
import { until } from '../test/until.ts';
import { openWorld } from '../test/world.ts';

const world = await openWorld();
const owner = await world.owner();
const { body: overview } = await owner.get('/v1/overview');
const [wiki] = overview.wikis;
const root = `${world.address}/${overview.session.organizations[0].slug}/${wiki.slug}`;
const TEXTS: Record<string, string> = {
  'Analytical engine': 'It turns a crank.\n\n## Cards\n\nPunch the pasteboard.',
  'Engine room': 'Where the steam is made.',
  Weaving: 'A loom takes pasteboard too.',
};
for (const [title, markdown] of Object.entries(TEXTS)) {
  const { status } = await owner.post(`/v1/wikis/${wiki.wiki_id}/pages`, { title, markdown });
  assert.equal(status, 201);
}
await world.upload(owner, wiki.wiki_id, { 'notes.md': '# Notes\n\nThe pasteboard of Jacquard.' });

/** The palette, opened by keyboard. */
async function openPalette(page: Page): Promise<Locator> {
  await page.keyboard.press('Control+k');
  const input = page.getByRole('combobox', { name: 'Search this wiki' });
  await input.waitFor();
  return input;
}

const chosen = (page: Page) => page.locator('ibid-palette [aria-selected="true"] .title').textContent();

/** The option that is announced as active is the one that is highlighted. */
async function assertActive(page: Page, title: string): Promise<void> {
  await page.locator('ibid-palette [aria-selected="true"] .title', { hasText: new RegExp(`^${title}$`) }).waitFor();
  const active = await page.getByRole('combobox', { name: 'Search this wiki' }).getAttribute('aria-activedescendant');
  assert.equal(await page.locator(`ibid-palette #${active} .title`).textContent(), title);
}

test('the palette opens pages, sections and sources by keyboard alone', { skip }, async (t) => {
  const context = await openBrowserFor(world, owner.user_id);
  const { page, complaints } = await openWatched(context);
  await page.goto(root);

  await t.test('titles match while their last word is being typed', async () => {
    await openPalette(page);
    await page.keyboard.type('engi');
    const titles = page.getByRole('group', { name: 'Pages' }).getByRole('option');
    await titles.nth(1).waitFor();
    assert.equal(await chosen(page), await titles.first().locator('.title').textContent());
    await page.getByRole('option', { name: 'All results' }).waitFor();
    await assertAccessible(page, 'palette');
  });

  await t.test('arrows, Home and End select, and wrap around', async () => {
    await page.keyboard.press('End');
    await assertActive(page, 'All results for “engi”');
    await page.keyboard.press('ArrowDown');
    await assertActive(page, 'Engine room');
    await page.keyboard.press('ArrowDown');
    await assertActive(page, 'Analytical engine');
    await page.keyboard.press('Home');
    await assertActive(page, 'Engine room');
    await page.keyboard.press('ArrowUp');
    await assertActive(page, 'All results for “engi”');
  });

  await t.test('Esc closes it and keeps the query', async () => {
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    const input = await openPalette(page);
    assert.equal(await input.inputValue(), 'engi');
  });

  await t.test('a word in a text leads to the section that contains it', async () => {
    await page.keyboard.type('pasteboard punch');
    await page.getByRole('group', { name: 'In the text' }).getByRole('option').first().waitFor();
    await assertActive(page, 'Analytical engine');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/analytical-engine#*');
    await page.getByRole('heading', { level: 1, name: 'Analytical engine' }).waitFor();
  });

  await t.test('a source is found unless its page is', async () => {
    await openPalette(page);
    await page.keyboard.type('jacquard');
    await page.getByRole('option', { name: 'All results' }).waitFor();
    await page
      .getByRole('group', { name: 'In the text' })
      .getByRole('option', { name: /^Notes/ })
      .waitFor();
    assert.equal(await page.getByRole('group', { name: 'Sources' }).count(), 0, 'one row for the page and its source');
    const { body: pages } = await owner.get(`/v1/wikis/${wiki.wiki_id}/pages`);
    const { page_id } = pages.find(({ title }: { title: string }) => title === 'Notes');
    assert.equal((await owner.send('DELETE', `/v1/wikis/${wiki.wiki_id}/pages/${page_id}`)).status, 204);
    await page.reload();
    await openPalette(page);
    await page.keyboard.type('jacquard');
    await page.getByRole('group', { name: 'Sources' }).getByRole('option', { name: 'notes.md' }).waitFor();
    await assertActive(page, 'notes.md');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/-/sources/*');
    assert.equal((await owner.send('POST', `/v1/wikis/${wiki.wiki_id}/pages/${page_id}/restore`)).status, 200);
  });

  await t.test('a corrected query is offered, and searched for when it is selected', async () => {
    // Corrections need the words to be in a merged segment, and the palette asks only once.
    await until(
      'the words can be corrected to',
      async () => (await owner.get(`/v1/wikis/${wiki.wiki_id}/suggest?query=weavimg`)).body as { kind: string }[],
      (suggestions) => suggestions.some(({ kind }) => kind === 'query'),
    );
    const input = await openPalette(page);
    await page.keyboard.type('weavimg');
    await page.getByRole('group', { name: 'Did you mean' }).getByRole('option', { name: 'weaving' }).waitFor();
    // What was found is opened, although the correction stands above it.
    await assertActive(page, 'Weaving');
    await assertAccessible(page, 'did you mean');
    await page.keyboard.press('ArrowUp');
    await assertActive(page, 'weaving');
    await page.keyboard.press('Enter');
    await assertActive(page, 'Weaving');
    assert.equal(await input.inputValue(), 'weaving');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/weaving');
  });

  await t.test('before something is typed it has what was read last, and commands, which typing filters', async () => {
    await page.keyboard.press('Control+k');
    const recent = page.getByRole('group', { name: 'Read last' }).locator('.title');
    assert.deepEqual(await recent.allTextContents(), ['Analytical engine'], 'without the page that is shown');
    await assertActive(page, 'Analytical engine');
    await assertAccessible(page, 'palette before typing');
    const commands = page.getByRole('group', { name: 'Commands' }).locator('.title');
    const all = await commands.allTextContents();
    for (const title of ['New page', 'New subpage', 'Rename or move', 'Upload', 'Invite people', 'Sign out'])
      assert.ok(all.includes(title), title);
    await page.keyboard.type('rename');
    await page.getByRole('option', { name: 'All results' }).waitFor();
    assert.deepEqual(await commands.allTextContents(), ['Rename or move']);
    await assertActive(page, 'Rename or move');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/-/move/weaving');
    await openPalette(page);
    await page.keyboard.type('theme dark');
    await assertActive(page, 'Theme: dark');
    await page.keyboard.press('Enter');
    await page.locator('html[data-theme="dark"]').waitFor();
  });

  await t.test(
    'a viewer has only the commands that they may use, and not what another user of the browser read',
    async () => {
      const viewer = await world.member(overview.session.organizations[0].organization_id, 'viewer');
      const theirs = await openBrowserFor(world, viewer.user_id, { storageState: await context.storageState() });
      const shared = await theirs.newPage();
      await shared.goto(`${root}/weaving`);
      await openPalette(shared);
      const titles = await shared.locator('ibid-palette .title').allTextContents();
      assert.ok(titles.includes('History') && titles.includes('Theme: dark'), titles.join());
      for (const hidden of ['Analytical engine', 'New page', 'Rename or move', 'Upload', 'Invite people'])
        assert.ok(!titles.includes(hidden), hidden);
      await theirs.close();
    },
  );

  await t.test('Enter before the results waits for the results of the current query', async () => {
    await openPalette(page);
    await page.keyboard.type('engine room');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/engine-room');
  });

  await t.test('a late reply does not replace a newer one', async () => {
    let release = () => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    await page.route(/\/suggest\?query=weaving&/, async (route) => {
      await held;
      await route.continue().catch(() => undefined);
    });
    await openPalette(page);
    const asked = page.waitForRequest(/\/suggest\?query=weaving&/);
    await page.keyboard.type('weaving');
    await asked;
    await page.keyboard.press('Control+a');
    await page.keyboard.type('room');
    await assertActive(page, 'Engine room');
    release();
    await page.getByRole('option', { name: 'All results for “room”' }).waitFor();
    await assertActive(page, 'Engine room');
    await page.unrouteAll({ behavior: 'wait' });
    await page.keyboard.press('Escape');
  });

  assert.deepEqual(complaints, []);

  await t.test('an error is shown, and Enter still opens the page of results', async () => {
    await page.route('**/suggest?*', (route) => route.abort());
    await openPalette(page);
    await page.keyboard.type('crank');
    await page.getByText('The service cannot be reached').waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL('**/-/search?query=crank');
  });
});

test('without scripts the page of results offers a corrected query', { skip }, async () => {
  const context = await openBrowserFor(world, owner.user_id);
  const page = await context.newPage();
  await page.goto(`${root}/-/search?query=weavimg`);
  await assertAccessible(page, 'did you mean, as a page');
  await page.getByText('Did you mean').getByRole('link', { name: 'weaving' }).click();
  await page.waitForURL('**/-/search?query=weaving');
  assert.equal(await page.getByText('Did you mean').count(), 0);
});

/** A wiki whose tree is longer than any window; its last page is long as well. */
async function openLongWiki(): Promise<string> {
  const { body } = await owner.post(`/v1/workspaces/${owner.workspace_id}/wikis`, { title: 'Long', slug: 'long' });
  const files: Record<string, string> = {};
  for (let i = 1; i <= 80; i += 1) files[`page ${i}.md`] = `# Page ${i}\n\nA short text.`;
  const parts = Array.from({ length: 60 }, (_, i) => `## Part ${i}\n\n${'Words. '.repeat(80)}`).join('\n\n');
  files['page 80.md'] = `# Page 80\n\n${parts}`;
  await world.upload(owner, body.wiki_id, files);
  return `${root.slice(0, root.lastIndexOf('/'))}/long/page-80`;
}

test('a page opens at its beginning and finds itself in the tree; search opens by touch', { skip }, async (t) => {
  const address = await openLongWiki();

  await t.test('on a phone a tap on the search field opens the palette, ready to type', async () => {
    const phone = await openBrowserFor(world, owner.user_id, { hasTouch: true, viewport: { width: 390, height: 844 } });
    const { page, complaints } = await openWatched(phone);
    await page.goto(address);
    assert.equal(await page.evaluate('scrollY'), 0);
    const heading = await page.getByRole('heading', { level: 1 }).boundingBox();
    assert.ok(heading && heading.y < 400, `the text begins at ${heading?.y}`);
    await page.getByRole('searchbox', { name: /^Search/ }).tap();
    await page.getByRole('combobox', { name: 'Search this wiki' }).waitFor();
    await page.keyboard.type('page 7');
    await page
      .locator('ibid-palette .title', { hasText: /^Page 7$/ })
      .first()
      .tap();
    await page.waitForURL('**/page-7');
    await phone.close();
    assert.deepEqual(complaints, []);
  });

  await t.test('beside the text the tree is scrolled to the page, and nothing moves while scripts arrive', async () => {
    const context = await openBrowserFor(world, owner.user_id, { viewport: { width: 1_440, height: 900 } });
    const { page, complaints } = await openWatched(context);
    await page.goto(address);
    const titles = await page.locator('.tree .leaf').allTextContents();
    assert.deepEqual(
      titles,
      Array.from({ length: 80 }, (_, i) => `Page ${i + 1}`),
      'numbers are in order',
    );
    const current = page.locator('.tree [aria-current]');
    await until(
      'the tree shows the page',
      () => current.boundingBox(),
      (box) => box !== null && box.y > 0 && box.y < 900,
    );
    assert.equal(await page.evaluate('scrollY'), 0);
    const here = page.locator('.outline a.here');
    // A jump passes all headings in one step.
    await page.evaluate('scrollTo(0, document.body.scrollHeight)');
    await until(
      'the outline marks the last part',
      () => here.textContent(),
      (text) => text === 'Part 59',
    );
    const box = await here.boundingBox();
    assert.ok(box && box.y < 900, 'the outline is scrolled to its mark');
    const noScripts = await openBrowserFor(world, owner.user_id, { javaScriptEnabled: false });
    const plain = await noScripts.newPage();
    await plain.goto(address);
    assert.ok(await plain.locator('.tree').getByRole('link', { name: 'Page 1', exact: true }).isVisible());
    await plain.setViewportSize({ width: 390, height: 844 });
    assert.ok(await plain.locator('.tree').getByRole('link', { name: 'Page 1', exact: true }).isHidden());
    await plain.getByText('Pages', { exact: true }).click();
    assert.ok(await plain.locator('.tree').getByRole('link', { name: 'Page 1', exact: true }).isVisible());
    assert.deepEqual(complaints, []);
  });
});

test('without scripts the results are counted and narrowed, and it is said what can be typed', { skip }, async () => {
  const context = await openBrowserFor(world, owner.user_id);
  const page = await context.newPage();
  await page.goto(`${root}/-/search?query=pasteboard`);
  await page.getByText('3 pages', { exact: true }).waitFor();
  await page.getByRole('combobox', { name: /^Below/ }).selectOption('weaving');
  await page.getByRole('combobox', { name: /^Changed/ }).selectOption('Past week');
  await page.getByRole('button', { name: 'Narrow' }).click();
  await page.waitForURL('**/-/search?*in=weaving*');
  await page.getByText('1 page', { exact: true }).waitFor();
  assert.equal(await page.locator('.hit').count(), 1);
  await page.getByLabel('In titles only').check();
  await page.getByRole('button', { name: 'Narrow' }).click();
  await page.getByText('No page contains these words').waitFor();
  await page.locator('.find-help > summary').click();
  await page.locator('.find-help').getByText('title:engine').waitFor();
});
