import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertAccessible, openWatched } from '../test/assert-page.ts';
import { launchBrowser, skip } from '../test/browser.ts';
import { openContext } from '../test/browser-visitor.ts';
import { openWorld } from '../test/world.ts';

const world = await openWorld();
const WINDOW = { viewport: { width: 1_440, height: 900 }, colorScheme: 'light' } as const;

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
