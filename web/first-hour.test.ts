import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { assertAccessible, findViolations, openWatched } from '../test/assert-page.ts';
import { skip } from '../test/browser.ts';
import { openBrowserFor } from '../test/browser-visitor.ts';
import { until } from '../test/until.ts';
import { heading, markdown, text } from '../test/web-steps.ts';
import { openWorld } from '../test/world.ts';

const world = await openWorld();

async function openNewcomer() {
  const owner = await world.owner();
  const { body } = await owner.get('/v1/overview');
  const api = `/v1/wikis/${owner.wiki_id}`;
  const root = `${world.address}/${body.session.organizations[0].slug}/${body.wikis[0].slug}`;
  const context = await openBrowserFor(world, owner.user_id);
  const { page, complaints } = await openWatched(context);
  await page.setViewportSize({ width: 1_440, height: 900 });
  return { owner, api, root, context, page, complaints };
}

test('Enter in the title leads into the text and saves nothing', { skip }, async () => {
  const { owner, api, root, page, complaints } = await openNewcomer();
  const writes: string[] = [];
  page.on('request', (request) => {
    if (/\/pages(\/|$)/.test(request.url()) && ['POST', 'PATCH'].includes(request.method())) writes.push(request.url());
  });
  const { page_id } = (await owner.post(`${api}/pages`, { title: 'Guide', markdown: 'Here.\n' })).body;
  await owner.post(`${api}/pages`, { title: 'Second', markdown: 'Here.\n' });
  for (const [address, title, before] of [
    [`${root}/-/new`, 'Third page', ''],
    [`${root}/-/edit/guide`, 'Guide', 'Here.\n'],
  ] as const) {
    for (const isSource of [false, true]) {
      await page.goto('about:blank');
      // Another page, because the words of the first round may be stored as an unsaved text.
      await page.goto(isSource && before !== '' ? `${root}/-/edit/second` : address);
      await text(page).waitFor();
      if (isSource) await page.getByRole('button', { name: 'Markdown source' }).click();
      await page.getByLabel('Title', { exact: true }).fill(title);
      await page.keyboard.press('Enter');
      await page.keyboard.type('Body ');
      await until(
        'the words in the text',
        () => markdown(page),
        (now) => now === `Body ${before}`,
      );
      assert.equal(await page.getByLabel('Title', { exact: true }).inputValue(), title);
    }
  }
  assert.deepEqual(writes, []);
  assert.equal((await owner.get(`${api}/pages/${page_id}`)).body.revision, 1);
  assert.deepEqual(complaints, []);
});

async function addWiki(owner: Awaited<ReturnType<typeof openNewcomer>>['owner'], title: string): Promise<void> {
  const { status } = await owner.post(`/v1/workspaces/${owner.workspace_id}/wikis`, { title });
  assert.equal(status, 201);
}

/**
 * Returns the entries of the open menu that are cut off: neither visible nor inside a box that scrolls and indicates
 * it.
 */
function entriesCutOff(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const box = document.querySelector('details[open] > .menu-box') as HTMLElement;
    const cutOff: string[] = [];
    const { top, bottom } = box.getBoundingClientRect();
    if (top < 0 || bottom > innerHeight) cutOff.push('the menu itself');
    const { overflowY, backgroundImage } = getComputedStyle(box);
    if (box.scrollHeight > box.clientHeight && (overflowY !== 'auto' || !backgroundImage.includes('gradient')))
      cutOff.push('the scrolling of a menu, or its cue');
    for (const inner of box.querySelectorAll('*')) {
      const { overflowY } = getComputedStyle(inner);
      if (overflowY !== 'visible' && inner.scrollHeight > inner.clientHeight + 1 && inner.clientHeight > 0)
        cutOff.push(`a list within the menu: ${inner.textContent?.trim().slice(0, 40)}`);
    }
    for (const entry of box.querySelectorAll<HTMLElement>('a, button')) {
      if (!entry.checkVisibility()) continue;
      entry.scrollIntoView({ block: 'nearest' });
      const { left, top, width, height } = entry.getBoundingClientRect();
      const seen = document.elementFromPoint(left + width / 2, top + height / 2);
      if (!seen || !(entry.contains(seen) || seen.contains(entry))) cutOff.push(entry.textContent?.trim() ?? '');
    }
    return cutOff;
  });
}

