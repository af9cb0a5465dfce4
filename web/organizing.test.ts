import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { assertAccessible, openWatched } from '../test/assert-page.ts';
import { skip } from '../test/browser.ts';
import { openBrowserFor } from '../test/browser-visitor.ts';
import { extent } from '../test/extent.ts';
import { until } from '../test/until.ts';
import { flash as flashOf, moveInDialog, renameInTree, row } from '../test/web-steps.ts';
import { openWorld } from '../test/world.ts';
import { positionsFor, type Sibling } from './elements/organize/positions.ts';

test('a page ends up where it was put, also among siblings that share a position', () => {
  const inOrder = (pages: readonly Sibling[]) =>
    [...pages].sort((a, b) => a.position - b.position || (a.page_id < b.page_id ? -1 : 1));
  for (const positions of [
    [0, 1, 2, 3],
    [5, 5, 5, 5],
    [0, 1, 1, 2],
    [0, 0, 1, 1],
    [3, 4, 4, 4],
    [0, 2, 4, 6],
  ]) {
    for (const from of [-1, 0, 1, 2, 3]) {
      for (let at = 0; at <= (from < 0 ? 4 : 3); at += 1) {
        let pages = inOrder(positions.map((position, i) => ({ page_id: 'abcd'[i] ?? '', position })));
        const moved = pages[from] ?? { page_id: 'm', position: -1 };
        const others = pages.filter((it) => it !== moved);
        const expected = others.map(({ page_id }) => page_id).toSpliced(at, 0, moved.page_id);
        // As in the API: a taken position is made free, and the page's own position changes nothing.
        for (const { page_id, position } of positionsFor(moved, others, at)) {
          const rest = pages.filter((it) => it.page_id !== page_id);
          const isNoChange = pages.some((it) => it.page_id === page_id && it.position === position);
          const isTaken = !isNoChange && rest.some((it) => it.position === position);
          const shifted = rest.map((it) =>
            isTaken && it.position >= position ? { ...it, position: it.position + 1 } : it,
          );
          pages = inOrder([...shifted, { page_id, position }]);
        }
        assert.equal(pages.map(({ page_id }) => page_id).join(), expected.join(), `${positions}: ${from} to ${at}`);
      }
    }
  }
});

/** Returns the touch targets at the edges of a page and in its sheets that are smaller than 44 px. */
function smallTargets(page: Page): Promise<string[]> {
  return page.evaluate(`[...document.querySelectorAll(
    ':is(.top, .phone-bar, .page-do, .row-menu, .sheet-head, .flash) :is(a, button, summary, input), .tree :is(.row, input, .tree-more a)')]
    .filter((it) => it.checkVisibility({ visibilityProperty: true }))
    .map((it) => [it.outerHTML.slice(0, 90), it.getBoundingClientRect()])
    .filter(([, { width, height }]) => width > 0 && (width < 44 || height < 44))
    .map(([html, { width, height }]) => html + ' ' + width + ' x ' + height)`);
}

