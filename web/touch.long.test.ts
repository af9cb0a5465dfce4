import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { findViolations, openWatched } from '../test/assert-page.ts';
import { skip } from '../test/browser.ts';
import { openBrowserFor } from '../test/browser-visitor.ts';
import { openWorld } from '../test/world.ts';

const markOf = (page: Page) => page.getByRole('button', { name: 'Where does this come from?' });
const boxOf = (page: Page) => page.getByRole('dialog', { name: 'Source of this passage' });
const helpOf = (page: Page) => page.locator('.find-help');

test('everything that a pointer opens can also be opened by a finger and by keys', { skip }, async (t) => {
  const world = await openWorld();
  const owner = await world.owner();
  const { session, wikis } = (await owner.get('/v1/overview')).body;
  const root = `${world.address}/${session.organizations[0].slug}/${wikis[0].slug}`;
  const lines = Array.from({ length: 40 }, (_, i) => `<p>Thread ${i} of the long cloth, from edge to edge.</p>`);
  await world.upload(owner, owner.wiki_id, { 'cloth.html': `<h1>Cloth</h1>\n${lines.join('\n')}` });

  await t.test('a finger opens a passage by its mark, and the source only by the link in it', async () => {
    const phone = await openBrowserFor(world, owner.user_id, {
      viewport: { width: 390, height: 844 },
      hasTouch: true,
      isMobile: true,
    });
    const { page, complaints } = await openWatched(phone);
    await page.goto(`${root}/cloth`);
    await page.locator('html.scripted').waitFor();
    const line = page.locator('.prose').getByText('Thread 7 of');
    await line.tap();
    const [text, mark] = [await line.boundingBox(), await markOf(page).boundingBox()];
    assert.ok(text && mark && Math.abs(text.y - mark.y) < 20, 'the mark comes to the block that was touched');
    assert.equal(await markOf(page).evaluate((it) => getComputedStyle(it).opacity), '1', 'it can be seen');
    await markOf(page).tap();
    await boxOf(page).getByText('cloth.html').waitFor();
    assert.match((await boxOf(page).textContent()) ?? '', /Thread 7 of/);
    assert.equal(await page.locator('.viewer').count(), 0, 'the source is not opened yet');
    await boxOf(page).getByRole('link', { name: 'View in source' }).tap();
    await page.locator('.viewer[data-ready]').waitFor();
    assert.equal(await page.locator('.viewer mark').textContent(), 'Thread 7 of the long cloth, from edge to edge.');
    await page.locator('.viewer').getByRole('button', { name: 'Close' }).tap();
    await page.locator('.viewer').waitFor({ state: 'detached' });
    await helpOf(page).locator('summary').tap();
    await helpOf(page).getByText('title:engine').waitFor();
    assert.deepEqual(complaints, []);
  });

  await t.test('the first touch of a text in the editor puts the caret there', async () => {
    const options = {
      viewport: { width: 390, height: 844 },
      hasTouch: true,
      isMobile: true,
      colorScheme: 'dark',
    } as const;
    const { page, complaints } = await openWatched(await openBrowserFor(world, owner.user_id, options));
    await page.goto(`${root}/-/edit/cloth`);
    const text = page.locator('.text-view');
    const line = text.getByText('Thread 3 of');
    await line.tap({ position: { x: 60, y: 10 } });
    await page.keyboard.type('red ');
    // A finger puts the caret at the edge of a word.
    await text.locator('.cm-line', { hasText: /^(?=.*red ).* 3 of/ }).waitFor();
    await page.keyboard.press('Shift+Home');
    const selected = text.locator('.cm-selectionBackground').first();
    await selected.waitFor();
    const colour = await selected.evaluate((it) => getComputedStyle(it).backgroundColor);
    assert.match(colour, /\/ 0\.28\)$/, 'the ground of the text shows through');
    assert.deepEqual(complaints, []);
  });

  await t.test('the same works by keys', async () => {
    const { page, complaints } = await openWatched(await openBrowserFor(world, owner.user_id));
    await page.goto(`${root}/cloth`);
    await page.locator('html.scripted').waitFor();
    for (let stops = 0; stops < 30 && !(await page.locator('.passage-mark:focus').count()); stops += 1)
      await page.keyboard.press('Tab');
    assert.equal(await page.locator('.passage-mark:focus').count(), 1, 'the mark is a stop');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await boxOf(page).getByText('cloth.html').waitFor();
    assert.equal(await page.locator('.viewer').count(), 0, 'the source is not opened yet');
    await page.keyboard.press('Escape');
    assert.equal(await page.locator('.passage-mark:focus').count(), 1, 'the focus returns to the mark');
    await page.locator('#find').focus();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await helpOf(page).getByText('title:engine').waitFor();
    await page.keyboard.press('Escape');
    await helpOf(page).getByText('title:engine').waitFor({ state: 'hidden' });
    assert.deepEqual(complaints, []);
  });

  await t.test('a page is shared by keys alone: the panel takes the focus and gives it back', async () => {
    const context = await openBrowserFor(world, owner.user_id);
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    const { page, complaints } = await openWatched(context);
    const panel = page.getByRole('dialog', { name: 'Share this page' });
    const focused = () =>
      page.evaluate(() => {
        const at = document.activeElement;
        return at?.getAttribute('aria-label') ?? (at instanceof HTMLInputElement ? at.value : at?.textContent?.trim());
      });
    for (const width of [1_440, 390]) {
      await page.setViewportSize({ width, height: 844 });
      await page.goto(`${root}/cloth`);
      await page.locator('html.scripted').waitFor();
      await page.getByLabel('More actions').focus();
      await page.keyboard.press('Enter');
      await page.getByRole('button', { name: 'Share…' }).focus();
      await page.keyboard.press('Enter');
      await panel.waitFor();
      const link = (await focused()) ?? '';
      assert.equal(new URL(link).pathname, new URL(`${root}/cloth`).pathname, 'the link has the focus');
      const { selected, box, wide } = await panel.evaluate((it) => {
        const { selectionStart, selectionEnd, value } = it.querySelector('input') as HTMLInputElement;
        const { left, right, top, bottom } = it.getBoundingClientRect();
        const isInside = left >= 0 && right <= innerWidth && top >= 0 && bottom <= innerHeight;
        return {
          selected: value.slice(selectionStart ?? 0, selectionEnd ?? 0),
          box: isInside,
          wide: document.documentElement.scrollWidth - innerWidth,
        };
      });
      assert.deepEqual({ selected, box, wide }, { selected: link, box: true, wide: 0 }, `${width} px`);
      await page.keyboard.press('Tab');
      assert.equal(await focused(), 'Copy link');
      await page.keyboard.press('Enter');
      await panel.getByText('Copied').waitFor();
      assert.equal(await page.evaluate(() => navigator.clipboard.readText()), `${root}/cloth`);
      await page.getByRole('status').filter({ hasText: 'Copied' }).waitFor({ state: 'attached' });
      await page.keyboard.press('Tab');
      assert.equal(await focused(), 'Invite people');
      assert.deepEqual(await findViolations(page, undefined, ['#share']), [], `${width} px`);
      await page.keyboard.press('Escape');
      await panel.waitFor({ state: 'hidden' });
      assert.equal(await focused(), 'More actions', 'the focus returns to where the menu was opened');
    }
    assert.deepEqual(complaints, []);
  });

  await t.test('in a right-to-left page the mark is where lines begin', async () => {
    for (const width of [390, 1_440]) {
      const { page } = await openWatched(
        await openBrowserFor(world, owner.user_id, { viewport: { width, height: 844 } }),
      );
      await page.goto(`${root}/cloth`);
      await page.evaluate("document.documentElement.dir = 'rtl'");
      await page.locator('.prose').getByText('Thread 3 of').hover();
      const [text, mark] = [await page.locator('.prose').boundingBox(), await markOf(page).boundingBox()];
      assert.ok(text && mark && mark.x > text.x + text.width / 2, `at ${mark?.x}, ${width} px wide`);
      assert.ok(mark.x < width, 'it is inside of the window');
      await markOf(page).click();
      await boxOf(page).getByText('cloth.html').waitFor();
    }
  });
});
