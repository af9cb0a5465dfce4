import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Locator, Page } from 'playwright-core';
import { PACKAGE } from '../src/platform/core/package/package-files.ts';
import { assertAccessible, openWatched } from '../test/assert-page.ts';
import { skip } from '../test/browser.ts';
import { openBrowserFor } from '../test/browser-visitor.ts';
import { longTest } from '../test/extent.ts';
import { openViews } from '../test/fuzz/editor-views/driver.ts';
import { FOUND } from '../test/fuzz/editor-views/found.ts';
import { sequences } from '../test/fuzz/editor-views/steps.ts';
import { runCases } from '../test/fuzz/run-cases.ts';
import { until } from '../test/until.ts';
import { markdown, PIXEL, save, text } from '../test/web-steps.ts';
import { openWorld } from '../test/world.ts';

const world = await openWorld();
/** Documents as programs copy them, each with the expected Markdown. */
const CLIPBOARDS = fileURLToPath(new URL('test/clipboards/', PACKAGE));

async function openWriter() {
  const owner = await world.owner();
  const { body } = await owner.get('/v1/overview');
  const api = `/v1/wikis/${owner.wiki_id}`;
  const root = `/${body.session.organizations[0].slug}/${body.wikis[0].slug}`;
  for (const [slug, title] of [
    ['guide', 'Guide'],
    ['notes', 'Notes'],
  ])
    await owner.post(`${api}/pages`, { title, slug, markdown: 'Here.\n' });
  const context = await openBrowserFor(world, owner.user_id);
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const { page, complaints } = await openWatched(context);
  return { owner, api, root, page, complaints };
}

const HOSTILE =
  '<h2 onclick="window.ran = 1">Loom</h2><p>It <b onmouseover="window.ran = 2">weaves</b>.' +
  '<img src="nowhere.png" onerror="window.ran = 3"><svg onload="window.ran = 4"></svg>' +
  '<a href="javascript:window.ran = 5">there</a><iframe srcdoc="<script>parent.ran = 6</script>"></iframe></p>' +
  '<script>window.ran = 7</script><p>The end.</p>';

/** Returns which parts of the hostile text ran, and which parts in the page could run. */
function whatCouldRun(page: Page): Promise<{ ran: unknown; held: string[] }> {
  return page.evaluate(() => {
    const held: string[] = [];
    for (const element of document.querySelectorAll('*')) {
      for (const { name, value } of element.attributes) {
        if (/^on|^srcdoc$/i.test(name) || /^javascript:/i.test(value)) held.push(`<${element.localName} ${name}>`);
      }
      if (element.localName === 'script' && /ran/.test(element.textContent ?? '')) held.push('<script>');
    }
    return { ran: (window as { ran?: unknown }).ran, held };
  });
}

/** Returns files dragged over a page, as a DataTransfer. */
function draggedFiles(page: Page, files: { name: string; type: string; base64: string }[]) {
  return page.evaluateHandle((given) => {
    const data = new DataTransfer();
    for (const { name, type, base64 } of given) {
      const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
      data.items.add(new File([bytes], name, { type }));
    }
    return data;
  }, files);
}

longTest('the position of a page is set by hand, and changes only on request', { skip }, async (t) => {
  const { owner, api, root, page, complaints } = await openWriter();

  await t.test('a new page gets the position in its form', async () => {
    await page.goto(`${world.address}${root}/-/new`);
    await text(page).waitFor();
    await page.getByLabel('Title').fill('How it begins');
    const { y = 0 } = (await text(page).boundingBox()) ?? {};
    const place = page.getByText('Location and address');
    assert.ok(((await place.boundingBox())?.y ?? 0) > y, 'the text comes first');
    await place.click();
    await page.getByLabel('Parent page').fill('guide');
    await page.getByLabel('URL slug').fill('start');
    await assertAccessible(page, 'the position of a page');
    await save(page);
    await page.waitForURL(`**${root}/guide/start`);
  });

  await t.test('text typed before the editor has loaded continues in the same field', async () => {
    for (const [label, typed, then] of [
      ['Text, in Markdown', 'One two', 'One two three'],
      ['Title', 'A ti', 'A ti three'],
    ] as const) {
      let arrive = () => {};
      const arrived = new Promise<void>((resolve) => {
        arrive = resolve;
      });
      await page.route('**/editor.js', async (route) => {
        await arrived;
        await route.continue();
      });
      // Not a reload, which would restore the typed text.
      await page.goto('about:blank');
      await page.goto(`${world.address}${root}/-/new`, { waitUntil: 'commit' });
      const field = page.getByLabel(label);
      await field.click();
      await page.keyboard.type(typed);
      arrive();
      await page.locator('.text-view').waitFor();
      await page.keyboard.type(' three');
      if (label === 'Title') assert.equal(await field.inputValue(), then);
      else assert.equal(await markdown(page), then);
      await page.unroute('**/editor.js');
    }
  });

  await t.test('an existing page is moved; a wrong position is refused, and the text is kept', async () => {
    await page.goto(`${world.address}${root}/-/edit/guide/start`);
    await text(page).click();
    await page.keyboard.type('First words.');
    await page.getByText(`${root}/guide/start`).click();
    await page.getByLabel('Parent page').fill('nowhere');
    await save(page);
    await page.getByText('There is no page at “nowhere”').waitFor();
    await page.getByLabel('Parent page').fill('notes');
    await page.getByLabel('URL slug').fill('No Slug');
    await save(page);
    await page.getByRole('alert').getByText('slug').waitFor();
    await page.getByLabel('URL slug').fill('beginning');
    await save(page);
    await page.waitForURL(`**${root}/notes/beginning`);
    await page.locator('.prose').getByText('First words.').waitFor();
  });

  await t.test('saving only the text does not undo a move by another user', async () => {
    await page.goto(`${world.address}${root}/-/edit/notes/beginning`);
    await text(page).click();
    await page.keyboard.press('Control+Home');
    await page.keyboard.type('More. ');
    const { body } = await owner.get(`${api}/pages/path/notes/beginning`);
    assert.equal(
      (await owner.patch(`${api}/pages/${body.page_id}`, { slug: 'moved', parent_page_id: '' })).status,
      200,
    );
    await save(page);
    await page.waitForURL(`**${root}/moved`);
    await page.locator('.prose').getByText('More. First words.').waitFor();
  });

  assert.deepEqual(
    complaints.filter((line) => !/answered 40[04]$/.test(line)),
    [],
  );
});

