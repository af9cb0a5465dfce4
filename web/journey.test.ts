import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { test } from 'node:test';
import { pino } from 'pino';
import { assertAccessible, collectComplaints, openWatched } from '../test/assert-page.ts';
import { launchBrowser, PAGE_TIMEOUT_MS, skip } from '../test/browser.ts';
import { cleanUp } from '../test/clean-up.ts';
import { text as textOf } from '../test/web-steps.ts';
import { openWorld, type World } from '../test/world.ts';

const lines: string[] = [];
const sink = new Writable({
  write(chunk, _encoding, done) {
    lines.push(String(chunk));
    done();
  },
});

/** Opens a new service, and returns the welcome link from its log. */
async function openFresh(): Promise<{ world: World; link: string }> {
  const world = await openWorld({}, { log: pino({ level: 'info' }, sink) });
  const token = /welcome\?token=([\w-]+)/.exec(lines.join(''))?.[1];
  return { world, link: `${world.address}/welcome?token=${token}` };
}

/** Returns the texts of elements that moved since the page was loaded; runs in the browser. */
const LAYOUT_SHIFTS = `new Promise((resolve) => {
  const moved = [];
  new PerformanceObserver((list) => {
    for (const { sources } of list.getEntries())
      moved.push(sources.map(({ node }) => (node?.parentElement?.className ?? '') + ': ' + (node?.textContent ?? '').trim().slice(0, 40)).join('; '));
  }).observe({ type: 'layout-shift', buffered: true });
  requestAnimationFrame(() => setTimeout(() => resolve(moved), 100));
})`;

