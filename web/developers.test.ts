import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page, Response } from 'playwright-core';
import { assertAccessible, findViolations, openWatched } from '../test/assert-page.ts';
import { launchBrowser, skip } from '../test/browser.ts';
import { openBrowserFor, openContext } from '../test/browser-visitor.ts';
import { openWorld } from '../test/world.ts';

const world = await openWorld();
const ada = await world.owner('ada@example.com');
const WINDOW = { viewport: { width: 1_440, height: 900 }, colorScheme: 'light' } as const;

/** Finds an operation by the filter above the list, and opens it. */
async function find(page: Page, words: string, operation: string): Promise<void> {
  await page.getByPlaceholder('Filter').fill(words);
  await page.getByRole('link', { name: operation, exact: true }).click();
  await page.getByRole('heading', { name: operation, exact: true }).waitFor();
}

/** Sends the request of the open operation. */
async function send(page: Page, path: string): Promise<Response> {
  const answered = page.waitForResponse((response) => new URL(response.url()).pathname === path);
  await page.getByRole('button', { name: 'Execute' }).click();
  return answered;
}

test('a key can be tried in the reference, which loads everything from this service under its policy', {
  skip,
}, async (t) => {
  const context = await openContext(await launchBrowser(), WINDOW);
  const { page, complaints } = await openWatched(context);
  const origins = new Set<string>();
  page.on('request', (request) => origins.add(new URL(request.url()).origin));
  const { body: key } = await ada.post('/v1/me/api-keys', { name: 'Trial' });

  await t.test('operations are grouped by resource, widgets last, and all groups are folded', async () => {
    const described = page.waitForResponse('**/docs/openapi.json');
    const answer = await page.goto(`${world.address}/docs`);
    assert.match((await described).headers()['content-encoding'] ?? '', /^(br|gzip)$/);
    const policy = answer?.headers()['content-security-policy'] ?? '';
    assert.match(policy, /script-src 'self'; style-src 'self' 'unsafe-inline';/);
    assert.doesNotMatch(policy, /unsafe-eval|https?:/);
    await page.getByRole('heading', { level: 1, name: 'Ibid API' }).waitFor();
    const groups = page.locator('.nav-bar-tag');
    await groups.first().waitFor();
    const names = (await groups.allInnerTexts()).map((text) => text.split('\n')[0]);
    assert.deepEqual(names.slice(0, 3), ['Onboarding', 'Overview', 'Workspaces']);
    assert.equal(names[names.indexOf('Schemas') - 1], 'Widgets');
    assert.equal(await page.locator('.nav-bar-tag-and-paths:has(.nav-bar-tag):not(.collapsed)').count(), 0);
    assert.deepEqual(await findViolations(page), [], 'the beginning');
  });

  await t.test(
    'an operation found by the search has samples, fields, and errors that link to their meaning',
    async () => {
      await find(page, 'edit', 'Edit a page');
      await page.getByText('curl', { exact: true }).first().waitFor();
      await page.getByRole('button', { name: 'JavaScript' }).click();
      await page.getByText("method: 'PATCH'").waitFor();
      await page.getByText('base_revision', { exact: true }).first().waitFor();
      await page.getByRole('button', { name: '409' }).click();
      const link = page.getByRole('link', { name: 'edit_conflict' });
      assert.equal(await link.getAttribute('href'), '/docs/errors#edit_conflict');
      assert.deepEqual(await findViolations(page), [], 'an operation');
    },
  );

  await t.test('without a key and a session a request is refused, and an address cannot bring a key', async () => {
    const state = Buffer.from('{"apiKeyId":"bearer"}').toString('base64url');
    const brought = new URLSearchParams({ state, access_token: key.secret, token_type: 'Bearer' });
    for (const end of [`?${brought}`, `#${brought}`, `#?${brought}`, `#?route=${encodeURIComponent(`a&${brought}`)}`]) {
      await page.goto('about:blank');
      await page.goto(`${world.address}/docs${end}`);
      await find(page, 'overview', 'Get the overview');
      assert.equal((await send(page, '/v1/overview')).status(), 401, end);
      assert.match(complaints.splice(0).join('\n'), /^\S+ \S+\/v1\/overview was answered 401$/);
    }
    await page.getByText('Unauthorized (401)').waitFor();
  });

  await t.test('with a key the request is answered 200, and the page shows the body', async () => {
    await page.getByRole('link', { name: 'Authentication' }).click();
    await page.getByLabel('API key or access token').fill(key.secret);
    await page.getByRole('button', { name: 'Use this key' }).click();
    await page.getByText('Requests from this page use your key.').waitFor();
    assert.deepEqual(await findViolations(page), [], 'the form for a key');
    await find(page, 'overview', 'Get the overview');
    const answer = await send(page, '/v1/overview');
    assert.equal(answer.status(), 200);
    assert.equal((await answer.request().allHeaders()).authorization, `Bearer ${key.secret}`);
    await page.getByText('OK (200)').waitFor();
    await page.getByRole('button', { name: /^response$/i }).click();
    await page.getByText(`"${ada.workspace_id}"`).first().waitFor();
    assert.deepEqual(await findViolations(page), [], 'the answer');
  });

  await t.test('the key is stored nowhere else, and is gone when it is removed', async () => {
    const kept = await page.evaluate('JSON.stringify([localStorage, sessionStorage, document.cookie, location.href])');
    assert.ok(!String(kept).includes(key.secret));
    await page.getByRole('link', { name: 'Authentication' }).click();
    await page.getByRole('button', { name: 'Remove key' }).click();
    await find(page, 'overview', 'Get the overview');
    assert.equal((await send(page, '/v1/overview')).status(), 401);
    assert.match(complaints.splice(0).join('\n'), /^\S+ \S+\/v1\/overview was answered 401$/);
  });

  assert.deepEqual(complaints, []);
  assert.deepEqual([...origins], [world.address]);
  await context.close();
});

