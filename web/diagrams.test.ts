import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import type { Frame, Page } from 'playwright-core';
import { assertAccessible, collectComplaints } from '../test/assert-page.ts';
import { skip } from '../test/browser.ts';
import { openBrowserFor } from '../test/browser-visitor.ts';
import { cleanUp } from '../test/clean-up.ts';
import { longTest } from '../test/extent.ts';
import { until } from '../test/until.ts';
import { text } from '../test/web-steps.ts';
import { openWorld } from '../test/world.ts';

const world = await openWorld();
const FLOW = 'flowchart LR\n  A[Warp] --> B{Weft}\n  B -->|over| C[Cloth]';

/** Another server in the network, which records connections. */
const connections: string[] = [];
const elsewhere = createServer((request, response) => {
  connections.push(String(request.url));
  response.end();
}).listen(0, '127.0.0.1');
elsewhere.on('connection', () => connections.push('a connection'));
await once(elsewhere, 'listening');
cleanUp(() => elsewhere.close());
const EVIL = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}`;

/** Diagrams that try to run scripts, load resources or navigate, by every feature of Mermaid. */
const HOSTILE = [
  `flowchart LR\n  A["<img src=${EVIL}/1 onerror='parent.ran=1;top.ran=1'>"] --> B["<b>bold</b>"]\n  click A "javascript:parent.ran=1"\n  click B call alert(1)`,
  `%%{init: {"securityLevel": "loose", "htmlLabels": true, "flowchart": {"htmlLabels": true}, "themeCSS": "@import url(${EVIL}/2.css); * { background: url(${EVIL}/3.png) !important }"}}%%\nflowchart LR\n  A["<script>parent.ran=1</script><iframe src=${EVIL}/4></iframe><svg onload=parent.ran=1>"] --> B\n  click A href "${EVIL}/5" _blank\n  click B href "${EVIL}/6" _top`,
  `%%{init: {"__proto__": {"ran": 1}, "constructor": {"prototype": {"ran": 1}}, "fontFamily": "x; } * { background: url(${EVIL}/7) } .x {"}}%%\nflowchart LR\n  A --> B\n  style A fill:url(${EVIL}/8),background:url(${EVIL}/9)\n  classDef x fill:red,background-image:url(${EVIL}/10)\n  class B x`,
  `sequenceDiagram\n  participant A as <img src=${EVIL}/11 onerror=parent.ran=1>\n  links A: {"Go": "javascript:parent.ran=1", "Out": "${EVIL}/12"}\n  A->>A: <a href="${EVIL}/13">x</a>`,
  `---\nconfig:\n  securityLevel: loose\n  theme: base\n  themeVariables:\n    primaryColor: "url(${EVIL}/14)"\n---\nclassDiagram\n  class A\n  link A "${EVIL}/15"\n  callback A "alert"`,
];

async function openPage(markdown: string, complaints: string[]) {
  const owner = await world.owner();
  const { body } = await owner.get('/v1/overview');
  const address = `${world.address}/${body.session.organizations[0].slug}/${body.wikis[0].slug}/drawn`;
  const made = await owner.post(`/v1/wikis/${owner.wiki_id}/pages`, { title: 'Drawn', slug: 'drawn', markdown });
  const context = await openBrowserFor(world, owner.user_id);
  const page = await context.newPage();
  collectComplaints(page, complaints);
  return { page, context, address, owner, page_id: made.body.page_id };
}

const blocks = (texts: readonly string[]) =>
  texts.map((text) => `\`\`\`mermaid\n${text}\n\`\`\`\n`).join('\nBetween.\n\n');
const framesOf = (page: Page): Frame[] => page.frames().filter((frame) => frame.url().endsWith('/-/diagram'));

longTest(
  'diagrams are drawn as they come into view, in the colours of the page, and keep their text',
  {
    skip,
  },
  async () => {
    const complaints: string[] = [];
    const far = Array.from({ length: 120 }, (_, i) => `Paragraph ${i}.\n`).join('\n');
    const { page, address } = await openPage(
      `${blocks([FLOW])}\n${far}\n${blocks(['pie\n  "a" : 1', 'no diagram at all'])}`,
      complaints,
    );
    await page.goto(address);
    await page.locator('.diagram.drawn').waitFor();
    assert.equal(await page.locator('.diagram').count(), 1, 'diagrams far below are not drawn yet');
    const drawn = page.frameLocator('.diagram iframe').first();
    await drawn.getByText('Cloth').waitFor();
    const colour = () =>
      drawn
        .locator('.node rect')
        .first()
        .evaluate((node) => getComputedStyle(node).fill);
    await page.emulateMedia({ colorScheme: 'light' });
    await drawn.locator('html[style*=light]').waitFor();
    const [light] = [await colour()];
    await page.emulateMedia({ colorScheme: 'dark' });
    await drawn.locator('html[style*=dark]').waitFor();
    await drawn.getByText('Cloth').waitFor();
    assert.notEqual(await colour(), light);
    assert.equal(await page.locator('.diagram pre.mermaid').first().textContent(), FLOW);
    await page.getByText('Diagram source').first().click();
    await page.locator('.diagram pre.mermaid').first().waitFor();
    await assertAccessible(page, 'a page with diagrams');
    await page.locator('pre.mermaid').last().scrollIntoViewIfNeeded();
    await page.locator('.diagram.drawn').nth(1).waitFor();
    await page.locator('.prose > pre.mermaid[data-problem^="Could not draw this diagram"]').waitFor();
    await assertAccessible(page, 'a diagram that cannot be drawn');
    await page.goto(address.replace('/drawn', '/-/edit/drawn'));
    await text(page).focus();
    // The diagram at the cursor is shown as source.
    await page.keyboard.press('Control+End');
    await page.locator('.text-view .diagram.drawn').first().waitFor();
    assert.deepEqual(complaints, []);
  },
);