test('a new user gets from the printed link to a wiki of their own files, and works in it', {
  skip,
}, async (t) => {
  const { world, link } = await openFresh();
  const folder = await mkdtemp(join(tmpdir(), 'ibid-journey-'));
  cleanUp(() => rm(folder, { recursive: true, force: true }));
  await mkdir(join(folder, 'guide'), { recursive: true });
  await writeFile(
    join(folder, 'guide/setup.md'),
    '# Setup\n\nTurn the crank of the analytical engine. See [use](use.md).\n',
  );
  await writeFile(
    join(folder, 'guide/use.md'),
    '# Use\n\n## Cards\n\nPunch them.\n\n## Crank\n\nTurn it, $x^2$ times.\n',
  );

  const browser = await launchBrowser();
  const context = await browser.newContext();
  context.setDefaultTimeout(PAGE_TIMEOUT_MS);
  const { page, complaints } = await openWatched(context);

  await t.test('the welcome page creates a workspace', async () => {
    await page.goto(link);
    await assertAccessible(page, 'welcome');
    await page.getByLabel('Your name').fill('Ada <b>Lovelace</b>');
    await page.getByLabel('Your e-mail').fill('ada@example.com');
    await page.getByLabel('Workspace name').fill('Engine & Co');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/engine-co/main/-/upload?first');
    await assertAccessible(page, 'upload');
  });

  await t.test('a folder becomes pages', async () => {
    const chooser = page.waitForEvent('filechooser');
    await page.getByRole('button', { name: 'Choose a folder' }).press('Enter');
    await (await chooser).setFiles(join(folder, 'guide'));
    await page.getByRole('link', { name: 'Read the wiki' }).click();
    await page.waitForURL('**/engine-co/main');
    await assertAccessible(page, 'home');
  });

  await t.test('the tree opens by keyboard, and pages are read', async () => {
    const tree = page.getByRole('tree', { name: 'Pages' });
    await tree.getByRole('treeitem', { name: 'guide' }).focus();
    await page.keyboard.press('ArrowRight');
    await tree.getByRole('treeitem', { name: 'Use' }).waitFor();
    // The script that hides a tree may run after the tree is already open.
    await page.route('**/tree-waiting.js', async (route) => {
      await page.locator('.tree-roots li.open ul [role="treeitem"]').first().waitFor({ state: 'attached' });
      await route.continue();
    });
    await page.goto(`${world.address}/engine-co/main/-/trash`);
    // The page is not painted before that.
    await page.evaluate('new Promise(requestAnimationFrame)');
    assert.ok(await tree.getByRole('treeitem', { name: 'Use' }).isVisible(), 'the tree is seen at once');
    await page.unroute('**/tree-waiting.js');
    assert.equal(await tree.locator('a[tabindex="0"]').count(), 1, 'the tree is one tab stop');
    await page.getByPlaceholder('Filter pages').fill('setu');
    await page.locator('.tree-found').getByRole('link', { name: 'Setup' }).waitFor();
    await assertAccessible(page, 'filtered tree');
    await page.getByPlaceholder('Filter pages').press('Escape');
    await tree.getByRole('treeitem', { name: 'guide' }).focus();
    await page.keyboard.press('u');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Use' }).waitFor();
    await page.locator('.katex').first().waitFor();
    await assertAccessible(page, 'page');
    assert.deepEqual(await page.locator('.outline a').allTextContents(), ['Cards', 'Crank']);
  });

  await t.test('a link skips to the text, and screen readers read everything in the order of the screen', async () => {
    const said = await page.locator('body').ariaSnapshot();
    const parts = ['"Skip to content"', 'search', 'tree "Pages"', 'heading "Use" [level=1]', 'heading "Cards"'];
    const order = [...parts, 'navigation "On this page"'].map((part) => said.indexOf(part));
    assert.deepEqual(
      order,
      order.toSorted((a, b) => a - b),
      said,
    );
    assert.ok(
      order.every((at) => at >= 0),
      said,
    );
    await page.goto(`${world.address}/engine-co/main/guide/setup`);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    assert.equal(await page.evaluate('document.activeElement.id'), 'main', 'the first stop skips header and tree');
    const stops: string[] = [];
    do {
      await page.keyboard.press('Tab');
      stops.push(String(await page.evaluate('document.activeElement.outerHTML')));
    } while (stops.length < 15 && !(await page.evaluate("document.activeElement.matches('.prose p a')")));
    assert.ok(stops.length < 10, `the first link of the text comes after ${stops.join('\n')}`);
  });

  await t.test('at most ten tab stops lead to the text, and arrow keys move within a group', async () => {
    const stops: string[] = [];
    await page.evaluate('document.activeElement.blur(); getSelection().removeAllRanges()');
    await page.goto(`${world.address}/engine-co/main/guide/setup`);
    await page.locator('.page-bar[role="toolbar"]').waitFor();
    while (stops.length < 30) {
      await page.keyboard.press('Tab');
      if (await page.evaluate("document.activeElement.matches('.prose *')")) break;
      stops.push(String(await page.evaluate('document.activeElement.outerHTML.slice(0, 120)')));
    }
    assert.match(stops.shift() ?? '', /class="skip"/);
    assert.ok(stops.length <= 10, `the text comes after ${stops.length}:\n${stops.join('\n')}`);
    const actions = page.getByRole('toolbar', { name: 'Actions' });
    await actions.getByRole('link', { name: 'Upload' }).focus();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('End');
    await page.keyboard.press('ArrowRight');
    assert.equal(await page.evaluate("document.activeElement.matches('.do > .menu > summary')"), true);
    await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('Tab');
    assert.equal(await page.evaluate("document.activeElement.matches('.do > .menu > summary')"), true, 'it is kept');
    await page.locator('.tree-more').getByRole('link', { name: 'Sources' }).focus();
    await page.keyboard.press('ArrowDown');
    assert.equal(await page.evaluate('document.activeElement.textContent.trim()'), 'Trash');
    await assertAccessible(page, 'page with toolbars');
  });

  await t.test('nothing moves when the scripts load', async () => {
    const wide = page.viewportSize() ?? { width: 1_280, height: 720 };
    for (const width of [1_440, 768, 390]) {
      await page.setViewportSize({ width, height: 900 });
      await page.goto(`${world.address}/engine-co/main/guide/setup`);
      await page.locator('.heading-link').first().waitFor({ state: 'attached' });
      await page.waitForLoadState('networkidle');
      assert.deepEqual(await page.evaluate(LAYOUT_SHIFTS), [], `at ${width} px`);
    }
    const widths = `(() => {
      const heading = document.querySelector('h1:has(.heading-link)');
      heading.style.width = 'min-content';
      const before = heading.offsetWidth;
      heading.querySelector('.heading-link').remove();
      return [before, heading.offsetWidth];
    })()`;
    const [before, after] = (await page.evaluate(widths)) as number[];
    assert.equal(before, after, 'the mark of a heading takes no room');
    await page.setViewportSize(wide);
  });

  await t.test('a search leads to the matching page by keyboard alone', async () => {
    await page.keyboard.press('Control+k');
    await page.keyboard.type('analytical');
    await page.getByRole('option').first().waitFor();
    await assertAccessible(page, 'palette');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Setup' }).waitFor();
    await page.goto(`${world.address}/engine-co/main/-/search?query=crank`);
    assert.ok((await page.locator('.hit mark').count()) > 0);
    await assertAccessible(page, 'search');
  });

  await t.test('the editor shows a preview, keeps an unsaved draft, and saves', async () => {
    await page.goto(`${world.address}/engine-co/main/guide/setup`);
    await page.getByRole('link', { name: 'Edit', exact: true }).press('Enter');
    const text = textOf(page);
    await text.click();
    await page.keyboard.press('Control+End');
    await page.keyboard.type('\nOil it **well**.');
    await page.getByRole('button', { name: 'Preview' }).click();
    await page.locator('.preview strong').getByText('well').waitFor();
    await page.getByText('Stored in this browser').waitFor();
    await page.reload();
    await page.getByText('Your unsaved changes were restored').waitFor();
    await text.getByText('Oil it').waitFor();
    await assertAccessible(page, 'editor');
    // The text begins with the title, so the title has no separate field.
    const title = page.getByLabel('Title');
    assert.ok(await title.isHidden());
    await text.getByText('Setup', { exact: true }).click();
    await page.keyboard.press('End');
    for (const _ of 'Setup') await page.keyboard.press('Backspace');
    await page.keyboard.type('Setting up');
    assert.deepEqual([await title.inputValue(), await title.isHidden()], ['Setting up', true]);
    await page.keyboard.press('Home');
    await page.keyboard.type('#');
    assert.ok(await title.isVisible(), 'the text begins with something else');
    await page.keyboard.press('Backspace');
    await page.getByRole('link', { name: 'Done' }).click();
    await page.waitForURL('**/engine-co/main/guide/setup');
    await page.locator('.prose strong').getByText('well').waitFor();
    await page.getByRole('link', { name: 'Edit', exact: true }).click();
    await text.waitFor();
    assert.equal(await page.getByText('unsaved changes were restored').count(), 0, 'a saved draft is deleted');
  });

  await t.test('concurrent edits in two tabs are merged', async () => {
    const other = await context.newPage();
    collectComplaints(other, complaints);
    const address = `${world.address}/engine-co/main/-/edit/guide/use`;
    for (const tab of [page, other]) {
      await tab.goto(address);
      await textOf(tab).click();
    }
    await page.keyboard.press('Control+End');
    await page.keyboard.type('\nSlowly.');
    await page.getByRole('link', { name: 'Done' }).click();
    await page.waitForURL('**/engine-co/main/guide/use');
    await other.keyboard.press('Control+Home');
    await other.keyboard.type('Carefully.\n\n');
    await other.getByRole('link', { name: 'Done' }).click();
    await other.getByText('Another user saved this page while you were editing').waitFor();
    await assertAccessible(other, 'conflict');
    await other.getByRole('link', { name: 'Done' }).click();
    await other.waitForURL('**/engine-co/main/guide/use');
    for (const word of ['Carefully.', 'Slowly.']) await other.locator('.prose').getByText(word).waitFor();
    await other.close();
  });

  await t.test('the history shows what changed', async () => {
    await page.goto(`${world.address}/engine-co/main/guide/setup`);
    await page.getByLabel('More actions').click();
    await assertAccessible(page, 'menu of a page');
    await page.getByRole('link', { name: 'History' }).click();
    await page.getByText('current', { exact: true }).waitFor();
    await assertAccessible(page, 'history');
    await page.getByRole('button', { name: 'Compare' }).click();
    await page.getByText('The title changed from').waitFor();
    await assertAccessible(page, 'diff');
  });

  await t.test('a missing page says what to do', async () => {
    const answer = await page.goto(`${world.address}/engine-co/main/guide/setap`);
    assert.equal(answer?.status(), 404);
    await assertAccessible(page, 'missing');
  });

  await t.test('the chosen theme is kept', async () => {
    await page.locator('.menu summary').click();
    await page.getByRole('button', { name: 'Dark' }).click();
    assert.equal(await page.locator('html').getAttribute('data-theme'), 'dark');
  });

  await t.test('signing out ends the session', async () => {
    await page.locator('.menu summary').click();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.waitForURL('**/sign-in');
    await assertAccessible(page, 'sign-in');
    await page.goto(`${world.address}/engine-co/main/guide/setup`);
    assert.match(page.url(), /\/sign-in\?next=%2Fengine-co%2Fmain%2Fguide%2Fsetup$/);
  });

  const expected = complaints.filter((line) => !/answered 40[49]$/.test(line));
  assert.deepEqual(expected, [], 'no request of a page may fail or be blocked');
});
