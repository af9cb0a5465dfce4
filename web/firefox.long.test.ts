import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openWatched } from '../test/assert-page.ts';
import { launchBrowser, launchFirefox, skipFirefox as skip } from '../test/browser.ts';
import { openContext } from '../test/browser-visitor.ts';
import { signInLink } from '../test/signed-in.ts';
import {
  goThereAndBack,
  heading,
  keepBoth,
  markdown,
  moveInDialog,
  openPalette,
  PIXEL,
  renameInTree,
  row,
  save,
  text,
} from '../test/web-steps.ts';
import { openWorld } from '../test/world.ts';

test('a user of Firefox can sign in, read, search, upload, write and organize', { skip }, async (t) => {
  const world = await openWorld();
  const owner = await world.owner();
  const { body } = await owner.get('/v1/overview');
  const api = `/v1/wikis/${owner.wiki_id}`;
  const root = `${world.address}/${body.session.organizations[0].slug}/${body.wikis[0].slug}`;
  const parts = Array.from({ length: 40 }, (_, i) => `## Part ${i}\n\n${'Words. '.repeat(80)}`).join('\n\n');
  for (const [title, written] of [
    ['Weaving', 'A loom takes pasteboard.'],
    ['Knots', 'Words of part 0, part 1 and part 2.'],
    ['Bends', 'They join.'],
    ['Long', `${parts}\n\n[The loom](weaving) takes pasteboard`],
  ])
    assert.equal((await owner.post(`${api}/pages`, { title, markdown: written })).status, 201);
  const browser = await launchBrowser(launchFirefox);
  const context = await openContext(browser, { viewport: { width: 1_440, height: 900 } });
  const { page, complaints } = await openWatched(context);

  await t.test('the link in a mail signs in', async () => {
    await page.goto(`${world.address}/sign-in?token=${await signInLink(world, owner.user_id)}`);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.waitForURL(`${root}*`);
  });

  await t.test('a link is followed in place, and Back restores the scroll position', async () => {
    await page.goto(`${root}/long`);
    await page.evaluate('window.loads = 1');
    const left = await goThereAndBack(page, page.getByRole('link', { name: 'The loom' }), 'Weaving', 'Long');
    assert.ok(left > 1_000);
    assert.equal(await page.evaluate('window.loads'), 1, 'the document was not loaded');
  });

  await t.test('a page is found by a word of its text', async () => {
    await openPalette(page);
    await page.keyboard.type('pasteboard');
    await page.locator('ibid-palette [aria-selected="true"] .title', { hasText: /^Weaving$/ }).waitFor();
    await page.keyboard.press('Enter');
    await heading(page, 'Weaving');
  });

  await t.test('files are uploaded', async () => {
    await page.goto(`${root}/-/upload`);
    await page.locator('html.scripted').waitFor();
    const file = { mimeType: 'text/markdown', buffer: Buffer.from('Text of a file.\n') };
    const files = [
      { name: 'sent.md', ...file },
      { name: 'sent too.md', ...file },
    ];
    await page.locator('input[type=file]:not([webkitdirectory])').setInputFiles(files);
    await heading(page, 'Done');
    await page.getByRole('link', { name: 'Page created' }).first().click();
    await page.locator('.prose').getByText('Text of a file.').waitFor();
    // Firefox ignores a navigation while the previous page is still loading.
    await page.waitForLoadState();
  });

  await t.test(
    'bold words, a table by cells and a picture are written, and conflicting edits of one place are both kept',
    async () => {
      await page.goto(`${root}/-/new`);
      await text(page).waitFor();
      await page.getByLabel('Title').fill('Threads');
      await text(page).click();
      await page.keyboard.type('Warp and weft.');
      await page.keyboard.press('Control+Shift+ArrowLeft');
      await page.keyboard.press('Control+Shift+ArrowLeft');
      await page.keyboard.press('Control+b');
      await page.keyboard.press('Control+End');
      await page.keyboard.type('\n/table');
      await page.getByRole('option', { name: 'Table' }).waitFor();
      await page.keyboard.press('Enter');
      for (const key of ['A', 'Tab', 'B', 'Tab', 'C']) await page.keyboard.press(key);
      await page.getByRole('cell', { name: 'C' }).click();
      await page.getByRole('button', { name: 'Add a row below' }).click();
      await page.keyboard.type('D|E');
      await page.keyboard.press('Escape');
      const chooser = page.waitForEvent('filechooser');
      await page.getByRole('button', { name: 'Picture' }).click();
      await (await chooser).setFiles({ name: 'dot.png', mimeType: 'image/png', buffer: Buffer.from(PIXEL, 'base64') });
      await page.getByRole('textbox', { name: 'What does the picture show?' }).fill('A dot');
      await page.keyboard.press('Enter');
      await text(page).getByRole('img', { name: 'A dot' }).waitFor();
      assert.match(
        await markdown(page),
        /^Warp and \*\*weft\.\*\*\n\n\| A \| B \|\n\| --- \| --- \|\n\| C \| {2}\|\n\| D\\\|E \| {2}\|\n\n!\[A dot\]\(attachment:/,
      );
      await save(page);
      await page.waitForURL(`${root}/threads`);
      await page.getByRole('link', { name: 'Edit', exact: true }).click();
      const { body: now } = await owner.get(`${api}/pages/path/threads`);
      const theirs = { markdown: now.markdown.replace('Warp', 'Warp threads'), base_revision: now.revision };
      assert.equal((await owner.patch(`${api}/pages/${now.page_id}`, theirs)).status, 200);
      await text(page).click();
      await page.keyboard.press('Control+Home');
      await page.keyboard.type('The ');
      await page.keyboard.press('Control+s');
      await keepBoth(page);
      await save(page);
      await page.locator('.prose').getByText('Warp threads and').waitFor();
      await page.locator('.prose').getByRole('img', { name: 'A dot' }).waitFor();
      const { body: kept } = await owner.get(`${api}/pages/path/threads`);
      assert.match(kept.markdown, /^The Warp and \*\*weft\.\*\*\nWarp threads and/);
    },
  );

  await t.test('a page is renamed in the tree and moved by its menu', async () => {
    const { body: parent } = await owner.get(`${api}/pages/path/weaving`);
    for (const title of ['Frames', 'Threads'])
      await owner.post(`${api}/pages`, { title, markdown: '', parent_page_id: parent.page_id });
    await page.reload();
    await renameInTree(page, 'Knots', 'Hitches');
    await moveInDialog(page, 'Hitches', { parent: 'Weaving', after: 'Frames' });
  });

  await t.test('pages are readable in a narrow window', async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    await page.goto(`${root}/long`);
    await page.locator('html.scripted').waitFor();
    const bar = page.getByRole('navigation', { name: 'Shortcuts' });
    await bar.getByRole('link', { name: 'On this page' }).click();
    await page.locator('.outline').getByRole('link', { name: 'Part 30' }).click();
    await page.locator('.outline').waitFor({ state: 'hidden' });
    const part = await page.getByRole('heading', { name: 'Part 30' }).boundingBox();
    assert.ok(part && part.y > 50 && part.y < 400, `the heading is at ${part?.y}`);
    await bar.getByRole('link', { name: 'Pages' }).click();
    await row(page, 'Weaving').click();
    await heading(page, 'Weaving');
    assert.ok(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'));
  });

  assert.deepEqual(
    complaints.filter((line) => !/answered 409$/.test(line)),
    [],
  );
});