test('without a key the reference sends the session of the browser', { skip }, async () => {
  const context = await openBrowserFor(world, ada.user_id, { ...WINDOW, colorScheme: 'dark' });
  const { page, complaints } = await openWatched(context);
  await page.goto(`${world.address}/docs`);
  await find(page, 'overview', 'Get the overview');
  const answer = await send(page, '/v1/overview');
  assert.equal(answer.status(), 200);
  assert.equal((await answer.request().allHeaders()).authorization, undefined);
  await page.getByText('OK (200)').waitFor();
  assert.deepEqual(await findViolations(page), [], 'an operation, dark');
  const background = await page.evaluate(
    "getComputedStyle(document.querySelector('openapi-explorer')).backgroundColor",
  );
  assert.equal(background, 'rgb(23, 24, 22)');
  await page.setViewportSize({ width: 390, height: 900 });
  assert.ok(Number(await page.evaluate('document.documentElement.scrollWidth')) <= 390);
  assert.deepEqual(complaints, []);
  await context.close();
});

test('without scripts the reference links to openapi.json and to pages that work without scripts', {
  skip,
}, async () => {
  const context = await openContext(await launchBrowser(), { ...WINDOW, javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto(`${world.address}/docs`);
  await page.getByRole('heading', { level: 1, name: 'Ibid API' }).waitFor();
  for (const path of ['/openapi.json', '/docs/errors', '/docs/getting-started'])
    assert.ok(await page.locator(`.reference-plain a[href="${path}"]`).isVisible(), path);
  await context.close();
});

test('the pages about errors and the first steps are accessible', { skip }, async () => {
  const context = await openContext(await launchBrowser(), WINDOW);
  const { page, complaints } = await openWatched(context);
  await page.goto(`${world.address}/docs/errors#edit_conflict`);
  await page.locator('#edit_conflict:target').waitFor();
  await assertAccessible(page, 'errors');
  await page.goto(`${world.address}/docs/getting-started`);
  await assertAccessible(page, 'getting started');
  assert.deepEqual(complaints, []);
  await context.close();
});
