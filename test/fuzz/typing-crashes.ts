import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openBrowserFor } from '../browser-visitor.ts';
import { openRestartableService, worldOfProcess } from '../process.ts';
import { randomNumbers } from '../random-numbers.ts';
import { signedInClient } from '../signed-in.ts';
import { Typist } from '../typist.ts';
import { until } from '../until.ts';
import { isOver, seeds } from './run-cases.ts';

/** Typing time that a crash may lose. */
const LOST_MS = 1_000;
/** The kills of one seed, and of one page before it is saved. */
const KILLS = 40;
const SAVED_EVERY = 8;
const KINDS = ['reload', 'tab', 'browser', 'network', 'service', 'device'];

const { address, dataDir, start } = await openRestartableService();

test('text typed until a second before a crash of the tab, the browser, the network or the service is restored', async (t) => {
  let service = await start();
  using world = worldOfProcess(address, { dataDir });
  const owner = await world.owner();
  const { body } = await owner.get('/v1/overview');
  const root = `${address}/${body.session.organizations[0].slug}/${body.wikis[0].slug}`;
  const { browser_secret } = (await (await signedInClient(world, owner.user_id)).post('/v1/auth/browser')).body;
  const counts: Record<string, number> = {};
  for (const seed of seeds()) {
    t.diagnostic(`seed ${seed}`);
    const random = randomNumbers(seed);
    const { body: made } = await owner.post(`/v1/wikis/${owner.wiki_id}/pages`, {
      title: `Page ${seed}`,
      markdown: '',
    });
    const typist = await Typist.start(`${root}/-/edit/${made.path}`, browser_secret);
    try {
      await typist.open();
      for (let kill = 1; kill <= KILLS && !isOver(); kill += 1) {
        const what = KINDS[Math.floor(random() * KINDS.length)] as string;
        const where = `seed ${seed}, kill ${kill}, ${what}`;
        await typist.type(300 + random() * 3_500);
        await crash(what, random, where, typist);
        counts[what] = (counts[what] ?? 0) + 1;
        if (process.env.TYPING_LOG) process.stderr.write(`${where}\n`);
        if (kill % SAVED_EVERY === 0) await save(typist, made.page_id, where);
      }
    } finally {
      await typist.stop();
    }
  }
  t.diagnostic(`${JSON.stringify(counts)} kills, nothing lost`);
  service.kill('SIGTERM');
  await service.ended;

  async function crash(what: string, random: () => number, where: string, typist: Typist): Promise<void> {
    if (what === 'reload') {
      await typist.page.reload();
      return typist.assertKept(typist.typed, where);
    }
    if (what === 'device') return openElsewhere(typist, where);
    if (what === 'service') {
      service.kill('SIGKILL');
      await service.ended;
    }
    if (what === 'network') await typist.context.setOffline(true);
    const isCut = what === 'network' || what === 'service';
    if (isCut) {
      if (random() < 0.5) await typist.page.keyboard.press('Control+s');
      await typist.type(random() * 2_500);
    }
    const killsBrowser = what === 'browser' || (isCut && random() < 0.5);
    const must = typist.typedBefore(LOST_MS);
    if (killsBrowser) {
      await typist.killBrowser();
      await typist.openBrowser();
    } else await typist.killTab();
    if (what === 'network') await typist.context.setOffline(false);
    if (what === 'service') service = await start();
    await typist.open();
    await typist.assertKept(must, where);
  }

  /** Continues from the service's copy in another browser without local storage. */
  async function openElsewhere(typist: Typist, where: string): Promise<void> {
    const must = typist.typedBefore(LOST_MS);
    // The saved page already has all of the text, so the editor offers no copy.
    if (must.length <= typist.saved.length) return;
    await typist.killBrowser();
    const device = await openBrowserFor(world, owner.user_id);
    const page = await device.newPage();
    await page.goto(`${root}/-/edit/${new URL(typist.url).pathname.split('/').at(-1)}`);
    // The latest copy is restored automatically; earlier ones are offered.
    await page.getByText('from another device were restored').waitFor();
    await typist.assertKept(must, where, page);
    // Close only the page's context: all tests of the file share the browser.
    await device.close();
    await typist.openBrowser();
    await typist.open();
    await typist.assertKept(must, where);
  }

  async function save(typist: Typist, page_id: string, where: string): Promise<void> {
    await typist.page.keyboard.press('Control+s');
    const now = () => owner.get(`/v1/wikis/${owner.wiki_id}/pages/${page_id}`);
    await until(
      `${where}: it is saved`,
      async () => (await now()).body.markdown,
      (markdown) => markdown === typist.typed,
    );
    assert.equal(await typist.text(), typist.typed);
    typist.saved = typist.typed;
  }
});