test('every menu shows all its entries, or scrolls as one list and indicates it', { skip }, async () => {
  const { owner, api, root, page, complaints } = await openNewcomer();
  for (let wiki = 1; wiki <= 30; wiki++) await addWiki(owner, `Wiki ${wiki}`);
  await owner.post(`${api}/pages`, { title: 'Guide', markdown: 'Here.\n' });
  for (const [width, height] of [
    [1_440, 900],
    [1_024, 600],
  ] as const) {
    await page.setViewportSize({ width, height });
    for (const address of [`${root}/guide`, root, `${root}/-/search?query=here`]) {
      await page.goto(address);
      const menus = page.locator('details:has(> .menu-box) > summary');
      for (let index = 0; index < (await menus.count()); index++) {
        const menu = menus.nth(index);
        if (!(await menu.isVisible())) continue;
        await menu.click();
        const name = (await menu.getAttribute('aria-label')) ?? (await menu.textContent());
        assert.deepEqual(await entriesCutOff(page), [], `${name} at ${address}, ${width}x${height}`);
        await menu.evaluate((summary) => (summary.parentElement as HTMLDetailsElement).removeAttribute('open'));
      }
    }
  }
  assert.deepEqual(complaints, []);
});

test('notes of the editor stay visible above its bar of buttons, wherever the caret is', { skip }, async () => {
  const { owner, api, root, context, page } = await openNewcomer();
  await owner.post(`${api}/pages`, { title: 'Guide', markdown: 'A paragraph.\n\n'.repeat(100) });
  await page.goto(`${root}/-/edit/guide`);
  await text(page).click();
  await page.keyboard.press('Control+End');
  const cookies = await context.cookies();
  await context.clearCookies();
  await page.keyboard.type('The end.');
  await page.keyboard.press('Control+s');
  const note = page.getByRole('alert').filter({ hasText: 'You are signed out' });
  await note.waitFor();
  const inSight = async (windowHeight = 900) => {
    const { y = -1, height = 0 } = (await note.boundingBox()) ?? {};
    return y >= 0 && y + height <= windowHeight;
  };
  assert.ok(await inSight(), 'at the end of the text');
  await page.evaluate('scrollTo(0, 0)');
  assert.ok(await inSight(), 'at its beginning');
  await page.locator('.draft-state').getByText('Not saved').waitFor();
  await assertAccessible(page, 'signed out at the end of a long text');
  await page.setViewportSize({ width: 390, height: 844 });
  await page.evaluate('scrollTo(0, 0)');
  assert.ok(await inSight(844), 'on a phone');
  await page.setViewportSize({ width: 1_440, height: 900 });
  await context.addCookies(cookies);
  await page.getByText('Saved at').waitFor();
  await note.waitFor({ state: 'detached' });
});

test('a task below another is indented by more than its box', { skip }, async () => {
  const { owner, api, root, page } = await openNewcomer();
  await owner.post(`${api}/pages`, {
    title: 'Tasks',
    markdown: '- [ ] one\n  - [ ] two\n    - [ ] three\n- [ ] four\n',
  });
  await page.goto(`${root}/tasks`);
  await heading(page, 'Tasks');
  const [one = 0, two = 0, three = 0, four = 0] = await page
    .locator('.prose input[type=checkbox]')
    .evaluateAll((boxes) => boxes.map((box) => box.getBoundingClientRect().left));
  assert.ok(two - one > 16 && three - two > 16, `${one}, ${two}, ${three}`);
  assert.equal(four, one);
});