test('elements that Mermaid only measures are never shown as a diagram, even if drawing fails late', {
  skip,
}, async () => {
  const { page, context, address } = await openPage(blocks([FLOW]), []);
  await page.addInitScript(() => {
    const top = window as { drawn?: number; mermaid?: { render: () => Promise<never> } };
    top.drawn = 0;
    new MutationObserver(() => {
      top.drawn = Math.max(top.drawn ?? 0, document.querySelectorAll('.diagram.drawn').length);
    }).observe(document, { subtree: true, childList: true, attributeFilter: ['class'] });
    if (location.pathname !== '/-/diagram') return;
    // Mermaid waits for the pictures of labels, for example.
    const render = async () => {
      const measured = document.body.appendChild(document.createElement('p'));
      measured.textContent = 'Measured';
      await new Promise((resolve) => setTimeout(resolve, 300));
      throw new Error('nothing to draw');
    };
    Object.defineProperty(top, 'mermaid', { get: () => ({ initialize: () => {}, render }), set: () => {} });
  });
  await page.goto(address);
  await page.locator('.prose > pre.mermaid[data-problem$="nothing to draw"]').waitFor();
  assert.equal(await page.evaluate('drawn'), 0);
  await context.close();
});

test('a hostile diagram runs no script in the page, sends no request and navigates nowhere', { skip }, async () => {
  const { page, context, address } = await openPage(blocks([FLOW, ...HOSTILE, 'x'.repeat(60_000)]), []);
  const dialogs: string[] = [];
  page.on('dialog', (dialog) => {
    dialogs.push(dialog.message());
    void dialog.dismiss();
  });
  await page.setViewportSize({ width: 1_000, height: 9_000 });
  await page.goto(address);
  // Wait until every diagram is drawn or refused.
  await page
    .locator('.prose > pre.mermaid:not([data-problem]), .diagram:not(.drawn)')
    .first()
    .waitFor({ state: 'detached' });
  // Each frame has its own process, so the browser reports added and removed frames after the page shows them.
  const shown = await page.locator('.diagram.drawn iframe').count();
  assert.ok(shown >= 2, 'some of the hostile diagrams are drawn');
  const known = () => framesOf(page).length;
  await until('the frames of what is drawn, and no others', known, (count) => count === shown);
  for (const frame of framesOf(page)) {
    const reach = await frame.evaluate(async () => {
      const tried = async (reached: () => unknown) => {
        try {
          return String(await reached());
        } catch {
          return 'refused';
        }
      };
      return {
        origin: self.origin,
        cookie: await tried(() => document.cookie),
        storage: await tried(() => localStorage.length),
        page: await tried(() => parent.document.title),
        service: await tried(() => fetch('/v1/overview')),
        links: document.querySelectorAll('[href^="http"], [href^="javascript"], [*|href^="http"]').length,
      };
    });
    const refused = 'refused';
    assert.deepEqual(reach, {
      origin: 'null',
      cookie: refused,
      storage: refused,
      page: refused,
      service: refused,
      links: 0,
    });
    for (const node of await frame.locator('svg .node, svg .actor, svg a').all()) await node.click({ force: true });
  }
  assert.deepEqual(
    await page.evaluate('[window.ran, ({}).ran, location.href, document.querySelectorAll("style").length]'),
    [undefined, undefined, address, 0],
  );
  assert.deepEqual([connections, dialogs, context.pages().length], [[], [], 1]);
  await (await context.newPage()).goto(EVIL);
  assert.notDeepEqual(connections, [], 'the server records connections');
});

test('the frame has an opaque origin even when opened directly, and only our own pages can embed it', async () => {
  const { status, headers } = await world.anonymous.send('GET', '/-/diagram', { headers: { accept: 'text/html' } });
  assert.equal(status, 200);
  assert.equal(
    headers.get('content-security-policy'),
    "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; frame-ancestors 'self'; sandbox allow-scripts",
  );
});

