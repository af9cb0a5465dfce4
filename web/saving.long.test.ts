import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { assertAccessible, collectComplaints, openWatched } from '../test/assert-page.ts';
import { skip } from '../test/browser.ts';
import { openBrowserFor } from '../test/browser-visitor.ts';
import { signedInClient } from '../test/signed-in.ts';
import { Typist } from '../test/typist.ts';
import { until } from '../test/until.ts';
import { flash, keepBoth, PIXEL, renameInTree, row, text } from '../test/web-steps.ts';
import { openWorld } from '../test/world.ts';

const world = await openWorld();
const textOf = (page: Page) =>
  page.locator('ibid-editor').evaluate((editor: HTMLElement & { text: string }) => editor.text);
const stored = (page: Page) => page.getByText('Stored in this browser').waitFor();

async function type(page: Page, words: string): Promise<void> {
  await text(page).click();
  await page.keyboard.press('Control+End');
  await page.keyboard.type(words);
}

test('typed text is never lost and never written twice', { skip }, async (t) => {
  const owner = await world.owner();
  const { body } = await owner.get('/v1/overview');
  const api = `/v1/wikis/${owner.wiki_id}`;
  const root = `${world.address}/${body.session.organizations[0].slug}/${body.wikis[0].slug}`;
  const { page_id } = (await owner.post(`${api}/pages`, { title: 'Guide', markdown: 'Here.\n' })).body;
  const pageNow = async () => (await owner.get(`${api}/pages/${page_id}`)).body;
  const context = await openBrowserFor(world, owner.user_id);
  const { page, complaints } = await openWatched(context);
  const other = await context.newPage();
  collectComplaints(other, complaints);

  await t.test('each new page has its own unsaved text, which another visit is offered', async () => {
    await page.goto(`${root}/-/new`);
    await page.getByLabel('Title').fill('First');
    await type(page, 'One half of the first.');
    await stored(page);
    await other.goto(`${root}/-/new?title=Second`);
    await other.getByText('An unsaved new page “First”').waitFor();
    assert.equal(await other.getByLabel('Title').inputValue(), 'Second');
    assert.equal(await textOf(other), '');
    await type(other, 'All of the second.');
    await stored(other);
    await page.reload();
    await page.getByText('Your unsaved changes were restored').waitFor();
    assert.equal(await textOf(page), 'One half of the first.');
    // A separate visit of the address, where a reload would continue the same page.
    await page.goto('about:blank');
    await page.goto(`${root}/-/new`);
    const offer = page.getByRole('status').filter({ hasText: 'An unsaved new page “First”' });
    await assertAccessible(page, 'unsaved new pages');
    await offer.getByRole('button', { name: 'Continue here' }).click();
    await text(page).getByText('One half of the first.').waitFor();
    assert.equal(await page.getByLabel('Title').inputValue(), 'First');
    await page.getByRole('link', { name: 'Done' }).click();
    await page.waitForURL(`${root}/first`);
    await other.getByRole('link', { name: 'Done' }).click();
    await other.waitForURL(`${root}/second`);
  });

  await t.test('two tabs on one page each keep their text', async () => {
    for (const [tab, words] of [
      [page, 'Of the first tab.'],
      [other, 'Of the other tab.'],
    ] as const) {
      await tab.goto(`${root}/-/edit/guide`);
      await type(tab, words);
      await stored(tab);
    }
    for (const [tab, words] of [
      [page, 'Here.\n\nOf the first tab.'],
      [other, 'Here.\n\nOf the other tab.'],
    ] as const) {
      await tab.reload();
      await tab.getByText('Your unsaved changes were restored').waitFor();
      await tab.getByText('from another open tab').waitFor();
      assert.equal(await textOf(tab), words);
    }
    await other.getByRole('button', { name: 'Discard changes' }).click();
    assert.equal(await textOf(other), 'Here.\n');
    await other.goto('about:blank');
  });

  await t.test('another device continues or discards an unsaved text', async (t) => {
    const { body: kept } = await until(
      'the service has the text',
      () => owner.get(`${api}/autosaves?page_id=${page_id}`),
      ({ body }) => body.length === 1,
    );
    assert.equal(
      (await owner.get(`${api}/autosaves/${kept[0].autosave_id}`)).body.markdown,
      'Here.\n\nOf the first tab.',
    );
    const device = await openBrowserFor(world, owner.user_id);
    const { page: far } = await openWatched(device);
    const ids = async () =>
      (await owner.get(`${api}/autosaves?page_id=${page_id}`)).body.map(
        (it: { autosave_id: string }) => it.autosave_id,
      );
    let isCut = true;
    const isTried = far.waitForRequest(
      (request) => request.method() === 'PUT' && request.url().includes('/autosaves/'),
    );
    await far.route(/\/autosaves\/[^/]+$/, (route) =>
      isCut && route.request().method() === 'PUT' ? route.abort() : route.continue(),
    );
    await far.goto(`${root}/-/edit/guide`);
    const restored = far.getByText('Your unsaved changes from another device were restored');
    await restored.waitFor();
    assert.equal(await textOf(far), 'Here.\n\nOf the first tab.');
    await assertAccessible(far, 'unsaved changes of another device');
    await isTried;
    assert.deepEqual(await ids(), [kept[0].autosave_id], 'it is there until the service has the copy of this device');
    isCut = false;
    await type(far, '!');
    await until('the copy of this device alone', ids, (now) => now.length === 1 && now[0] !== kept[0].autosave_id);
    await t.test('the first device continues the newer text, and is offered its own', async () => {
      await page.goto('about:blank');
      await page.goto(`${root}/-/edit/guide`);
      await page.getByText('Your unsaved changes from another device were restored').waitFor();
      assert.equal(await textOf(page), 'Here.\n\nOf the first tab.!');
      await page.getByText('Unsaved changes from a closed tab').waitFor();
      await page.getByRole('button', { name: 'Continue here' }).click();
      assert.equal(await textOf(page), 'Here.\n\nOf the first tab.');
    });
    await far.getByRole('button', { name: 'Discard changes' }).click();
    assert.equal(await textOf(far), 'Here.\n');
    await t.test('an unsaved text of an earlier revision is only offered', async () => {
      const { body: made } = await owner.post(`${api}/pages`, { title: 'Revised', markdown: 'As it was.' });
      const copy = { page_id: made.page_id, base_revision: 1, title: 'Revised', markdown: 'Of the first revision.' };
      const headers = { 'content-type': 'application/json' };
      const sent = { headers, body: JSON.stringify(copy) };
      assert.equal((await owner.send('PUT', `${api}/autosaves/${'a'.repeat(24)}`, sent)).status, 200);
      const edit = { markdown: 'As it is.', base_revision: 1 };
      assert.equal((await owner.patch(`${api}/pages/${made.page_id}`, edit)).status, 200);
      await far.goto(`${root}/-/edit/${made.path}`);
      await far.getByText('Unsaved changes from another device').waitFor();
      assert.equal(await textOf(far), 'As it is.');
      await far.getByRole('button', { name: 'Discard' }).click();
    });
    await t.test('a text set aside for another draft is not resumed at a later visit', async () => {
      const { body: made } = await owner.post(`${api}/pages`, { title: 'Two drafts', markdown: 'Begun.' });
      const address = `${root}/-/edit/${made.path}`;
      await far.goto(address);
      await type(far, ' Here.');
      await stored(far);
      await far.goto('about:blank');
      const copy = { page_id: made.page_id, base_revision: 1, title: 'Two drafts', markdown: 'Begun. Elsewhere.' };
      const elsewhere = 'b'.repeat(24);
      const headers = { 'content-type': 'application/json' };
      const sent = { headers, body: JSON.stringify(copy) };
      assert.equal((await owner.send('PUT', `${api}/autosaves/${elsewhere}`, sent)).status, 200);
      await far.goto(address);
      await far.getByText('Your unsaved changes from another device were restored').waitFor();
      assert.equal(await textOf(far), 'Begun. Elsewhere.');
      const copies = async (): Promise<string[]> =>
        (await owner.get(`${api}/autosaves?page_id=${made.page_id}`)).body.map(
          (it: { autosave_id: string }) => it.autosave_id,
        );
      await until('the service has the copy of this device', copies, (ids) => !ids.includes(elsewhere));
      const before = await copies();
      await far.getByRole('button', { name: 'Continue here' }).click();
      assert.equal(await textOf(far), 'Begun. Here.');
      await until('it has another one of what goes on', copies, (ids) => ids.some((id) => !before.includes(id)));
      await far.keyboard.press('Control+s');
      await far.getByText('Saved at').waitFor();
      await far.goto('about:blank');
      await far.goto(address);
      await far.getByText('Unsaved changes from a closed tab').waitFor();
      assert.equal(await textOf(far), 'Begun. Here.');
      await far.getByRole('button', { name: 'Discard' }).click();
    });
    await t.test('a new page is continued from the home of its wiki, and keeps its place', async () => {
      await far.goto(`${root}/-/new?parent=${page_id}`);
      await far.getByLabel('Title').fill('Begun far away');
      await type(far, 'Half a sent');
      await until(
        'the service has the new page',
        () => owner.get(`${api}/autosaves?page_id=`),
        ({ body }) => body.some(({ title }: { title: string }) => title === 'Begun far away'),
      );
      await other.goto(`${root}/-/overview`);
      await other.getByRole('link', { name: 'Begun far away' }).click();
      await text(other).getByText('Half a sent').waitFor();
      await type(other, 'ence.');
      await other.getByRole('link', { name: 'Done' }).click();
      await other.waitForURL(`${root}/guide/begun-far-away`);
    });
    await device.close();
  });

  await t.test('saving stays in the editor and shows that the page is saved', async () => {
    await page.keyboard.press('Control+s');
    await page.getByText('Saved at').waitFor();
    assert.equal((await pageNow()).markdown, 'Here.\n\nOf the first tab.');
  });

  await t.test('the tree stays next to the editor, and leaving by it keeps the text and says so', async () => {
    await other.goto(`${root}/-/edit/first`);
    await row(other, 'First').and(other.locator('[aria-current="page"]')).waitFor();
    await type(other, ' Unsaved.');
    await stored(other);
    const written = await textOf(other);
    await renameInTree(other, 'Second', 'Renamed');
    await row(other, 'Renamed').waitFor();
    assert.equal(await textOf(other), written, 'what changes the tree leaves the text alone');
    await row(other, 'Guide').click();
    await flash(other, 'Your changes to “First” are not saved yet.').waitFor();
    assert.equal(new URL(other.url()).pathname, new URL(`${root}/guide`).pathname);
    await other.getByRole('link', { name: 'Continue editing' }).click();
    await text(other).getByText('Unsaved.').waitFor();
    await other.getByRole('button', { name: 'Discard changes' }).click();
    // New pages share one address; the link leads to the page that was left last.
    for (const title of ['Left before', 'Left last']) {
      await other.goto(`${root}/-/new`);
      await other.getByLabel('Title').fill(title);
      await type(other, `Text of ${title}.`);
      await stored(other);
      await row(other, 'Guide').click();
      await flash(other, 'Your new page is not saved yet.').waitFor();
    }
    await other.getByRole('link', { name: 'Continue editing' }).click();
    await text(other).getByText('Text of Left last.').waitFor();
    await other.getByText('An unsaved new page “Left before”').waitFor();
    await other.getByRole('button', { name: 'Discard', exact: true }).click();
    await other.getByRole('button', { name: 'Discard changes' }).click();
    await row(other, 'Guide').click();
    await other.waitForURL(`${root}/guide`);
    await other.locator('html.scripted').waitFor();
    assert.equal(await flash(other, 'not saved yet').count(), 0);
  });

  await t.test('without a connection saving waits, and then includes the text typed since', async () => {
    await context.setOffline(true);
    await type(page, ' Offline.');
    await page.keyboard.press('Control+s');
    await page.getByText('Your text will be saved as soon as it is back').waitFor();
    await type(page, ' Later.');
    await context.setOffline(false);
    await page.getByText('Saved at').waitFor();
    assert.equal((await pageNow()).markdown, 'Here.\n\nOf the first tab. Offline. Later.');
  });

  await t.test('a save whose answer is lost is not repeated, even after a crash of the tab', async () => {
    const { revision } = await pageNow();
    await page.route(/\/v1\/wikis\/[^/]+\/pages\/[^/]+$/, async (route) => {
      if (route.request().method() === 'PATCH') await route.fetch();
      return route.abort();
    });
    await type(page, ' Once.');
    await page.keyboard.press('Control+s');
    await page.getByText('Your text will be saved as soon as it is back').waitFor();
    await type(page, ' And more.');
    await page.waitForFunction(() => Object.values(localStorage).some((draft) => draft.includes('And more')));
    await page.unrouteAll();
    await page.goto('about:blank');
    await page.goto(`${root}/-/edit/guide`);
    await text(page).getByText('And more.').waitFor();
    await page.keyboard.press('Control+s');
    await page.getByText('Saved at').waitFor();
    const now = await pageNow();
    assert.match(now.markdown, / Once\. And more\.$/);
    assert.equal(now.revision, revision + 2);
  });

  await t.test(
    "conflicting places are chosen one by one by keyboard, and saved on the other user's revision",
    async () => {
      const now = await pageNow();
      const theirs = { markdown: now.markdown.replace('Here.', 'Here and there.'), base_revision: now.revision };
      assert.equal((await owner.patch(`${api}/pages/${page_id}`, theirs)).status, 200);
      await text(page).click();
      await page.keyboard.press('Control+Home');
      await page.keyboard.type('Right ');
      await page.keyboard.press('Control+s');
      await keepBoth(page, async (dialog) => {
        assert.match((await dialog.locator('mark').allTextContents()).join('|'), /Right.*there/);
        await assertAccessible(page, 'choosing versions');
      });
      await until(
        'both are saved',
        async () => (await pageNow()).markdown as string,
        (markdown) => markdown.startsWith('Right Here.\nHere and there.\n'),
      );
    },
  );

  await t.test('the writer chooses between conflicting edits of a place, even after the tab was closed', async () => {
    const colleague = await world.member(owner.workspace_id, 'member');
    const theirs = await openBrowserFor(world, colleague.user_id);
    const { page: far } = await openWatched(theirs);
    const dialog = page.getByRole('dialog', { name: 'You and another user changed the same text' });
    for (const tab of [far, page]) await tab.goto(`${root}/-/edit/second`);
    for (const [tab, words] of [
      [far, ' Of the colleague.'],
      [page, ' Of the owner.'],
    ] as const) {
      await type(tab, words);
      await tab.keyboard.press('Control+s');
    }
    await dialog.waitFor();
    await dialog.getByRole('radio', { name: 'Edit' }).check();
    await page.keyboard.press('Control+End');
    await page.keyboard.type(' Of both.');
    await page.goto('about:blank');
    await page.goto(`${root}/-/edit/second`);
    await text(page).getByText('Of the owner.').waitFor();
    await text(page).click();
    await page.keyboard.press('Control+s');
    await dialog.waitFor();
    assert.match(await dialog.getByRole('textbox').inputValue(), /Of the owner\.\n.*Of the colleague\. Of both\.$/);
    await page.keyboard.press('Escape');
    const note = page.getByRole('alert').filter({ hasText: 'Not saved yet. Another user saved' });
    await note.waitFor();
    assert.equal(await textOf(page), 'All of the second. Of the owner.', 'there are no marks in the text');
    await note.getByRole('button', { name: 'Resolve conflicts' }).click();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved at').waitFor();
    const { markdown } = (await owner.get(`${api}/pages/path/second`)).body;
    assert.match(markdown, /Of the owner\.\n.*Of the colleague\. Of both\.$/);
    await theirs.close();
    await page.goto(`${root}/-/edit/guide`);
  });

  await t.test('after the session has ended, signing in again continues with the same text', async () => {
    const cookies = await context.cookies();
    await context.clearCookies();
    await type(page, ' Signed out.');
    await page.keyboard.press('Control+s');
    await page.getByRole('alert').getByText('You are signed out').waitFor();
    assert.equal(await page.getByText(/bearer|token/i).count(), 0);
    await assertAccessible(page, 'signed out while writing');
    const opened = context.waitForEvent('page');
    await page.getByRole('button', { name: 'Sign in' }).click();
    const popup = await opened;
    await popup.getByRole('heading', { name: 'Sign in' }).waitFor();
    await context.addCookies(cookies);
    await page.getByText('Saved at').waitFor();
    assert.match((await pageNow()).markdown, / Signed out\.$/);
  });

  await t.test('a picture can be added to a new page without publishing it', async () => {
    await page.goto(`${root}/-/new`);
    const dataTransfer = await page.evaluateHandle((base64) => {
      const data = new DataTransfer();
      const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
      data.items.add(new File([bytes], 'dot.png', { type: 'image/png' }));
      return data;
    }, PIXEL);
    await text(page).dispatchEvent('drop', { dataTransfer });
    await text(page).getByRole('img').waitFor();
    const { body: drafts } = await owner.get(`${api}/pages?status=draft`);
    assert.deepEqual(
      drafts.map(({ title }: { title: string }) => title),
      ['Untitled'],
    );
    for (const slug of ['with-a-picture', 'with-a-picture-2'])
      await owner.post(`${api}/pages`, { title: 'With a picture', slug, markdown: '' });
    await page.getByLabel('Title').fill('With a picture');
    await page.getByRole('link', { name: 'Done' }).click();
    await page.waitForURL(`${root}/with-a-picture-3`);
    await page.locator('.prose img').waitFor();
    assert.equal((await owner.get(`${api}/pages/path/with-a-picture-3`)).body.status, 'published');
  });

  await t.test('a text reported as stored survives a crash of the tab and of the browser', async () => {
    const { body: made } = await owner.post(`${api}/pages`, { title: 'Crashes', markdown: '' });
    const { body: signedIn } = await (await signedInClient(world, owner.user_id)).post('/v1/auth/browser');
    const typist = await Typist.start(`${root}/-/edit/${made.path}`, signedIn.browser_secret);
    const copies = async () => {
      const { body: list } = await owner.get(`${api}/autosaves?page_id=${made.page_id}`);
      const ids: string[] = list.map(({ autosave_id }: { autosave_id: string }) => autosave_id);
      const read = await Promise.all(ids.map((id) => owner.get(`${api}/autosaves/${id}`)));
      return read.map(({ body: { markdown } }) => markdown as string);
    };
    const hasCopy = (what: string) => until(`the service has ${what}`, copies, (texts) => texts.includes(typist.typed));
    try {
      await typist.open();
      for (const kill of ['killTab', 'killBrowser'] as const) {
        await typist.type(200);
        await stored(typist.page);
        await typist[kill]();
        if (kill === 'killBrowser') await typist.openBrowser();
        await typist.open();
        await typist.assertKept(typist.typed, kill);
      }
      // A long text is stored in another way during typing.
      const long = `${'words '.repeat(20)}\n\n`.repeat(1_000);
      typist.typed += long;
      await typist.page.locator('ibid-editor').evaluate((editor: HTMLElement & { text: string }, more) => {
        editor.text += more;
      }, long);
      await typist.type(100);
      await stored(typist.page);
      await hasCopy('a long text, which a worker sends');
      await typist.page.keyboard.press('Control+Home');
      await typist.page.keyboard.type('Before. ');
      typist.typed = `Before. ${typist.typed}`;
      await hasCopy('what was typed far from the end of it');
      await stored(typist.page);
      await typist.killTab();
      await typist.open();
      await typist.assertKept(typist.typed, 'a long text, the tab');
      await typist.context.route('**/draft-worker.js', (route) => route.abort());
      await typist.type(100);
      await typist.page.reload();
      await typist.assertKept(typist.typed, 'a long text, the page left at once');
      await hasCopy('a long text, where the worker cannot be loaded');
    } finally {
      await typist.stop();
    }
  });

  const expected = complaints.filter(
    (line) => !/answered (?:401|409)$|autosaves\/\w+ was answered 404$|Failed to load resource: net::ERR/.test(line),
  );
  assert.deepEqual(expected, []);
});