test('after the first save of a new page the tree, breadcrumbs, address and tab show it', { skip }, async () => {
  const { owner, api, root, page, complaints } = await openNewcomer();
  const { body } = await owner.post(`${api}/pages`, { title: 'Guide', markdown: 'Here.\n' });
  await page.goto(`${root}/-/new?parent=${body.page_id}`);
  await text(page).waitFor();
  await page.evaluate("window.stays = 'yes'");
  await page.getByLabel('Title', { exact: true }).fill('Third page');
  await page.keyboard.press('Enter');
  await page.keyboard.type('Body');
  await page.keyboard.press('Control+s');
  await page.getByText('Saved at').waitFor();
  await page.getByRole('treeitem', { name: 'Third page' }).waitFor();
  await page.keyboard.type(' of it');
  const seen = () =>
    page.evaluate(() => [
      document.title.split(' · ')[0],
      location.pathname.split('/-/')[1],
      [...document.querySelectorAll('.crumbs li')].map((step) => step.textContent).join('/'),
      document.querySelector('.where-address')?.textContent?.split('/').at(-1),
    ]);
  const [tab, address, way = '', place] = await seen();
  assert.deepEqual([tab, address, place], ['Edit Third page', 'edit/guide/third-page', 'third-page']);
  assert.match(way, /\/Guide\/Third page\/Edit$/);
  await page.getByLabel('Title', { exact: true }).fill('Fourth page');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByRole('treeitem', { name: 'Fourth page' }).waitFor();
  assert.equal((await seen())[0], 'Edit Fourth page');
  assert.equal(await markdown(page), 'Body of it');
  assert.equal(await page.evaluate('window.stays'), 'yes', 'nothing was loaded');
  assert.deepEqual(complaints, []);
});

