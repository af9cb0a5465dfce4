import assert from 'node:assert/strict';
import { test } from 'node:test';
import { skip } from '../test/browser.ts';
import { openBrowserFor } from '../test/browser-visitor.ts';
import { openSlowLine, shiftsIn } from '../test/slow-line.ts';
import { openWorld } from '../test/world.ts';

const world = await openWorld();
const owner = await world.owner();
const { body: overview } = await owner.get('/v1/overview');
const [wiki] = overview.wikis;
const home = `/${overview.session.organizations[0].slug}/${wiki.slug}`;
const markdown = `${'It turns the crank of the engine.\n\n'.repeat(600)}## Cards\n\nPunch them.\n\n## More\n\n> A quote.`;
const { body: page } = await owner.post(`/v1/wikis/${wiki.wiki_id}/pages`, { title: 'Engine', markdown });

/** Long texts, and pages that scripts change most; the other screens are in screens.test.ts. */
const OPENED: readonly (readonly [path: string, width: number])[] = [
  [`${home}/${page.path}`, 1_440],
  [`${home}/${page.path}`, 390],
  [`${home}/-/edit/${page.path}`, 768],
  [`${home}/-/edit/${page.path}`, 390],
  [`${home}/-/new`, 1_440],
];

test('nothing moves while a page arrives in pieces', { skip }, async (t) => {
  const address = await openSlowLine(world.address);
  const context = await openBrowserFor(world, owner.user_id);
  const tab = await context.newPage();
  for (const [path, width] of OPENED) {
    await t.test(`${path.replace(home, '')} at ${width} px`, async () =>
      assert.deepEqual(await shiftsIn(tab, `${address}${path}`, width), []),
    );
  }
  await context.close();
});
