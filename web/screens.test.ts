import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { assertAccessible, openWatched } from '../test/assert-page.ts';
import { launchBrowser, skip } from '../test/browser.ts';
import { openBrowserFor, openContext } from '../test/browser-visitor.ts';
import { signInLink } from '../test/signed-in.ts';
import { openWorld } from '../test/world.ts';
import { styleguide } from './pages/styleguide.ts';
import { ROUTES } from './routes.ts';

/** The screens of a route that are looked at here, as addresses; `W` is the wiki, `O` its workspace, `E` a wiki without pages. */
const SCREENS: Record<string, readonly string[]> = {
  '/invitations': ['/invitations'],
  '/:workspace': ['O'],
  '/:workspace/:wiki': ['W', 'E'],
  '/:workspace/:wiki/*': ['W/draft', 'W/archived', 'W/notes', 'W/notes?sources', 'W/nowhere', 'O/nowhere/page'],
  '/:workspace/:wiki/-/pages': ['W/-/pages', 'E/-/pages'],
  '/:workspace/:wiki/-/pages/*': ['W/-/pages/notes'],
  '/:workspace/:wiki/-/history/*': ['W/-/history/notes'],
  '/:workspace/:wiki/-/search': [
    'W/-/search',
    'W/-/search?query=weft',
    'W/-/search?query=zzqx',
    'W/-/search?query=tag:',
  ],
  '/:workspace/:wiki/-/tags': ['W/-/tags', 'W/-/tags?tag=cloth', 'E/-/tags'],
  '/:workspace/:wiki/-/sources': ['W/-/sources', 'E/-/sources'],
  '/:workspace/:wiki/-/templates': ['W/-/templates'],
  '/:workspace/:wiki/-/trash': ['W/-/trash', 'E/-/trash'],
  '/:workspace/:wiki/-/gone': ['W/-/gone'],
  '/:workspace/:wiki/-/stale': ['W/-/stale'],
  '/:workspace/:wiki/-/broken-links': ['W/-/broken-links', 'E/-/broken-links'],
  '/:workspace/:wiki/-/upload': ['W/-/upload'],
  '/:workspace/:wiki/-/uploads': ['W/-/uploads', 'E/-/uploads'],
  '/:workspace/:wiki/-/move/*': ['W/-/move/notes/weaving'],
  '/:workspace/:wiki/-/styleguide': ['W/-/styleguide'],
  '/:workspace/-/wikis': ['O/-/wikis'],
  '/:workspace/-/members': ['O/-/members'],
  '/:workspace/-/keys': ['O/-/keys'],
  '/:workspace/-/widgets': ['O/-/widgets'],
  '/:workspace/-/usage': ['O/-/usage'],
  '/:workspace/-/audit': ['O/-/audit'],
  '/:workspace/-/billing': ['O/-/billing'],
  '/me': ['/me'],
  '/me/keys': ['/me/keys'],
};

/** Screens that are looked at on the way of a user, with what has to be there before. */
const IN_JOURNEYS: readonly string[] = [
  '/begin',
  '/welcome',
  '/sign-in',
  '/invitations/accept',
  '/:workspace/:wiki/-/sources/:source_id',
  '/:workspace/:wiki/-/uploads/:upload_id',
  '/:workspace/:wiki/-/transfer',
  '/:workspace/:wiki/-/new',
  '/:workspace/:wiki/-/edit/*',
  '/-/widgets/:workspace_id/:widget',
  '/-/diagram',
  '/-/pdf',
];

/** They lead to a screen and show none. */
const LEADS_ON: readonly string[] = ['/', '/sign-in/openid', '/sign-in/callback', '/:workspace/:wiki/-/edit'];

const paths = [...ROUTES, styleguide].filter(({ method }) => method === 'GET').map(({ path }) => path);

test('each screen of the web application is looked at', () => {
  const known = [...Object.keys(SCREENS), ...IN_JOURNEYS, ...LEADS_ON];
  assert.deepEqual(paths.toSorted(), known.toSorted(), 'a new screen gets a line above');
});

test('each screen is accessible in light and dark, at each width, in both directions', { skip }, async (t) => {
  const world = await openWorld({ STYLEGUIDE: 'on' });
  const owner = await world.owner();
  const { session, wikis } = (await owner.get('/v1/overview')).body;
  const [workspace] = session.organizations;
  const wiki = `/v1/wikis/${owner.wiki_id}`;
  await world.upload(owner, owner.wiki_id, {
    'notes/weaving.md': '---\ntags: [cloth, loom]\n---\n# Weaving\n\nWarp and weft. See [nothing](nothing.md).\n',
    'notes.md': '# Notes\n\nOf the weft.\n\n## More\n\nWords.\n\n## Again\n\nWords.\n',
  });
  for (const status of ['draft', 'archived'])
    await owner.post(`${wiki}/pages`, { title: status, markdown: 'A text.\n', status });
  const thrown = await owner.post(`${wiki}/pages`, { title: 'Thrown away', markdown: 'A text.\n' });
  await owner.send('DELETE', `${wiki}/pages/${thrown.body.page_id}`);
  const empty = (await owner.post(`/v1/workspaces/${workspace.organization_id}/wikis`, { title: 'Empty' })).body;
  const places: Record<string, string> = {
    W: `/${workspace.slug}/${wikis[0].slug}`,
    E: `/${workspace.slug}/${empty.slug}`,
    O: `/${workspace.slug}`,
  };
  const context = await openBrowserFor(world, owner.user_id);
  const { page, complaints } = await openWatched(context);
  const look = async (at: Page, address: string) => {
    const path = address.replace(/^[WEO](?=\/|$)/, (place) => places[place] ?? '');
    await at.goto(world.address + path);
    assert.equal(new URL(at.url()).pathname, path.replace(/\?.*/, ''), 'it leads to no other screen');
    await assertAccessible(at, address);
  };

  for (const [route, addresses] of Object.entries(SCREENS)) {
    await t.test(route, async () => {
      for (const address of addresses) await look(page, address);
    });
  }

  await t.test('what is shown before the sign-in', async () => {
    const stranger = await (await openContext(await launchBrowser())).newPage();
    await look(stranger, `/sign-in?token=${await signInLink(world, owner.user_id)}`);
    await look(stranger, '/sign-in');
    await stranger.getByLabel('E-mail').fill('ada@example.com');
    await stranger.keyboard.press('Enter');
    await stranger.getByRole('heading', { name: 'Check your mail' }).waitFor();
    await assertAccessible(stranger, 'check your mail');
    await look(stranger, '/sign-in?token=worn');
    await stranger.getByRole('button', { name: 'Sign in' }).click();
    await stranger.getByRole('alert').waitFor();
    await assertAccessible(stranger, 'a link that was used');
  });

  await t.test('what a viewer may not see', async () => {
    const viewer = await world.member(workspace.organization_id, 'viewer');
    const { page: theirs } = await openWatched(await openBrowserFor(world, viewer.user_id));
    for (const address of ['W', 'W/notes', 'W/-/trash', 'O/-/audit']) await look(theirs, address);
  });

  assert.deepEqual(
    complaints.filter((line) => !/nowhere.* answered 404$/.test(line)),
    [],
  );
});