test('the name of the wiki, breadcrumbs and tables use the available space', { skip }, async () => {
  const { owner, api, root, page } = await openNewcomer();
  await addWiki(owner, 'Another wiki');
  let parent_page_id = '';
  for (const title of ['Administration of servers', 'Networks and their names', 'Certificates and keys', 'Renewal']) {
    const { body } = await owner.post(`${api}/pages`, { title, markdown: '', parent_page_id });
    parent_page_id = body.page_id;
  }
  const columns = Array.from({ length: 9 }, (_, i) => `Column ${i}`);
  const row = (cells: string[]) => `| ${cells.join(' | ')} |`;
  const dates = columns.map(() => '2026-11-20');
  const table = [row(columns), row(columns.map(() => '---')), row(dates), row(dates)].join('\n');
  const arabic = '| السعر | الاسم |\n| --- | --- |\n| عشرة | قلم |\n';
  const { body } = await owner.post(`${api}/pages`, {
    title: 'Wide',
    markdown: `${table}\n\n${arabic}`,
    parent_page_id,
  });
  await page.goto(`${root}/${body.path}`);
  await heading(page, 'Wide');
  const box = async (place: string) => (await page.locator(place).boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
  assert.ok((await box('.crumbs')).height < 32, 'breadcrumbs stay on one line');
  for (const step of await page.locator('.crumbs li').all()) assert.ok(((await step.boundingBox())?.width ?? 0) > 20);
  const [wide, prose] = [await box('.prose table >> nth=0'), await box('.prose')];
  assert.ok(wide.width > prose.width + 50, `${wide.width} of ${prose.width}`);
  assert.ok(wide.x + wide.width <= 1_440);
  assert.ok((await box('td >> nth=0')).height < 45, 'a date is in one line');
  const fromRight = await box('.prose table >> nth=1');
  assert.ok(Math.abs(fromRight.x + fromRight.width - prose.x - prose.width) < 2, 'an Arabic table stands at the right');
  // As when the viewer of a source is open.
  for (const width of [1_440, 1_024]) {
    await page.setViewportSize({ width, height: 900 });
    await page.evaluate("document.documentElement.classList.add('with-viewer')");
    const [mark, name, chevron] = [await box('.brand .logo'), await box('.brand-name'), await box('.switcher summary')];
    assert.ok(mark.x + mark.width <= name.x && name.width > 20, `the name at ${width}`);
    assert.ok(name.x + name.width <= chevron.x + 1, `the menu of wikis at ${width}`);
  }
});

test('a broken picture is replaced, an HTML figure is shown as a picture, and code buttons on touch screens are above the code', {
  skip,
}, async () => {
  const { owner, api, root, page } = await openNewcomer();
  const source =
    '<figure><img src="/icon.png" alt="A gear"><figcaption>The gear</figcaption></figure>\n\nText.\n\n![A lost map](gone.png)\n\n```js\nfirst();\n```\n';
  await owner.post(`${api}/pages`, { title: 'Pictures', markdown: source });
  await page.goto(`${root}/pictures`);
  const lost = page.getByRole('img', { name: 'A lost map' });
  await until(
    'the place of the picture',
    () => lost.evaluate((it) => it.localName),
    (name) => name === 'span',
  );
  assert.ok(((await lost.boundingBox())?.width ?? 0) > 200);
  await page.goto(`${root}/-/edit/pictures`);
  await text(page).locator('.rich-picture', { hasText: 'The gear' }).waitFor();
  assert.equal(await text(page).getByText('figcaption').count(), 0);
  assert.equal(await markdown(page), source);
  await page.locator('.cm-line', { hasText: 'Text.' }).click();
  await page.keyboard.press('Control+Home');
  await text(page).getByText('<figcaption>').waitFor();

  const touch = await openBrowserFor(world, owner.user_id, {
    hasTouch: true,
    isMobile: true,
    viewport: { width: 390, height: 844 },
  });
  const phone = await touch.newPage();
  await phone.goto(`${root}/pictures`);
  const [bar, code] = [phone.locator('.code-bar'), phone.locator('pre code')];
  await bar.waitFor();
  const [above, below] = [await bar.boundingBox(), await code.boundingBox()];
  assert.ok(above && below && above.y + above.height <= below.y + 2, 'the bar stands above the code');
});

test('a writer finds words from a cell, and emoji are sorted by use', { skip }, async () => {
  const { owner, api, root, page } = await openNewcomer();
  await owner.post(`${api}/pages`, { title: 'Table', markdown: '| a | b |\n| --- | --- |\n| one | two |\n' });
  await page.goto(`${root}/-/edit/table`);
  await page.locator('.rich-table td').first().click();
  await page.keyboard.press('Control+f');
  await page.keyboard.type('two');
  await until(
    'the words that are searched',
    () => page.locator('.cm-search [name=search]').inputValue(),
    (words) => words === 'two',
  );
  for (const [typed, emoji] of [
    [':roc', '🚀'],
    [':rock', '🪨'],
  ] as const) {
    await page.goto('about:blank');
    await page.goto(`${root}/-/new`);
    await text(page).click();
    await page.keyboard.type(typed);
    await page.getByRole('option').first().waitFor();
    await page.keyboard.press('Enter');
    await until(
      'the emoji',
      () => markdown(page),
      (now) => now === emoji,
    );
  }
});

test('axe finds no fault in any state of the editor', { skip }, async () => {
  const { owner, api, root, page } = await openNewcomer();
  await owner.post(`${api}/pages`, {
    title: 'Guide',
    markdown: 'Some words.\n\n| a | b |\n| --- | --- |\n| one | two |\n',
  });
  const rules = ['region', 'aria-allowed-role', 'label-content-name-mismatch', 'scrollable-region-focusable'];
  const check = async (state: string) => {
    assert.deepEqual(await findViolations(page, { type: 'rule', values: rules }), [], state);
    assert.deepEqual(await findViolations(page), [], state);
  };
  await page.goto(`${root}/guide`);
  await page.locator('.page-bar[role="toolbar"]').waitFor();
  await check('a page');
  await page.goto(`${root}/-/edit/guide`);
  await text(page).waitFor();
  await check('the editor');
  await page.locator('.rich-table td').first().click();
  await check('a cell');
  await text(page).getByText('Some words.').click();
  await page.keyboard.press('End');
  await page.keyboard.press('Enter');
  await page.keyboard.type('/');
  await page.getByRole('option').first().waitFor();
  await check('a menu of elements');
  await page.keyboard.press('Escape');
  await page.keyboard.press('Backspace');
  await page.keyboard.press('Control+f');
  await page.locator('.cm-search').waitFor();
  await check('the search');
  await page.keyboard.press('Escape');
  for (const name of ['Markdown source', 'Preview', 'Keyboard shortcuts']) {
    await page.getByRole('button', { name }).click();
    await check(name);
  }
});
