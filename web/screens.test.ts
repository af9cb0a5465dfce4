import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { assertAccessible, openWatched } from '../test/assert-page.ts';
import { launchBrowser, skip } from '../test/browser.ts';
import { openBrowserFor, openContext } from '../test/browser-visitor.ts';
import { everyNth } from '../test/extent.ts';
import { signInLink } from '../test/signed-in.ts';
import { openSlowLine, shiftsIn } from '../test/slow-line.ts';
import { openWorld } from '../test/world.ts';
import { styleguide } from './pages/styleguide.ts';
import { ROUTES } from './routes.ts';

/**
 * The addresses to open for each route; `W` is the wiki, `O` its workspace, `E` a wiki without pages, `A` its workspace
 * as an operator sees it.
 */
const SCREENS: Record<string, readonly string[]> = {
  '/invitations': ['/invitations'],
  '/:workspace': ['O'],
  '/:workspace/:wiki': ['W', 'E'],
  '/:workspace/:wiki/-/overview': ['W/-/overview'],
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
  '/:workspace/-/general': ['O/-/general'],
  '/:workspace/-/wikis': ['O/-/wikis'],
  '/:workspace/-/members': ['O/-/members'],
  '/:workspace/-/keys': ['O/-/keys'],
  '/:workspace/-/widgets': ['O/-/widgets'],
  '/:workspace/-/usage': ['O/-/usage'],
  '/:workspace/-/audit': ['O/-/audit'],
  '/:workspace/-/retention': ['O/-/retention'],
  '/:workspace/-/billing': ['O/-/billing'],
  '/me': ['/me'],
  '/me/keys': ['/me/keys'],
  '/sign-out': ['/sign-out'],
  '/-/admin': ['/-/admin'],
  '/-/admin/workspaces/:workspace_id': ['A'],
};

/** Screens that the tests of user journeys open, because they need preparation. */
const IN_JOURNEYS: readonly string[] = [
  '/begin',
  '/welcome',
  '/email-change',
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

/** Routes that only redirect. */
const LEADS_ON: readonly string[] = ['/', '/sign-in/openid', '/sign-in/callback', '/:workspace/:wiki/-/edit'];

const paths = [...ROUTES, styleguide].filter(({ method }) => method === 'GET').map(({ path }) => path);

test('each screen of the web application is covered', () => {
  const known = [...Object.keys(SCREENS), ...IN_JOURNEYS, ...LEADS_ON];
  assert.deepEqual(paths.toSorted(), known.toSorted(), 'a new screen gets a line above');
});

/** Each screen is opened at a single width of these, and with `npm run test:long -- shifts` at each width. */
const WIDTHS = [390, 768, 1_440] as const;
const isWhole = process.env.EVERY_WIDTH === 'yes';

/** Every fifth screen, unless everything is tested. */
const isTurn = everyNth(isWhole ? 1 : 5);

/** Maximum number of tab stops before the text of a screen, whatever the tree contains. */
const STOPS_MAX = 10;

/** Returns the names of the tab stops before the heading of the text, in a loaded page. */
function stopsBeforeText(): string[] {
  const text = document.querySelector('main h1, h1, main');
  return [...document.querySelectorAll<HTMLElement>('a[href], button, input, select, textarea, summary, [tabindex]')]
    .filter((it) => it.tabIndex >= 0 && !it.matches(':disabled, [type=hidden]') && it.checkVisibility())
    .filter((it) => text && it.compareDocumentPosition(text) & Node.DOCUMENT_POSITION_FOLLOWING && !it.contains(text))
    .map((it) => (it.getAttribute('aria-label') || it.textContent || it.tagName).trim().slice(0, 30));
}

test('each screen does not move while it loads, and is accessible in light and dark, at each width, in both directions', {
  skip,
}, async (t) => {
  const world = await openWorld({ STYLEGUIDE: 'on', OPERATORS: 'screens@example.com' });
  const owner = await world.owner('screens@example.com');
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
    A: `/-/admin/workspaces/${workspace.organization_id}`,
  };
  const line = await openSlowLine(world.address);
  // A script rewrites the times in this time zone.
  const context = await openBrowserFor(world, owner.user_id, { timezoneId: 'Asia/Tokyo' });
  const { page, complaints } = await openWatched(context);
  let opened = 0;
  const look = async (at: Page, address: string) => {
    const path = address.replace(/^[WEOA](?=\/|$)/, (place) => places[place] ?? '');
    for (const width of isWhole ? WIDTHS : [WIDTHS[opened++ % WIDTHS.length] ?? 390])
      assert.deepEqual(await shiftsIn(at, line + path, width), [], `${address} at ${width} px`);
    assert.equal(new URL(at.url()).pathname, path.replace(/\?.*/, ''), 'it leads to no other screen');
    const stops = await at.evaluate(stopsBeforeText);
    assert.ok(
      stops.length <= STOPS_MAX,
      `${address} has ${stops.length} tab stops before its text: ${stops.join(', ')}`,
    );
    await assertAccessible(at, address);
  };

  for (const [route, addresses] of Object.entries(SCREENS)) {
    await t.test(route, async () => {
      for (const address of addresses) if (isTurn()) await look(page, address);
    });
  }

  await t.test('screens before the sign-in are stable and accessible', async () => {
    const stranger = await (await openContext(await launchBrowser())).newPage();
    await look(stranger, `/sign-in?token=${await signInLink(world, owner.user_id)}`);
    await look(stranger, '/sign-in');
    await stranger.goto(`${world.address}/sign-in`);
    await stranger.getByLabel('E-mail').fill('ada@example.com');
    await stranger.keyboard.press('Enter');
    await stranger.getByRole('heading', { name: 'Ask for your link' }).waitFor();
    await assertAccessible(stranger, 'ask for your link');
    await look(stranger, '/sign-in?token=worn');
  });

  await t.test('the screens of a viewer, including refusals, are stable and accessible', async () => {
    const viewer = await world.member(workspace.organization_id, 'viewer');
    const { page: theirs } = await openWatched(await openBrowserFor(world, viewer.user_id));
    for (const address of ['W', 'W/notes', 'W/-/trash', 'O/-/audit']) await look(theirs, address);
  });

  assert.deepEqual(
    complaints.filter((line) => !/nowhere.* answered 404$/.test(line)),
    [],
  );
});