test('pictures, files and rich text are pasted and dropped into a page', { skip }, async (t) => {
  const { owner, api, root, page, complaints } = await openWriter();
  const { body: guide } = await owner.get(`${api}/pages/path/guide`);
  await page.goto(`${world.address}${root}/-/edit/guide`);
  await text(page).click();
  await page.keyboard.press('Control+End');

  await t.test('a copied picture becomes an attachment', async () => {
    await page.evaluate(async (base64) => {
      const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
      await navigator.clipboard.write([new ClipboardItem({ 'image/png': new Blob([bytes], { type: 'image/png' }) })]);
    }, PIXEL);
    await page.keyboard.press('Control+V');
    await text(page).getByRole('img').waitFor();
    const question = page.getByRole('textbox', { name: 'What does the picture show?' });
    await question.waitFor();
    const place = await question.boundingBox();
    assert.ok(place && place.y > 0 && place.y < 700, `it is in view: ${JSON.stringify(place)}`);
    await assertAccessible(page, 'a picture without a description');
    await page.keyboard.type('A [dot]');
    await page.keyboard.press('Enter');
    await question.waitFor({ state: 'detached' });
    assert.match(await markdown(page), /!\[A \\\[dot\\\]\]\(attachment:/);
    const { body } = await owner.get(`${api}/pages/${guide.page_id}/attachments`);
    assert.deepEqual(
      body.map(({ content_type }: { content_type: string }) => content_type),
      ['image/png'],
    );
  });

  await t.test('files dropped on the text become attachments, not an upload', async () => {
    const dataTransfer = await draggedFiles(page, [
      { name: 'numbers [1].csv', type: 'text/csv', base64: Buffer.from('a,b\n').toString('base64') },
      { name: 'dot.png', type: 'image/png', base64: PIXEL },
    ]);
    await text(page).dispatchEvent('drop', { dataTransfer });
    await until(
      'links to both files',
      () => markdown(page),
      (written) => /^\[numbers {2}1 \.csv\]\(attachment:/m.test(written) && written.includes('![dot.png](attachment:'),
    );
    assert.deepEqual((await owner.get(`${api}/uploads`)).body, []);
    await page.getByRole('button', { name: 'Skip' }).click();
    assert.ok((await markdown(page)).includes('![dot.png]('), 'it keeps the name of its file');
  });

  await t.test('a picture of a camera is made smaller before it is sent, and the writer is told', async () => {
    await text(page).evaluate(async (element) => {
      const canvas = document.createElement('canvas');
      [canvas.width, canvas.height] = [4_000, 400];
      const pen = canvas.getContext('2d') as CanvasRenderingContext2D;
      const noise = pen.createImageData(canvas.width, canvas.height);
      for (let i = 0; i < noise.data.length; i += 1) noise.data[i] = i % 4 === 3 ? 255 : Math.random() * 256;
      pen.putImageData(noise, 0, 0);
      const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, 'image/jpeg', 0.95));
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File([blob as Blob], 'camera.jpg', { type: 'image/jpeg' }));
      element.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true, composed: true }));
    });
    await page.getByText('camera.jpg was scaled down: 4000 × 400 to 2560 pixels').waitFor();
    await page.getByRole('button', { name: 'Skip' }).click();
    const { body } = await owner.get(`${api}/pages/${guide.page_id}/attachments`);
    const sizes = body.map(({ filename, byte_size }: { filename: string; byte_size: number }) => ({
      filename,
      byte_size,
    }));
    assert.ok(
      sizes.some(
        (it: { filename: string; byte_size: number }) => it.filename === 'camera.jpg' && it.byte_size < 1_000_000,
      ),
      JSON.stringify(sizes),
    );
  });

  await t.test('rich text becomes Markdown', async () => {
    await page.keyboard.press('Control+A');
    await page.evaluate(async () => {
      const rich =
        '<h2>Threads</h2><p>Warp <b>and</b> weft, <a href="https://example.com/">there</a>.</p>' +
        '<ul><li>one</li><li>two</li></ul>';
      await navigator.clipboard.write([
        new ClipboardItem({
          'text/html': new Blob([rich], { type: 'text/html' }),
          'text/plain': new Blob(['Threads'], { type: 'text/plain' }),
        }),
      ]);
    });
    await page.keyboard.press('Control+V');
    await text(page).getByText('Threads').waitFor();
    await save(page);
    await page.waitForURL(`**${root}/guide`);
    const { markdown } = (await owner.get(`${api}/pages/path/guide`)).body;
    assert.match(markdown, /^## Threads\n\nWarp \*\*and\*\* weft, \[there\]\(https:\/\/example\.com\/\)\./);
    assert.match(markdown, /- one\n- two/);
  });

  await t.test('the clipboard formats of programs become the Markdown that a reviewer would write', async () => {
    const files = globSync('*.html', { cwd: CLIPBOARDS }).sort();
    assert.ok(files.length >= 60);
    const read = (name: string) => readFileSync(join(CLIPBOARDS, name), 'utf8');
    await page.goto(`${world.address}${root}/-/edit/guide`);
    const editor = await page.locator('script[src$="/editor.js"]').getAttribute('src');
    const written = await page.evaluate(
      async ({ address, copied }) => {
        const { richToMarkdown } = await import(address);
        return copied.map((html) => richToMarkdown(html) as string);
      },
      { address: String(editor).replace('editor.js', 'rich-text.js'), copied: files.map(read) },
    );
    for (const [i, name] of files.entries()) {
      assert.equal(`${written[i]}\n`, read(name.replace(/html$/, 'md')), name);
    }
  });

  assert.deepEqual(complaints, []);
});