test('a card of another service requests nothing until it is pressed, also on a page that was opened in place', {
  skip,
}, async () => {
  const complaints: string[] = [];
  const video = 'https://www.youtube.com/watch?v=dQw4w9WgXcQ&t=1m5s';
  const markdown = `A film:\n\n${video}\n\n![The plan](https://www.figma.com/file/abcdefghij0123/Plan?node-id=1-2)\n`;
  const { page, context, address } = await openPage(markdown, complaints);
  const requests: [url: string, referer: string][] = [];
  await context.route(/youtube|figma/, (route) => {
    requests.push([route.request().url(), route.request().headers().referer ?? '']);
    const attack =
      "<script>try { top.location = 'about:blank' } catch {} try { parent.document.title = 'ran' } catch {}</script>";
    return route.fulfill({ contentType: 'text/html', body: `<p>A player</p>${attack}` });
  });
  await page.goto(address.replace(/\/drawn$/, ''));
  await page.locator('.tree').getByRole('treeitem', { name: 'Drawn' }).click();
  const play = page.getByRole('button', { name: 'Play YouTube video' });
  await play.waitFor();
  assert.deepEqual(requests, []);
  await assertAccessible(page, 'a page with cards');
  await play.click();
  await page.frameLocator('.embed iframe').getByText('A player').waitFor();
  const frame = 'https://www.youtube-nocookie.com/embed/dQw4w9WgXcQ?autoplay=1&rel=0&start=65';
  assert.deepEqual(requests, [[frame, `${world.address}/`]], 'a player is told the site, not the page');
  await page.getByRole('button', { name: 'Show The plan' }).press('Enter');
  await page.frameLocator('.embed.canvas iframe').getByText('A player').waitFor();
  const design = 'https://embed.figma.com/design/abcdefghij0123?embed-host=ibid&node-id=1-2';
  assert.deepEqual(requests.slice(1), [[design, '']]);
  assert.equal(page.url(), address, 'a frame does not navigate the page');
  assert.match(await page.title(), /^Drawn/);
  await page.getByRole('button', { name: 'Close YouTube video' }).press('Enter');
  assert.equal(await page.locator('.embed.video iframe').count(), 0);
  assert.equal(await play.evaluate((it) => it === document.activeElement), true, 'the focus stays');
  // The browser reports that it kept the frame from navigating the page.
  assert.deepEqual(
    complaints.filter((line) => !/Unsafe attempt to initiate navigation|permissions policy|sandbox/i.test(line)),
    [],
  );
  await context.close();
});

test('a reader with a script copies code and links of headings, sorts tables, and ticks a task by writing one character', {
  skip,
}, async () => {
  const complaints: string[] = [];
  const markdown =
    '# Top\n\nThe turbine turns by steam, and its bearings want oil.\n\n## A part\n\n```js\nconst a = 1;\n```\n\n| n |\n|---|\n| 10 |\n| 9 |\n|  |\n| -1 |\n\n- [ ] one\n  - [x] two\n\n```\n- [ ] no task\n```\n';
  const { page, context, address, owner, page_id } = await openPage(markdown, complaints);
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const engine = { title: 'Engine', markdown: 'The turbine turns by steam, and its bearings want oil.' };
  await owner.post(`/v1/wikis/${owner.wiki_id}/pages`, engine);
  await page.goto(address);
  // Related pages load when the end of the page becomes visible.
  await page.locator('.page-end').scrollIntoViewIfNeeded();
  await page.locator('ibid-related').getByRole('link', { name: 'Engine' }).waitFor();
  const copied = () => page.evaluate(() => navigator.clipboard.readText());
  await page.getByRole('button', { name: 'Copy this js code' }).click();
  assert.equal(await copied(), 'const a = 1;');
  await page.getByRole('link', { name: 'Copy the link to “A part”' }).focus();
  await page.keyboard.press('Enter');
  assert.equal(await copied(), `${address}#h-a-part`);
  const cells = () => page.locator('.prose td').allTextContents();
  for (const order of [
    ['-1', '9', '10', ''],
    ['10', '9', '-1', ''],
    ['10', '9', '', '-1'],
  ]) {
    await page.getByRole('button', { name: 'n', exact: true }).click();
    assert.deepEqual(await cells(), order);
  }
  await assertAccessible(page, 'a page with code, a table and tasks');

  const stored = async () => (await owner.get(`/v1/wikis/${owner.wiki_id}/pages/${page_id}`)).body;
  const tick = async (name: string, revision: number) => {
    await page.getByRole('checkbox', { name }).focus();
    await page.keyboard.press('Space');
    await until('the write of a task', stored, (now) => now.revision === revision);
  };
  await tick('one', 2);
  await tick('two', 3);
  const ticked = markdown.replace('[ ] one', '[x] one').replace('[x] two', '[ ] two');
  assert.equal((await stored()).markdown, ticked);

  await owner.patch(`/v1/wikis/${owner.wiki_id}/pages/${page_id}`, { markdown: `${ticked}More.\n`, base_revision: 3 });
  await page.getByRole('checkbox', { name: 'one' }).click();
  await page.getByText('The page has changed. Reload it').first().waitFor();
  assert.equal(await page.getByRole('checkbox', { name: 'one' }).isChecked(), true, 'it shows what is stored');
  assert.equal((await stored()).revision, 4);
  await context.close();
});
