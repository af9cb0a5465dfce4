import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { assertAccessible, openWatched } from '../test/assert-page.ts';
import { skip } from '../test/browser.ts';
import { openBrowserFor } from '../test/browser-visitor.ts';
import { longTest } from '../test/extent.ts';
import { until } from '../test/until.ts';
import { goThereAndBack, heading, openPalette } from '../test/web-steps.ts';
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

const chosen = (page: Page) => page.locator('ibid-palette [aria-selected="true"] .title').textContent();

/** Asserts that the highlighted option is also announced as the active one. */
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

  await t.test('Esc closes the palette and keeps the query', async () => {
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

  await t.test('a corrected query is offered, and selecting it searches for it', async () => {
    // Corrections need the words to be in a merged segment, and the palette asks only once.
    await until(
      'the words can be corrected to',
      async () => (await owner.get(`/v1/wikis/${wiki.wiki_id}/suggest?query=weavimg`)).body as { kind: string }[],
      (suggestions) => suggestions.some(({ kind }) => kind === 'query'),
    );
    const input = await openPalette(page);
    await page.keyboard.type('weavimg');
    await page.getByRole('group', { name: 'Did you mean' }).getByRole('option', { name: 'weaving' }).waitFor();
    // Enter opens the result, although the correction is listed above it.
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

  await t.test('visible results do not move when more are found, and pressing a result opens that result', async () => {
    const crank = { title: 'Crank', markdown: 'It turns, as in weaving.' };
    const { body: made } = await owner.post(`/v1/wikis/${wiki.wiki_id}/pages`, crank);
    const hold = async (of: string) => {
      let release = () => {};
      const released = new Promise<void>((resolve) => {
        release = resolve;
      });
      await page.route(of, async (route) => {
        await released;
        await route.continue();
      });
      return release;
    };
    const places = () =>
      page
        .locator('ibid-palette .option')
        .evaluateAll((options) => options.map((it) => [it.textContent, it.getBoundingClientRect().top] as const));
    const showTexts = await hold('**/pages/search?**');
    const input = await openPalette(page);
    await input.fill('weaving');
    const option = (name: string) => page.locator('ibid-palette .option', { hasText: name }).first();
    await page.getByRole('group', { name: 'Pages' }).getByRole('option', { name: 'Weaving' }).waitFor();
    const titles = await places();
    showTexts();
    await option('Crank').waitFor();
    assert.deepEqual((await places()).slice(0, titles.length), titles);

    // Pressed while the user was still typing, before any results for the new words.
    const showTitles = await hold('**/suggest?**');
    const answered = page.waitForResponse('**/suggest?**');
    await input.fill('engine');
    await option('Weaving').hover();
    await page.mouse.down();
    showTitles();
    await answered;
    await page.mouse.up();
    await page.waitForURL('**/weaving');
    await page.unrouteAll({ behavior: 'wait' });
    assert.equal((await owner.send('DELETE', `/v1/wikis/${wiki.wiki_id}/pages/${made.page_id}`)).status, 204);
  });

  await t.test('the empty palette has the pages read last and commands, which typing filters', async () => {
    // Load the page again: the previous step navigated to the same address, so waiting for it proves no new visit.
    await page.goto(`${root}/weaving`);
    await openPalette(page);
    const recent = page.getByRole('group', { name: 'Recent pages' }).locator('.title');
    await recent.first().waitFor();
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
    'a viewer is offered only the permitted commands, and no pages that another user of the browser read',
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

/** Creates a wiki with more pages at its root than the tree shows at first, and a page longer than any window. */
async function openLongWiki(): Promise<string> {
  const { body } = await owner.post(`/v1/workspaces/${owner.workspace_id}/wikis`, { title: 'Long', slug: 'long' });
  const files: Record<string, string> = {};
  for (let i = 1; i <= 140; i += 1) files[`page ${i}.md`] = `# Page ${i}\n\nA short text.`;
  const parts = Array.from({ length: 60 }, (_, i) => `## Part ${i}\n\n${'Words. '.repeat(80)}`).join('\n\n');
  files['page 80.md'] = `# Page 80\n\n${parts}`;
  await world.upload(owner, body.wiki_id, files);
  return `${root.slice(0, root.lastIndexOf('/'))}/long/page-80`;
}

test('a page opens at its top and is visible in the tree, and search opens by touch', { skip }, async (t) => {
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
    // Wait until it is selected: before the results for the whole query arrive, it has another place in the list for
    // "page".
    await page.locator('ibid-palette [aria-selected="true"] .title', { hasText: /^Page 7$/ }).tap();
    await page.waitForURL('**/page-7');
    await phone.close();
    assert.deepEqual(complaints, []);
  });

  await t.test('in a wide window the tree is scrolled to the page, and nothing moves while scripts load', async () => {
    const context = await openBrowserFor(world, owner.user_id, { viewport: { width: 1_440, height: 900 } });
    const { page, complaints } = await openWatched(context);
    await page.goto(address);
    const titles = await page.locator('.tree .leaf').allTextContents();
    const inOrder = (length: number) => Array.from({ length }, (_, i) => `Page ${i + 1}`);
    assert.deepEqual(titles, inOrder(100), 'numbers are in order');
    const current = page.locator('.tree [aria-current]');
    await until(
      'the tree shows the page',
      () => current.boundingBox(),
      (box) => box !== null && box.y > 0 && box.y < 900,
    );
    const counted =
      "[...document.querySelectorAll('.tree li')].filter((row) => getComputedStyle(row).display === 'list-item')";
    assert.equal(
      await page.evaluate(`${counted}.length`),
      0,
      'no row is counted again when a list of the text changes',
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
    const last = page.getByRole('treeitem', { name: 'Page 100', exact: true });
    assert.deepEqual(
      [await last.getAttribute('aria-posinset'), await last.getAttribute('aria-setsize')],
      ['100', '-1'],
    );
    await page.getByRole('treeitem', { name: 'All pages here…' }).focus();
    const next = page.getByRole('treeitem', { name: 'Page 101', exact: true });
    await next.waitFor();
    assert.deepEqual(
      await page.locator('.tree .leaf').allTextContents(),
      inOrder(140),
      'the others follow when they are reached',
    );
    assert.equal(await next.evaluate((it) => it === document.activeElement), true, 'the focus goes on with them');
    assert.deepEqual(
      [await last.getAttribute('aria-posinset'), await last.getAttribute('aria-setsize')],
      ['100', '140'],
    );
    const noScripts = await openBrowserFor(world, owner.user_id, { javaScriptEnabled: false });
    const plain = await noScripts.newPage();
    await plain.goto(address);
    assert.ok(await plain.locator('.tree').getByRole('link', { name: 'Page 1', exact: true }).isVisible());
    await plain.setViewportSize({ width: 390, height: 844 });
    assert.ok(await plain.locator('.tree').getByRole('link', { name: 'Page 1', exact: true }).isHidden());
    await plain.locator('.tree-fold > summary').click();
    assert.ok(await plain.locator('.tree').getByRole('link', { name: 'Page 1', exact: true }).isVisible());
    assert.deepEqual(complaints, []);
  });
});

/** Returns the objects that a browser retains after a garbage collection. */
async function held(page: Page): Promise<{ Nodes: number; JSEventListeners: number; Documents: number }> {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable');
  await session.send('HeapProfiler.collectGarbage');
  const { metrics } = await session.send('Performance.getMetrics');
  await session.detach();
  return Object.fromEntries(metrics.map(({ name, value }) => [name, value])) as never;
}

longTest('a link inside a wiki replaces the page with the same result as a load', { skip }, async (t) => {
  const long = `/v1/wikis/${wiki.wiki_id}/pages`;
  const parts = Array.from({ length: 40 }, (_, i) => `## Part ${i}\n\n${'Words. '.repeat(80)}`).join('\n\n');
  const markdown = `[Weaving](weaving) and [the end](#h-part-39)\n\n${parts}\n\n[The loom](weaving)`;
  const { body: made } = await owner.post(long, { title: 'A long text', markdown, slug: 'long-text' });
  assert.equal(made.page_id.slice(0, 5), 'page_');
  await owner.patch(`${long}/${(await owner.get(`${long}/path/weaving`)).body.page_id}`, {
    base_revision: 1,
    markdown:
      'A loom takes pasteboard too.\n\n## Code\n\n```js\nlet x = 1;\n```\n\n## Formula\n\n$x^2$ [back](long-text)',
  });
  const context = await openBrowserFor(world, owner.user_id, { viewport: { width: 1_440, height: 900 } });
  const { page, complaints } = await openWatched(context);
  const loads = () => page.evaluate<number | undefined>('window.loads');
  const top = () => page.evaluate<number>('scrollY');
  await page.goto(`${root}/long-text`);
  await page.evaluate('window.loads = 1');

  await t.test('text, outline, title and the mark in the tree change, and text typed by the reader stays', async () => {
    await page.getByPlaceholder('Filter pages').fill('eng');
    await page.evaluate('scrollTo(0, document.body.scrollHeight)');
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    const link = page.getByRole('link', { name: 'The loom' });
    await Promise.all([page.waitForResponse('**/weaving?fragment=page'), link.hover()]);
    await link.click();
    await page.waitForURL('**/weaving');
    await heading(page, 'Weaving');
    assert.equal(await loads(), 1, 'the document was not loaded');
    assert.equal(
      asked.filter((url) => url.includes('fragment')).length,
      1,
      'it was fetched when the pointer rested on the link',
    );
    assert.equal(await page.title(), `Weaving · ${wiki.title}`);
    assert.deepEqual(await page.locator('.outline a').allTextContents(), ['Code', 'Formula']);
    assert.equal(await page.locator('.tree-roots [aria-current]').textContent(), 'Weaving');
    assert.equal(await page.getByPlaceholder('Filter pages').inputValue(), 'eng');
    assert.equal(await top(), 0);
    assert.equal(await page.evaluate('document.activeElement.textContent'), 'Weaving', 'the heading has the focus');
    await page.getByRole('status').getByText('Weaving').waitFor({ state: 'attached' });
  });

  await t.test('scripts enhance the new text', async () => {
    await page.getByRole('button', { name: /^Copy this js code/ }).waitFor();
    await page.locator('.katex').first().waitFor();
    assert.equal(await page.locator('.code-box').count(), 1);
    assert.doesNotMatch(
      String(await page.locator('.byline time').textContent()),
      /^\d{4}-/,
      'in the language of the reader',
    );
  });

  await t.test("Back and Forward restore the reader's scroll position", async () => {
    await page.goBack();
    await heading(page, 'A long text');
    const left = await goThereAndBack(page, page.getByRole('link', { name: 'The loom' }), 'Weaving', 'A long text');
    assert.ok(left > 1_000);
    await page.getByRole('link', { name: 'the end' }).evaluate((link: HTMLElement) => link.click());
    await page.waitForURL('**#h-part-39');
    await page.goBack();
    assert.equal(await loads(), 1);
    await until('the place before the jump', top, (y) => y === 1_234);
  });

  await t.test('a modified click, another wiki and a form are left to the browser', async () => {
    const [other] = await Promise.all([
      context.waitForEvent('page'),
      page
        .getByRole('link', { name: 'Weaving' })
        .first()
        .click({ modifiers: ['Control'] }),
    ]);
    await other.close();
    assert.ok(page.url().includes('long-text'));
    await page.evaluate('scrollTo(0, 987)');
    await page.getByRole('link', { name: 'Edit', exact: true }).evaluate((link: HTMLElement) => link.click());
    await page.waitForURL('**/-/edit/long-text');
    assert.equal(await loads(), undefined);
    await page.goBack();
    // The position is also restored if the page has been loaded again since.
    await page.waitForFunction('scrollY === 987');
  });

  await t.test('pages that were shown are released from memory', async () => {
    await page.goto(`${root}/long-text`);
    const round = async () => {
      await page
        .getByRole('link', { name: 'Weaving' })
        .last()
        .evaluate((link: HTMLElement) => link.click());
      await heading(page, 'Weaving');
      await page
        .locator('.prose')
        .getByRole('link', { name: 'back' })
        .evaluate((link: HTMLElement) => link.click());
      await heading(page, 'A long text');
    };
    await round();
    const before = await held(page);
    for (let i = 0; i < 5; i += 1) await round();
    const after = await held(page);
    assert.ok(after.JSEventListeners <= before.JSEventListeners + 5, JSON.stringify([before, after]));
    assert.ok(after.Nodes < before.Nodes + 500, JSON.stringify([before, after]));
  });

  assert.deepEqual(complaints, []);

  await t.test('after the sign-out in another tab a link leads to the sign-in, and Back shows nothing', async () => {
    const other = await context.newPage();
    await other.goto(root);
    await other.locator('.top .menu > summary').click();
    await other.getByRole('button', { name: 'Sign out' }).click();
    await other.waitForURL('**/sign-in*');
    await other.goBack();
    await other.waitForURL('**/sign-in*');
    await page.getByRole('link', { name: 'Weaving' }).first().click();
    await page.waitForURL('**/sign-in?next=*weaving');
    assert.ok(!page.url().includes('fragment'));
  });
});

longTest(
  'without scripts the results are counted and filtered, and the search syntax is explained',
  { skip },
  async () => {
    const context = await openBrowserFor(world, owner.user_id);
    const page = await context.newPage();
    await page.goto(`${root}/-/search?query=pasteboard`);
    await page.getByText('3 pages', { exact: true }).waitFor();
    await page.goto(`${root}/-/search?query=pasteboard&in=weaving&sort=title`);
    await page.getByText('Save this search').click();
    await page.getByRole('textbox', { name: 'Name' }).fill('Looms');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('link', { name: 'Looms' }).click();
    await page.getByText('1 page', { exact: true }).waitFor();
    assert.equal(new URL(page.url()).search, '?query=pasteboard+in%3A%22weaving%22&sort=title');
    await openPalette(page);
    await page.keyboard.press('Control+a');
    await page.keyboard.press('Delete');
    const searched = page.getByRole('group', { name: 'Recent searches' }).locator('.title');
    await page
      .getByRole('group', { name: 'Saved searches' })
      .getByRole('option', { name: /^Looms/ })
      .waitFor();
    assert.deepEqual(await searched.allTextContents(), ['pasteboard in:"weaving"', 'pasteboard']);
    await page.goto(`${root}/-/search`);
    await page.getByRole('button', { name: 'Delete Looms' }).click();
    await page.locator('.results').getByText('Search syntax').waitFor();
    assert.equal(await page.getByRole('link', { name: 'Looms' }).count(), 0);
    await page.goto(`${root}/-/search?query=pasteboard`);
    await page.getByRole('combobox', { name: 'Within' }).selectOption('weaving');
    await page.getByRole('combobox', { name: 'Changed' }).selectOption('Past week');
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.waitForURL('**/-/search?*in=weaving*');
    await page.getByText('1 page', { exact: true }).waitFor();
    assert.equal(await page.locator('.hit').count(), 1);
    await page.setViewportSize({ width: 1_440, height: 900 });
    const box = await page.locator('.search-filters').boundingBox();
    assert.ok(box && box.height < 60, `the filters are one row, not ${box?.height} px`);
    await page.getByRole('link', { name: 'Remove the filter Changed: Past week' }).click();
    await page.waitForURL((url) => url.searchParams.get('in') === 'weaving' && !url.searchParams.has('updated'));
    await page.getByLabel('Titles only').check();
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.getByText('No page contains these words').waitFor();
    await page.setViewportSize({ width: 390, height: 844 });
    assert.equal(await page.getByRole('combobox', { name: 'Within' }).count(), 0, 'they are behind a button');
    await page.getByText('Filters (2)').click();
    await page.getByRole('combobox', { name: 'Within' }).waitFor();
    await assertAccessible(page, 'the filters in a sheet');
    await page.setViewportSize({ width: 390, height: 844 });
    await page.getByText('Filters (2)').click();
    await page.getByRole('list', { name: 'Active filters' }).getByText('Titles only').click();
    await page.getByText('1 page', { exact: true }).waitFor();
    await page.setViewportSize({ width: 1_440, height: 900 });
    await page.locator('.find-help > summary').click();
    await page.locator('.find-help').getByText('title:engine').waitFor();
  },
);
