import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { cleanUp } from '../../../test/clean-up.ts';
import { makeFolder } from '../../../test/process.ts';
import { STRIPE_KEY, startStripeServer, WEBHOOK_SECRET } from '../../../test/stripe/server.ts';
import { makeDatabase, openWorld } from '../../../test/world.ts';
import { readConfig } from '../config.ts';
import { makeKey } from './key.ts';
import { runSeedCommand } from './seed.ts';

const stripe = await startStripeServer();
cleanUp(() => stripe.stop());
const place = {
  DATABASE_URL: await makeDatabase(),
  DATA_DIR: join(await makeFolder(), 'data'),
  STRIPE_SECRET_KEY: STRIPE_KEY,
  STRIPE_WEBHOOK_SECRETS: WEBHOOK_SECRET,
  STRIPE_API_URL: stripe.url,
};
const world = await openWorld(place);

test('seed creates people, pages, sources, a conflict and an unpaid invoice, once', async () => {
  const lines: string[] = [];
  const seed = () => runSeedCommand(readConfig(place), ['--address', world.address], (line) => lines.push(line));
  await seed();
  assert.match(lines.join('\n'), /3 people, 3 pages, 5 files, a conflict\nAn invoice for the plan \w+ has been unpaid/);
  const ada = world.as(await makeKey(world.db, { email: 'ada@example.com', name: 'test', workspace_id: null }));
  const { body: overview } = await ada.get('/v1/overview');
  const { wiki_id, organization_id: workspace_id } = overview.wikis[0];
  const { body: list } = await ada.get(`/v1/workspaces/${workspace_id}/members`);
  assert.equal(list.members?.length, 3, JSON.stringify(list));
  const { body: pages } = await ada.get(`/v1/wikis/${wiki_id}/pages?limit=100`);
  const paths = pages.map(({ path }: { path: string }) => path);
  assert.ok(paths.includes('projects/new-catalogue/formats') && paths.includes('handbook/library/prices'), `${paths}`);
  const { body: opening } = await ada.get(`/v1/wikis/${wiki_id}/pages/path/handbook/library/opening`);
  assert.equal(opening.stale, true);
  const { body: billing } = await ada.get(`/v1/organizations/${workspace_id}/billing`);
  assert.equal(billing.status, 'past_due');
  await assert.rejects(seed(), /already exists/);
});