longTest('the text is kept byte for byte, and keys and completions write the intended text', { skip }, async (t) => {
  const { owner, api, root, page, complaints } = await openWriter();
  const MIXED =
    '# Mixed\r\n\r\n\tone\u2028line\rof\r\r\ntext \n1.  odd\r\n   list\r\n\r\n[ref]: <a b>  \r\n\n\nThe end word.\r\n';
  const created = await owner.post(`${api}/pages`, { title: 'Mixed', slug: 'mixed', markdown: MIXED });
  const stored = async () => (await owner.get(`${api}/pages/${created.body.page_id}`)).body.markdown as string;
  assert.equal(await stored(), MIXED);

  const { body: made } = await owner.post(`${api}/pages`, {
    title: 'Minutes of {{date}}',
    markdown: '---\ntags: [minutes]\n---\n## {{title}}\n\n[Notes](../notes)\n',
    parent_page_id: (await owner.get(`${api}/pages/path/guide`)).body.page_id,
  });
  assert.equal((await owner.send('PUT', `${api}/templates/${made.page_id}`)).status, 200);

  await t.test('changing one word leaves all other bytes unchanged', async () => {
    await page.goto(`${world.address}${root}/-/edit/mixed`);
    await text(page).click();
    await page.keyboard.press('Control+End');
    for (const key of ['ArrowUp', 'End', 'ArrowLeft']) await page.keyboard.press(key);
    for (let i = 0; i < 4; i += 1) await page.keyboard.press('Backspace');
    await page.keyboard.type('thing');
    await save(page);
    await page.waitForURL(`**${root}/mixed`);
    assert.equal(await stored(), MIXED.replace('end word', 'end thing'));
  });

  await t.test('edits in the rich view and in the source write the same bytes and change no others', async (t) => {
    const { page: tab, check, lookThrough } = await openViews(page.context());
    for (const found of FOUND) await check(found);
    await runCases(t, { cases: 15, arbitrary: sequences, check });
    // Deeper than the stack.
    assert.deepEqual(await lookThrough(`${'>'.repeat(10_000)} deep\n`), { isSame: true, fault: undefined });
    await tab.close();
  });

  await t.test('a new line break has the form of the majority, and undo restores the original ones', async () => {
    await page.goto(`${world.address}${root}/-/edit/mixed`);
    await text(page).click();
    await page.keyboard.press('Control+A');
    await page.keyboard.press('Delete');
    await page.keyboard.press('Control+Z');
    await page.keyboard.press('Control+End');
    await page.keyboard.type('More.\nAnd more.');
    await save(page);
    await page.waitForURL(`**${root}/mixed`);
    assert.equal(await stored(), `${MIXED.replace('end word', 'end thing')}\r\nMore.\r\n\r\nAnd more.`);
  });

  await t.test('without a script, unchanged lines keep their line endings', async () => {
    const before = (await stored()).replaceAll(/[\u2028]|\r(?!\n)/g, ' ');
    const { body } = await owner.get(`${api}/pages/${created.body.page_id}`);
    await owner.patch(`${api}/pages/${body.page_id}`, { markdown: before, base_revision: body.revision });
    const plain = await page
      .context()
      .browser()
      ?.newContext({ javaScriptEnabled: false, storageState: await page.context().storageState() });
    const tab = await plain?.newPage();
    assert.ok(tab);
    await tab.goto(`${world.address}${root}/-/edit/mixed`);
    const area = tab.getByRole('textbox', { name: 'Text, in Markdown' });
    await area.fill((await area.inputValue()).replace('odd', 'even'));
    await tab.getByRole('button', { name: 'Save', exact: true }).click();
    await tab.waitForURL(`**${root}/mixed`);
    await plain?.close();
    assert.equal(await stored(), before.replace('odd', 'even'));
  });

  await t.test('a text opens rendered, and text typed at once goes before its first words', async () => {
    const markdowns = {
      opened: '---\ntags: [a]\n---\n# Head\n\nIt **weaves**.\n',
      embedded: 'https://youtu.be/dQw4w9WgXcQ\n\n![A plan](https://www.figma.com/file/abcdefghij0123/Plan)\n',
    };
    for (const [slug, written] of Object.entries(markdowns))
      await owner.post(`${api}/pages`, { title: slug, slug, markdown: written });
    const head = () => text(page).locator('.rich-h1').textContent();
    await page.goto(`${world.address}${root}/-/edit/opened`);
    await text(page).and(page.locator(':focus')).waitFor();
    assert.equal(await head(), 'Head', 'there is a caret, and no marks');
    await page.keyboard.type('The ');
    assert.equal(await head(), '# The Head');
    await save(page);
    await page.waitForURL(`**${root}/opened`);
    const { body } = await owner.get(`${api}/pages/path/opened`);
    assert.equal(body.markdown, markdowns.opened.replace('# ', '# The '));
    await page.goto(`${world.address}${root}/-/edit/opened`);
    await text(page)
      .locator('.rich-h1')
      .click({ position: { x: 2, y: 30 } });
    await text(page).getByText('# The Head').waitFor();

    await page.goto(`${world.address}${root}/-/edit/embedded`);
    const cards = text(page).locator('.embed');
    await cards.nth(1).waitFor();
    assert.deepEqual(await cards.allTextContents(), [
      'YouTube videoyoutu.be/dQw4w9WgXcQ',
      'A planFigma design · figma.com/file/abcdefghij0123/Plan',
    ]);
    await assertAccessible(page, 'cards in the editor');
    await cards.first().click();
    await text(page).locator('.rich-embed-name').waitFor();
    assert.equal(await cards.count(), 1, 'the address is written where the caret is');
    assert.equal(await markdown(page), markdowns.embedded);
  });

  const edited = async (keys: () => Promise<void>) => {
    await page.evaluate(() => {
      (document.querySelector('ibid-editor') as unknown as { text: string }).text = '';
    });
    await text(page).focus();
    await keys();
    return markdown(page);
  };

  await t.test('keys set marks and remove them again', async () => {
    await page.goto(`${world.address}${root}/-/edit/guide`);
    const word = async () => {
      await page.keyboard.type('one word');
      await page.keyboard.press('Control+b');
    };
    assert.equal(await edited(word), 'one **word**');
    assert.equal(
      await edited(async () => {
        await word();
        await page.keyboard.press('Control+i');
        await page.keyboard.press('Control+b');
      }),
      'one *word*',
    );
    assert.equal(
      await edited(async () => {
        await page.keyboard.press('Control+b');
        await page.keyboard.press('Control+b');
      }),
      '',
    );
  });

  await t.test(
    'Enter begins a paragraph and Shift+Enter a line, and source lines that the page joins are joined',
    async () => {
      const write = async () => {
        await page.keyboard.type('One');
        await page.keyboard.press('Enter');
        await page.keyboard.type('two');
        await page.keyboard.press('Shift+Enter');
        await page.keyboard.type('three');
      };
      assert.equal(await edited(write), 'One\n\ntwo\\\nthree');
      const lines = () =>
        text(page).evaluate((element) =>
          [...element.querySelectorAll('.cm-line')].map(({ textContent }) => textContent),
        );
      const wrapped = 'One **long\nline**\nhere.\n\n- an item\n  of two\n';
      await edited(() => page.keyboard.insertText(wrapped));
      assert.deepEqual(await lines(), ['One long line here.', '', '•an item of two', '']);
      await page.keyboard.press('Control+Home');
      // Marks are shown at the caret.
      for (let i = 0; i < 'One **long '.length; i += 1) await page.keyboard.press('ArrowRight');
      await page.keyboard.type('and wide ');
      assert.match(await markdown(page), /^One \*\*long\nand wide line\*\*\nhere\./);
      // The empty last line of a text.
      await edited(() => page.keyboard.insertText('The end.\n'));
      await page.keyboard.type('No, more.');
      assert.equal(await markdown(page), 'The end.\n\nNo, more.');
    },
  );

  await t.test('a link is completed by titles, with one pair of closing brackets', async () => {
    assert.equal(
      await edited(async () => {
        await page.keyboard.type('See [[not');
        // `[[n` also finds Notes, and Enter waits at most 2 s for the menu of the last letter.
        await page.getByRole('option', { name: 'Create “not”' }).waitFor();
        await page.getByRole('option', { name: 'Notes', selected: true }).waitFor();
        await page.keyboard.press('Enter');
      }),
      'See [[Notes]]',
    );
    assert.equal(
      await edited(async () => {
        await page.keyboard.type('See [[Looms');
        await page.getByRole('option', { name: 'Create “Looms”' }).waitFor();
        await page.keyboard.press('Enter');
        await page.getByText('“Looms” was created').waitFor();
      }),
      'See [[Looms]]',
    );
    const found = await owner.get(`${api}/pages/path/looms`);
    assert.deepEqual([found.body.title, found.body.status], ['Looms', 'draft']);
  });

  await t.test('the editor shows the rendered page, and each edit changes its Markdown', async () => {
    const shown =
      '# Loom\n\nIt **weaves** [[Notes]].\n\n- [ ] a task\n- [x] done\n\n|A|B|\n|-|:-:|\n|1| **2** |\n\n' +
      '```js\nconst x = 1;\n```\n\n> [!TIP]\n> Oil it.\n\n$$\nx^2\n$$\n\nThe end.';
    assert.equal(await edited(() => page.keyboard.insertText(shown)), shown);
    await assertAccessible(page, 'the editor');
    const looked = await text(page).evaluate((element) => {
      const size = (words: string) =>
        [...element.querySelectorAll('.cm-line')]
          .filter((line) => line.textContent === words)
          .map((line) => Number.parseFloat(getComputedStyle(line).fontSize))[0] ?? 0;
      return { isLarger: size('Loom') > 1.5 * size('It weaves Notes.'), text: element.textContent ?? '' };
    });
    assert.ok(looked.isLarger, 'the heading is larger than the text, and both have no marks');
    assert.doesNotMatch(looked.text, /\*\*|\[\[|\[!TIP|```|\$\$/);
    await text(page).locator('.katex').first().waitFor();
    await text(page).locator('.hljs-keyword').first().waitFor();

    let expected = shown.replace('[ ] a task', '[x] a task');
    await page.getByRole('checkbox', { name: 'a task' }).click();
    assert.equal(await markdown(page), expected, 'one character has changed');
    await page.getByRole('cell', { name: '2' }).click();
    await page.keyboard.type('3|4');
    expected = expected.replace('**2**', '**2**3\\|4');
    assert.equal(await markdown(page), expected, 'one cell has changed');
    await page.getByRole('button', { name: 'Add a row below' }).click();
    await page.keyboard.type('new');
    expected = expected.replace('3\\|4 |\n', '3\\|4 |\n|  | new |\n');
    assert.equal(await markdown(page), expected);
    await page.getByRole('button', { name: 'Move the row up' }).click();
    await page.getByRole('button', { name: 'Move the row down' }).click();
    await page.getByRole('button', { name: 'Add a column' }).click();
    await page.getByRole('button', { name: 'Delete the column' }).click();
    assert.equal(await markdown(page), expected, 'what was moved and added is back where it was');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Control+e');
    await text(page).getByText('```js').waitFor();
    await assertAccessible(page, 'the source');
    await page.keyboard.press('Control+e');
    assert.equal(await markdown(page), expected, 'looking at it changes nothing');

    const columns = (cell: string) => `|${cell.repeat(20)}\n`;
    await edited(() =>
      page.keyboard.insertText(`${columns('wide column|')}${columns('-|')}${columns('x|')}\nThe end.`),
    );
    await text(page).getByRole('columnheader').first().waitFor();
    const [width = 0, room = 0] = await text(page).evaluate((element) => [
      element.clientWidth,
      element.parentElement?.clientWidth ?? 0,
    ]);
    assert.ok(width <= room, `lines as wide as a table of ${width} px in ${room} px would be cut off`);
  });

  await t.test('a slash inserts the named element, a pasted address links words, and lines move', async () => {
    assert.equal(
      await edited(async () => {
        await page.keyboard.type('See /callout');
        await page.getByRole('option', { name: 'Callout' }).waitFor();
        await page.keyboard.press('Enter');
        await page.keyboard.type('Mind.');
      }),
      'See \n\n> [!NOTE]\n> Mind.',
    );
    assert.equal(
      await edited(async () => {
        await page.keyboard.type('/table');
        await page.getByRole('option', { name: 'Table' }).waitFor();
        await page.keyboard.press('Enter');
        for (const key of ['A', 'Tab', 'B', 'Tab', 'C', 'ArrowDown', 'D']) await page.keyboard.press(key);
      }),
      '| A | B |\n| --- | --- |\n| C |  |\n\nD',
    );
    assert.equal(
      await edited(async () => {
        await page.keyboard.type('Look /embed');
        await page.getByRole('option', { name: 'Embed' }).waitFor();
        await page.keyboard.press('Enter');
        const address = page.getByLabel('Address to embed');
        await address.fill('https://example.com/film');
        await page.keyboard.press('Enter');
        assert.match(await address.evaluate((it: HTMLInputElement) => it.validationMessage), /cannot be embedded/);
        await address.fill('https://youtu.be/dQw4w9WgXcQ');
        await page.keyboard.press('Enter');
        await page.getByText('YouTube video').waitFor();
        await page.keyboard.type('Good.');
      }),
      'Look \n\nhttps://youtu.be/dQw4w9WgXcQ\n\nGood.',
    );
    assert.equal(
      await edited(async () => {
        await page.keyboard.type('one\ntwo');
        await page.keyboard.press('Alt+ArrowUp');
        await page.evaluate(() => navigator.clipboard.writeText('https://example.com/x'));
        await page.keyboard.press('Home');
        await page.keyboard.press('Shift+End');
        await page.keyboard.press('Control+V');
      }),
      '[two](https://example.com/x)\n\none',
    );
    assert.equal(
      await edited(async () => {
        await page.evaluate((address) => navigator.clipboard.writeText(address), `${world.address}${root}/notes`);
        await page.keyboard.press('Control+V');
        await until(
          'the title',
          () => markdown(page),
          (written) => written !== '',
        );
      }),
      `[Notes](${root}/notes)`,
    );
  });

  await t.test('emoji by name, selection tools, the word count and focus mode work', async () => {
    assert.equal(
      await edited(async () => {
        await page.keyboard.type('At 10:30 we danced :tad');
        await page.getByRole('option', { name: ':tada:' }).waitFor();
        await page.keyboard.press('Enter');
      }),
      'At 10:30 we danced 🎉',
    );
    await page.locator('.word-count').getByText('5 words · 1 min read').waitFor();
    const menu = page.getByRole('toolbar', { name: 'Format the selection' });
    assert.equal(
      await edited(async () => {
        await page.keyboard.type('one two');
        await page.keyboard.press('Control+Shift+ArrowLeft');
        await page.locator('.word-count').getByText('1 word selected').waitFor();
        await page.keyboard.press('Alt+F10');
        await assertAccessible(page, 'the tools beside a selection');
        await page.keyboard.press('ArrowRight');
        await page.keyboard.press('Enter');
        await menu.getByRole('button', { name: 'Bold' }).click();
        assert.equal(await menu.getByRole('button', { name: 'Italic' }).getAttribute('aria-pressed'), 'true');
        await page.keyboard.press('Escape');
        await menu.waitFor({ state: 'detached' });
        await page.keyboard.press('End');
        await page.keyboard.type('!');
      }),
      'one ***two***!',
    );
    const header = page.getByRole('search');
    await page.keyboard.press('Control+Alt+f');
    await header.waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: 'Focus mode' }).click();
    await header.waitFor();
  });

  await t.test(
    'input methods compose in marks, lists and cells, and right-to-left lines read from the right',
    async () => {
      const keyboard = await page.context().newCDPSession(page);
      const compose = async (steps: string[], committed: string) => {
        for (const step of steps) {
          const at = { selectionStart: step.length, selectionEnd: step.length };
          await keyboard.send('Input.imeSetComposition', { text: step, ...at });
        }
        await keyboard.send('Input.insertText', { text: committed });
        await until(
          'the composed text',
          () => markdown(page),
          (written) => written.includes(committed),
        );
      };
      assert.equal(
        await edited(async () => {
          await page.keyboard.type('**');
          await compose(['に', 'にほ', 'にほん'], '日本');
          await page.keyboard.press('End');
          await page.keyboard.type(' ');
          await compose(['ㅎ', '하', '한'], '한');
          await compose(['ㄱ', '그', '글'], '글');
          await page.keyboard.press('Enter');
          await page.keyboard.type('- [ ] ');
          await compose(['ni', 'ni hao'], '你好');
          await page.keyboard.press('Enter');
          await page.keyboard.type('/');
          await compose(['か', 'かな'], '仮名');
        }),
        '**日本 한글\n\n- [ ] 你好\n- [ ] /仮名',
      );
      const table = '| A |\n| --- |\n| x |\n\nThe end.';
      await edited(() => page.keyboard.insertText(table));
      await page.getByRole('cell', { name: 'x' }).click();
      await compose(['に', 'にほん'], '日本');
      assert.equal(await markdown(page), table.replace('x', 'x日本'));
      await page.keyboard.press('Escape');
      await keyboard.detach();
      assert.equal(
        await edited(async () => {
          await page.keyboard.insertText('אבג דה\n\nabc');
          await page.keyboard.press('Control+Home');
          await page.keyboard.press('ArrowLeft');
          await page.keyboard.insertText('ו');
          await page.keyboard.press('ArrowDown');
          await page.keyboard.press('ArrowDown');
          await page.keyboard.press('Home');
          await page.keyboard.press('ArrowRight');
          await page.keyboard.insertText('x');
        }),
        'אובג דה\n\naxbc',
      );
    },
  );

  await t.test('blocks are dragged, and moved by keys', async () => {
    assert.equal(
      await edited(async () => {
        await page.keyboard.insertText('- one\n- two\n- three\n\nThe end.');
        const [first, last] = [text(page).getByText('one'), text(page).getByText('three')];
        await first.hover();
        const [handle, line] = await Promise.all([page.locator('.drag-handle').boundingBox(), last.boundingBox()]);
        assert.ok(handle && line);
        await page.mouse.move(handle.x + 5, handle.y + 10);
        await page.mouse.down();
        await page.mouse.move(handle.x + 30, line.y + line.height, { steps: 3 });
        await page.mouse.up();
        await page.keyboard.press('Control+End');
        await page.keyboard.press('Alt+Shift+ArrowUp');
        await page.keyboard.type('!');
      }),
      'The end.!\n\n- two\n- three\n- one',
    );
  });

  await t.test('a cell keeps the form of its line breaks, and keys for the whole page work in it', async () => {
    const table = '| A |\n| --- |\n| one<br/>two<BR>three |\n\nThe end.';
    await edited(() => page.keyboard.insertText(table));
    const cell = page.getByRole('cell').filter({ hasText: 'one' });
    // In a single task, as on a busy page: the key arrives before the click has been fully handled.
    await cell.evaluate((element) => {
      element.focus();
      element.dispatchEvent(new KeyboardEvent('keydown', { key: '!', bubbles: true }));
      document.execCommand('insertText', false, '!');
    });
    assert.equal(await markdown(page), table.replace('three', 'three!'));
    await cell.focus();
    await page.keyboard.press('Control+e');
    await cell.waitFor({ state: 'detached' });
    await page.keyboard.press('Control+e');
    await cell.waitFor();
    await page.keyboard.press('Escape');
  });

  await t.test('a template begins a page in two clicks, and a slash inserts it', async () => {
    const today = await page.evaluate(() => new Date().toLocaleDateString('sv'));
    assert.equal(
      await edited(async () => {
        await page.keyboard.type('See\n/Min');
        await page.getByRole('option', { name: 'Minutes of' }).waitFor();
        await page.keyboard.press('Enter');
        await until(
          'the text of the template',
          () => markdown(page),
          (written) => written.includes('##'),
        );
      }),
      'See\n\n## Guide\n\n[Notes](notes)',
    );
    await page.goto(`${world.address}${root}`);
    await page.getByRole('link', { name: 'New page' }).click();
    await page.getByRole('link', { name: 'Minutes of' }).click();
    await text(page).getByText('{{title}}').waitFor();
    assert.equal(await page.getByRole('textbox', { name: 'Title', exact: true }).inputValue(), `Minutes of ${today}`);
    await page.getByRole('textbox', { name: 'Title', exact: true }).fill('Monday');
    await save(page);
    await page.waitForURL(`**${root}/monday`);
    const { body } = await owner.get(`${api}/pages/path/monday`);
    assert.equal(body.markdown, '---\ntags: [minutes]\n---\n## Monday\n\n[Notes](notes)\n');
    await page.goto(`${world.address}${root}/-/edit/guide`);
  });

  await t.test('Enter waits for a menu that is loading, and breaks the line if no menu comes', async () => {
    const keys =
      (typed: string, after = '') =>
      async () => {
        for (const key of [...typed, 'Enter', ...after]) await page.keyboard.press(key);
      };
    // The menu's titles come from the service, which is slow here.
    await page.route('**/v1/**', async (route) => {
      await new Promise((resolve) => setTimeout(resolve, 300));
      await route.continue();
    });
    await edited(async () => {
      await page.keyboard.type('See ');
      await keys('[[no')();
    });
    await until(
      'the link',
      () => markdown(page),
      (written) => written === 'See [[Notes]]',
    );
    await page.unrouteAll({ behavior: 'wait' });
    assert.equal(await edited(keys('/tasks', 'x')), '- [ ] x');
    assert.equal(await edited(keys('/usr', 'x')), '/usr\n\nx');
    // A second Enter leaves the block that the first Enter continued.
    const twice = (typed: string) => async () => {
      for (const key of [...typed, 'Enter', 'Enter', 'x']) await page.keyboard.press(key);
    };
    assert.equal(await edited(twice('- a')), '- a\nx');
    assert.equal(await edited(twice('> a')), '> a\n\nx');
    assert.equal(await edited(twice('> > a')), '> > a\n>\n> x');
    assert.equal(await edited(keys('one', 'two')), 'one\n\ntwo');
  });

  await t.test('frequent elements take at most six keys or two clicks', async (t) => {
    const table = '|  |  |\n| --- | --- |\n|  |  |\n|  |  |';
    const tasks: [what: string, does: string[], expected: string][] = [
      ['a table with a row more', ['/', 't', 'a', 'b', 'Enter', 'Control+Enter'], table],
      ['a table with a row more', ['click Table', 'click Add a row below'], table],
      ['a link to a page by its title', ['[', '[', 'n', 'o', 'Enter'], '[[Notes]]'],
      ['a callout', ['/', 'c', 'a', 'Enter'], '> [!NOTE]\n> '],
      ['a callout', ['click Callout'], '> [!NOTE]\n> '],
      ['a list of tasks', ['Control+Shift+9'], '- [ ] '],
      ['code with its language', ['`', '`', '`', 'j', 's', 'Enter'], '```js\n'],
      ['code with its language', ['click Code block', 'j', 's'], '```js\n\n```'],
    ];
    for (const [what, does, expected] of tasks) {
      const clicks = does.filter((step) => step.startsWith('click ')).length;
      const written = await edited(async () => {
        for (const step of does) {
          const [, button] = /^click (.*)$/.exec(step) ?? [];
          if (button) await page.getByRole('button', { name: button, exact: true }).click();
          else await page.keyboard.press(step);
        }
        // Titles come from the service.
        await until(
          what,
          () => markdown(page),
          (written) => written.trimEnd() === expected.trimEnd(),
        );
      });
      assert.equal(written.trimEnd(), expected.trimEnd());
      assert.ok(clicks > 0 ? clicks <= 2 : does.length <= 6, what);
      t.diagnostic(`${what}: ${clicks > 0 ? `${clicks} clicks` : `${does.length} keys`}`);
    }
  });

  await t.test('title and text begin at the same place as in the page', async () => {
    for (const width of [1_440, 768, 390]) {
      await page.setViewportSize({ width, height: 720 });
      await page.goto(`${world.address}${root}/notes`);
      const left = async (place: Locator) => Math.round((await place.boundingBox())?.x ?? Number.NaN);
      const read = await left(page.locator('.prose p'));
      await page.goto(`${world.address}${root}/-/edit/notes`);
      await text(page).getByText('Here.').waitFor();
      const line = await page.locator('.text-view').evaluate((host) => {
        const range = document.createRange();
        range.selectNodeContents(host.shadowRoot?.querySelector('.cm-line') as Element);
        return Math.round(range.getBoundingClientRect().left);
      });
      assert.deepEqual([await left(page.getByLabel('Title')), line], [read, read], `${width} px`);
    }
  });

  await t.test('on a phone the handle of a block is in the window, which is no wider than the screen', async () => {
    await page.setViewportSize({ width: 390, height: 720 });
    await page.goto(`${world.address}${root}/-/edit/notes`);
    for (const dir of ['ltr', 'rtl']) {
      await page.evaluate((to) => (document.documentElement.dir = to), dir);
      await text(page).getByText('Here.').hover();
      const handle = await page.locator('.drag-handle').boundingBox();
      assert.ok(handle && handle.x >= 0 && handle.x + handle.width <= 390, `${dir}: ${JSON.stringify(handle)}`);
      assert.ok(dir === 'ltr' ? handle.x < 195 : handle.x > 195, `${dir}: it is where lines begin`);
      assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 390, dir);
    }
  });

  await t.test('the caret is never under the bar with the buttons', async () => {
    await page.setViewportSize({ width: 1_280, height: 720 });
    await edited(() => page.keyboard.insertText('A line.\n'.repeat(80)));
    await page.keyboard.type('The last one');
    const [caret, bar] = await Promise.all([
      text(page).getByText('The last one').boundingBox(),
      page.locator('.editor-do').boundingBox(),
    ]);
    assert.ok(caret && bar && caret.y + caret.height <= bar.y, JSON.stringify({ caret, bar }));
  });

  await t.test(
    'front matter is shown as rows above the text, and a row changes only the bytes of its value',
    async () => {
      const front =
        '---\r\n# by hand\r\ntitle: "Kept" # so\r\ntags: [loom,  \'warp\']\r\ndate: 2026-03-01\r\ndeep: {a: 1}\r\n---\r\n';
      const { body: page_ } = await owner.post(`${api}/pages`, {
        title: 'Front',
        slug: 'front',
        markdown: `${front}\r\nWords.\r\n`,
      });
      await page.goto(`${world.address}${root}/-/edit/front`);
      const rows = page.getByRole('group', { name: 'Properties' });
      const field = (name: string) => rows.getByRole('textbox', { name, exact: true });
      await rows.waitFor();
      await assertAccessible(page, 'front matter in the editor');
      assert.equal(await markdown(page), `${front}\r\nWords.\r\n`, 'shown, it is as it was');
      assert.doesNotMatch((await text(page).textContent()) ?? '', /---|by hand/);
      await field('title').focus();
      await page.keyboard.press('End');
      await page.keyboard.type(': "new"');
      await page.keyboard.press('ArrowDown');
      await page.keyboard.type('weft,');
      await rows.getByRole('button', { name: 'Remove loom from tags' }).click();
      await rows.getByRole('button', { name: 'Add property' }).click();
      await page.keyboard.type('reviewer');
      await page.keyboard.press('Enter');
      await page.keyboard.type('Grace');
      const written = front
        .replace('"Kept"', '"Kept: \\"new\\""')
        .replace("[loom,  'warp']", "['warp', weft]")
        .replace('{a: 1}\r\n', '{a: 1}\r\nreviewer: Grace\r\n');
      assert.equal(await markdown(page), `${written}\r\nWords.\r\n`);
      for (const key of ['Escape', 'A', 'Backspace', 'Backspace', 'Backspace']) await page.keyboard.press(key);
      assert.equal(
        await markdown(page),
        `${written}Words.\r\n`,
        'Backspace leads into the rows, and joins nothing to them',
      );
      await page.keyboard.press('Control+s');
      await page.getByText('Saved at').waitFor();
      const { body: saved } = await owner.get(`${api}/pages/${page_.page_id}`);
      assert.equal(saved.markdown, `${written}Words.\r\n`);
      await page.getByRole('button', { name: /source/i }).click();
      assert.match((await text(page).textContent()) ?? '', /---# by hand/);
      await text(page).click();
      await page.keyboard.press('Control+Home');
      for (const key of ['ArrowDown', 'ArrowDown', 'End', ...Array<string>(6).fill('Backspace')])
        await page.keyboard.press(key);
      await page.keyboard.press('Control+e');
      await text(page)
        .getByText(/Line \d is not valid YAML/)
        .waitFor();
      assert.equal(await rows.count(), 0);
      await page.keyboard.press('Control+z');
      await rows.waitFor();
      await save(page);
      await page.waitForURL(`**${root}/front`);
    },
  );

  assert.deepEqual(complaints, []);
});

test('pasting rich text removes everything that could run', { skip }, async () => {
  const { root, page, complaints } = await openWriter();
  await page.goto(`${world.address}${root}/-/edit/guide`);
  await page.getByRole('button', { name: 'Preview' }).click();
  await text(page).click();
  await page.keyboard.press('Control+A');
  // Dispatch the HTML unchanged, because browsers sanitize the clipboard, each version differently.
  await text(page).evaluate((element, rich) => {
    const clipboardData = new DataTransfer();
    clipboardData.setData('text/html', rich);
    element.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
  }, HOSTILE);
  await page.locator('.preview').getByRole('heading', { name: 'Loom' }).waitFor();
  await page.locator('.preview').getByText('The end.').waitFor();
  assert.deepEqual(await whatCouldRun(page), { ran: undefined, held: [] });
  await save(page);
  await page.waitForURL(`**${root}/guide`);
  await page.locator('.prose').getByText('The end.').waitFor();
  assert.deepEqual(await whatCouldRun(page), { ran: undefined, held: [] });
  // The policy of the page blocks and reports each handler. The picture's address does not exist.
  assert.deepEqual(
    complaints.filter((line) => !/\/nowhere\.png was answered 404$/.test(line)),
    [],
  );

  await page.evaluate((rich) => {
    document.body.innerHTML = rich;
  }, HOSTILE);
  assert.notDeepEqual((await whatCouldRun(page)).held, [], 'what is in the page is found');
  await until(
    'a complaint of a handler that is in the page',
    () => complaints,
    (lines) => lines.some((line) => !/answered 404$/.test(line)),
  );
});

test('files dropped anywhere on a page are uploaded', { skip }, async () => {
  const { owner, api, root, page, complaints } = await openWriter();
  await page.goto(`${world.address}${root}/guide`);
  await page.locator('html.scripted').waitFor();
  const dataTransfer = await draggedFiles(page, [
    { name: 'dropped.md', type: 'text/markdown', base64: Buffer.from('# Dropped\n\nFrom above.\n').toString('base64') },
  ]);
  const veil = page.getByText('Drop files or folders to upload them');
  await page.locator('main').dispatchEvent('dragenter', { dataTransfer });
  await veil.waitFor();
  await assertAccessible(page, 'files over a page');
  await page.locator('main').dispatchEvent('dragleave', { dataTransfer });
  await veil.waitFor({ state: 'hidden' });
  await page.locator('main').dispatchEvent('dragenter', { dataTransfer });
  await page.locator('main').dispatchEvent('drop', { dataTransfer });
  await page.getByRole('heading', { level: 1, name: 'Done' }).waitFor();
  await page.getByRole('link', { name: 'Page created' }).click();
  await page.locator('.prose').getByText('From above.').waitFor();
  assert.equal((await owner.get(`${api}/uploads`)).body.length, 1);
  assert.deepEqual(complaints, []);
});

test('the newest uploads are listed first', { skip }, async () => {
  const { owner, root, page } = await openWriter();
  const last = await world.upload(owner, owner.wiki_id, { 'a.md': '# A\n' });
  for (let i = 0; i < 100; i += 1) {
    const announced = { files: [{ filename: `${i}.md`, byte_size: 1 }] };
    assert.equal((await owner.post(`/v1/wikis/${owner.wiki_id}/uploads`, announced)).status, 201);
  }
  await page.goto(`${world.address}${root}/-/uploads`);
  assert.equal(await page.locator('.list > li').count(), 100);
  assert.equal(await page.locator('.list .tag', { hasText: 'done' }).count(), 0);
  await page.getByRole('link', { name: 'Older' }).click();
  await page.locator(`.list a[href$="${last.body.upload_id}"]`).waitFor();
  assert.equal(await page.locator('.list > li').count(), 1);
  await assertAccessible(page, 'older uploads');
  await page.getByRole('link', { name: 'Newest' }).click();
  await page.waitForURL(`${world.address}${root}/-/uploads`);
});