test('the tree is organized by mouse, by keyboard and by touch', { skip }, async (t) => {
  const world = await openWorld({ ROLE: 'web', STYLEGUIDE: 'on' });
  const owner = await world.owner();
  const { body: overview } = await owner.get('/v1/overview');
  const [wiki] = overview.wikis;
  const api = `/v1/wikis/${wiki.wiki_id}`;
  const slug = `/${overview.session.organizations[0].slug}/${wiki.slug}`;
  const root = `${world.address}${slug}`;
  const ids = new Map<string, string>();
  for (const path of ['Alpha', 'Beta', 'Gamma', 'Beta/One', 'Beta/Two']) {
    const [title = '', below] = path.split('/').reverse();
    const parent_page_id = below ? ids.get(below) : '';
    const made = await owner.post(`${api}/pages`, { title, markdown: `# ${title}\n\nText.`, parent_page_id });
    ids.set(title, made.body.page_id);
  }
  const below = async (parent: string): Promise<string> => {
    const path = parent === '' ? 'branches' : `pages/${ids.get(parent)}/children`;
    const { body } = await owner.get(`${api}/${path}`);
    return body.map(({ title }: { title: string }) => title).join(' ');
  };
  /** Several moves show the same message, so check the order of the pages instead. */
  const isOrder = (parent: string, order: string) =>
    until(
      `the pages below “${parent}” are ${order}`,
      () => below(parent),
      (now) => now === order,
    );
  const context = await openBrowserFor(world, owner.user_id, { viewport: { width: 1_440, height: 900 } });
  const { page, complaints } = await openWatched(context);
  const item = (title: string, at: Page = page) => row(at, title);
  const flash = (text: string, at: Page = page) => flashOf(at, text);

  await t.test('a page is renamed in place by keyboard, and Ctrl Z undoes it', async () => {
    await page.goto(`${root}/alpha`);
    await page.evaluate('window.isSameDocument = true');
    await item('Alpha').focus();
    await page.keyboard.press('F2');
    await page.getByRole('textbox', { name: 'New title for Alpha' }).fill('Alef');
    await page.keyboard.press('Escape');
    await renameInTree(page, 'Alpha', 'Aleph');
    assert.equal((await owner.get(`${api}/pages/${ids.get('Alpha')}`)).body.markdown, '# Aleph\n\nText.');
    await until(
      'the row has the focus again',
      () => item('Aleph').evaluate((row) => row === row.ownerDocument.activeElement),
      (has) => has,
    );
    await page.keyboard.press('Control+z');
    await flash('The change to “Alpha” was undone.').waitFor();
    await page.getByRole('heading', { level: 1, name: 'Alpha' }).waitFor();
  });

  await t.test(
    'a page gets an icon by keyboard, which is part of its title everywhere, and loses it again',
    async () => {
      await item('Gamma').focus();
      await page.keyboard.press('Shift+F10');
      await page.keyboard.type('i');
      await page.keyboard.press('Enter');
      const picker = page.getByRole('dialog', { name: 'Icon for Gamma' });
      await picker.getByRole('button', { name: 'rocket' }).waitFor();
      await assertAccessible(page, 'the choice of an icon');
      await picker.getByRole('searchbox').fill('test tube');
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Enter');
      await flash('The icon of “Gamma” is now 🧪.').waitFor();
      const stored = async () => (await owner.get(`${api}/pages/${ids.get('Gamma')}`)).body;
      assert.deepEqual(
        [(await stored()).title, (await stored()).markdown, (await stored()).path],
        ['🧪 Gamma', '# 🧪 Gamma\n\nText.', 'gamma'],
      );
      await item('Beta').focus();
      await page.keyboard.press('g');
      const has = await item('🧪 Gamma').evaluate((it) => it === document.activeElement);
      assert.equal(has, true, 'a letter finds the name behind the icon');
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { level: 1, name: '🧪 Gamma' }).waitFor();
      await page.getByLabel('More actions').click();
      await page.getByRole('button', { name: 'Icon…' }).click();
      await page.getByRole('button', { name: 'Remove icon' }).click();
      await page.getByRole('heading', { level: 1, name: 'Gamma', exact: true }).waitFor();
      assert.equal((await stored()).title, 'Gamma');
      await item('Alpha').click();
      await page.getByRole('heading', { level: 1, name: 'Alpha' }).waitFor();
    },
  );

  await t.test(
    'the menu opens by a key and offers the actions that the role allows, and arrow keys move a page',
    async () => {
      await item('Gamma').focus();
      await page.keyboard.press('Shift+F10');
      await page.getByRole('menu', { name: 'Gamma' }).waitFor();
      await assertAccessible(page, 'menu of a row');
      await page.keyboard.press('Escape');
      assert.ok(await item('Gamma').evaluate((row) => row === row.ownerDocument.activeElement));
      await page.keyboard.press('Alt+ArrowUp');
      await flash('“Gamma” was moved.').waitFor();
      assert.equal(await below(''), 'Alpha Gamma Beta');
      await page.getByRole('button', { name: 'Undo' }).click();
      await flash('The change to “Gamma” was undone.').waitFor();
      assert.equal(await below(''), 'Alpha Beta Gamma');
    },
  );

  await t.test('a page is moved to a chosen place below a parent found by its title', async () => {
    await moveInDialog(page, 'Gamma', { parent: 'Beta', after: 'One' }, () =>
      assertAccessible(page, 'dialog that moves a page'),
    );
    assert.equal(await below('Beta'), 'One Gamma Two');
  });

  await t.test('a page deleted from the tree is restored by Undo, and a copy is placed after its page', async () => {
    await item('Beta').hover();
    await page.locator('.row-do').getByText('…').click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await flash('“Beta” was moved to the trash.').waitFor();
    assert.equal(await below(''), 'Alpha');
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.waitForURL('**/beta');
    assert.equal(await below('Beta'), 'One Gamma Two');
    await item('Alpha').focus();
    await page.keyboard.press('Shift+F10');
    await page.keyboard.press('d');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/alpha-copy');
    await flash('This is a copy of “Alpha”.').waitFor();
    assert.equal(await below(''), 'Alpha Alpha (copy) Beta');
  });

  await t.test('a row is dragged before, after and into another row, and a refusal is shown', async () => {
    const copy = item('Alpha (copy)');
    const box = await copy.boundingBox();
    const behind = { targetPosition: { x: 40, y: (box?.height ?? 0) - 2 } };
    await item('Alpha').dragTo(copy, behind);
    await flash('“Alpha” was moved.').waitFor();
    await isOrder('', 'Alpha (copy) Alpha Beta');
    const undo = page.getByRole('button', { name: 'Undo' });
    // Count from the write on, because requests caused by the previous change may still be running.
    const offered: number[] = [];
    await page.route('**/v1/**', async (route) => {
      if (route.request().method() !== 'GET' || offered.length > 0) offered.push(await undo.count());
      await route.fallback();
    });
    await item('Alpha').dragTo(item('Beta'));
    await undo.waitFor();
    await page.unroute('**/v1/**');
    assert.ok(offered.length > 0, 'the page is moved by a write');
    assert.deepEqual(offered.filter(Boolean), [], 'while a page is moved no earlier change is taken back');
    await isOrder('Beta', 'One Gamma Two Alpha');
    await undo.click();
    await flash('The change to “Alpha” was undone.').waitFor();
    await isOrder('', 'Alpha (copy) Alpha Beta');
    await item('Alpha').dragTo(copy, { targetPosition: { x: 40, y: 2 } });
    await undo.waitFor();
    await isOrder('', 'Alpha Alpha (copy) Beta');
    await item('Alpha').dragTo(item('Beta'));
    await undo.waitFor();
    await isOrder('Beta', 'One Gamma Two Alpha');
    await page.keyboard.press('Control+z');
    await flash('The change to “Alpha” was undone.').waitFor();
    await isOrder('Beta', 'One Gamma Two');
    assert.equal(await below(''), 'Alpha Alpha (copy) Beta', 'keys, too, take back the last change alone');
    await item('Alpha').dragTo(copy, behind);
    await undo.waitFor();
    await isOrder('', 'Alpha (copy) Alpha Beta');
    await owner.post(`${api}/pages`, {
      title: 'Another',
      slug: 'alpha',
      markdown: '',
      parent_page_id: ids.get('Beta'),
    });
    await item('Alpha').dragTo(item('Beta'));
    await page.getByRole('alert').getByText('slug').waitFor();
    await isOrder('', 'Alpha (copy) Alpha Beta');
    assert.equal(await page.evaluate('window.isSameDocument'), true, 'nothing of this loaded the document again');
  });

  await t.test('the Markdown of a page is downloaded from its menu', async () => {
    await page.getByLabel('More actions').click();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download as Markdown' }).click(),
    ]);
    assert.equal(download.suggestedFilename(), 'alpha-copy.md');
    assert.equal(await readFile(await download.path(), 'utf8'), '# Alpha (copy)\n\nText.');
  });

  await t.test('the tree is made wider by keyboard and by pointer, and keeps its width', async () => {
    const separator = page.getByRole('separator', { name: 'Sidebar width' });
    const width = async () => (await page.locator('nav.tree').boundingBox())?.width;
    assert.equal(await width(), 17 * 16);
    await separator.focus();
    await page.keyboard.press('ArrowRight');
    assert.deepEqual([await width(), await separator.getAttribute('aria-valuenow')], [18 * 16, '18']);
    await page.mouse.move(18 * 16, 500);
    await page.mouse.down();
    await page.mouse.move(22 * 16 + 3, 500);
    await page.mouse.up();
    await page.reload();
    assert.deepEqual([await width(), await separator.getAttribute('aria-valuenow')], [22 * 16, '22']);
    await separator.focus();
    await page.keyboard.press('End');
    await page.keyboard.press('ArrowRight');
    assert.equal(await width(), 28 * 16);
    await page.setViewportSize({ width: 390, height: 844 });
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 390);
    await page.setViewportSize({ width: 1_440, height: 900 });
    await context.addCookies([{ name: 'sidebar', value: '99', url: world.address }]);
    await page.reload();
    assert.equal(await width(), 17 * 16);
  });

  await t.test(
    'on a phone a bar opens the tree and the outline as sheets, with targets large enough for fingers',
    async () => {
      const markdown = `# Long\n\n## First\n\n${'Text.\n\n'.repeat(40)}## Second\n\n${'Text.\n\n'.repeat(40)}`;
      await owner.post(`${api}/pages`, { title: 'Long', markdown });
      const phone = await openBrowserFor(world, owner.user_id, {
        hasTouch: true,
        isMobile: true,
        viewport: { width: 390, height: 844 },
      });
      const { page: small, complaints: said } = await openWatched(phone);
      await small.goto(`${root}/long`);
      const bar = small.getByRole('navigation', { name: 'Shortcuts' });
      await small.locator('html.scripted').waitFor();
      assert.deepEqual(await smallTargets(small), []);
      await small.evaluate('scrollTo(0, document.body.scrollHeight)');
      const [end, top] = [await small.locator('footer.end').boundingBox(), await bar.boundingBox()];
      assert.ok(end && top && end.y + end.height <= top.y + 1, 'the bar covers nothing at the end of a page');

      await bar.getByRole('link', { name: 'On this page' }).tap();
      await small.locator('.outline').getByRole('link', { name: 'Second' }).tap();
      await small.locator('.outline').waitFor({ state: 'hidden' });
      const heading = await small.getByRole('heading', { name: 'Second' }).boundingBox();
      assert.ok(heading && heading.y > 50 && heading.y < 400, `the heading is at ${heading?.y}`);

      await bar.getByRole('link', { name: 'Pages' }).tap();
      await item('Beta', small).waitFor();
      assert.deepEqual(await smallTargets(small), []);
      await assertAccessible(small, 'tree on a phone');
      await small.setViewportSize({ width: 390, height: 844 });
      await bar.getByRole('link', { name: 'Pages' }).tap();
      const row = small.locator('.tree .row', { has: item('Beta', small) });
      const { width = 0, height = 0 } = (await row.boundingBox()) ?? {};
      await row.tap({ position: { x: width - 20, y: height / 2 } });
      await small.getByRole('menu', { name: 'Beta' }).waitFor();
      assert.deepEqual(await smallTargets(small), []);
      const sheet = await small.getByRole('menu', { name: 'Beta' }).boundingBox();
      assert.equal(Math.round((sheet?.y ?? 0) + (sheet?.height ?? 0)), 844, 'the menu is a sheet at the bottom');
      await small.getByRole('menuitem', { name: 'Rename' }).tap();
      await small.getByRole('textbox', { name: 'New title for Beta' }).fill('Beth');
      await small.keyboard.press('Enter');
      await flash('“Beta” is now “Beth”.', small).waitFor();
      await bar.getByRole('link', { name: 'Search' }).tap();
      await small.getByRole('combobox', { name: 'Search this wiki' }).waitFor();
      await small.keyboard.press('Escape');
      await bar.getByRole('link', { name: 'New page' }).tap();
      await small.waitForURL('**/-/new');
      assert.equal(await bar.count(), 0, 'the editor has a bar of its own');
      await phone.close();
      assert.deepEqual(said, []);
    },
  );

  await t.test('every component is accessible in light and dark, at each width, in both directions', async () => {
    await page.goto(`${root}/-/styleguide`);
    await assertAccessible(page, 'styleguide');
    // A variant that only the complete run checks, or else any variant.
    const [where, title] = extent(
      ['@media (width: 768px) and (prefers-color-scheme: dark)', /styleguide, dark, 768 px, ltr.*color-contrast/s],
      ['@media all', /styleguide, .*color-contrast/s],
    );
    await page.evaluate((where) => {
      const faint = new CSSStyleSheet();
      // With some fonts letters are taller than their line, and axe does not judge text that extends beyond its
      // background.
      faint.replaceSync(`${where} { [dir="ltr"] h1, [dir="rtl"] h1 { color: #333; background: #222; padding: 1em } }`);
      document.adoptedStyleSheets.push(faint);
    }, where);
    await assert.rejects(assertAccessible(page, 'styleguide'), title);
    await page.goto(`${root}/-/styleguide?theme=dark&dir=rtl`);
    assert.equal(await page.evaluate('document.documentElement.dataset.theme + document.dir'), 'darkrtl');
  });

  assert.deepEqual(
    complaints.filter((line) => !/answered 409$/.test(line)),
    [],
  );
});
