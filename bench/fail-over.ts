import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { sql } from '../src/db/sql.ts';
import { until } from '../test/until.ts';
import { openOwner, openWorld } from '../test/world.ts';
import { type Node, startPatroniCluster } from './patroni-cluster.ts';

/** FAIL_OVERS: how often the primary changes, in turns by a switch-over and by the death of its node. */
const TIMES = Number(process.env.FAIL_OVERS || 4);
const WRITERS = 4;

test('fail-overs and switch-overs of a cluster that Patroni runs lose nothing that was acknowledged', async (t) => {
  const { nodes, proxyPort, superuser } = await startPatroniCluster();
  const primaryOf = async () => {
    const are = await Promise.all(nodes.map((node) => node.is('primary')));
    return nodes[are.indexOf(true)];
  };
  const first = (await until('a primary', primaryOf)) as Node;
  const admin = openOwner(`postgres://${superuser}@127.0.0.1:${first.port}/postgres`);
  await admin.session(async (_query, run) => {
    await run(`create role ibid login createrole password 'ibid'`);
    await run('create database ibid owner ibid');
  });
  const addressAt = (port: number) => `postgres://ibid:ibid@127.0.0.1:${port}/ibid`;
  await until('HAProxy leads to the primary', () =>
    openOwner(addressAt(proxyPort))
      .query(sql`select 1`)
      .then(
        () => true,
        () => false,
      ),
  );
  const world = await openWorld({
    DATABASE_URL: addressAt(proxyPort),
    DATABASE_REPLICA_URLS: nodes.map(({ port }) => addressAt(port)).join(' '),
  });
  const owner = await world.owner();
  const acknowledged: string[] = [];
  const wrong: string[] = [];
  let [unavailable, stale, lastSuccess, isOver] = [0, 0, 0, false];
  const note = (answer: string) => {
    console.log(answer);
    wrong.push(answer);
  };
  const write = async (name: number) => {
    for (let i = 0; !isOver; i += 1) {
      const { status, headers, body } = await owner.post(`/v1/wikis/${owner.wiki_id}/pages`, {
        title: `Page ${name} ${i}`,
        markdown: 'x',
      });
      if (status === 201) {
        acknowledged.push(body.page_id);
        lastSuccess = performance.now();
        const read = await owner.get(`/v1/wikis/${owner.wiki_id}/pages/${body.page_id}`);
        if (read.status === 404) stale += 1;
        else if (read.status !== 200 && read.status !== 503) note(`read: ${read.status} ${JSON.stringify(read.body)}`);
      } else if (status === 503 && headers.get('retry-after')) {
        unavailable += 1;
        await delay(50);
      } else note(`write: ${status} ${JSON.stringify(body)}`);
    }
  };
  t.after(() => {
    isOver = true;
  });
  const writers = Array.from({ length: WRITERS }, (_, i) => write(i));
  const waits: number[] = [];
  for (let i = 0; i < TIMES; i += 1) {
    const before = (await until('a primary', primaryOf)) as Node;
    await until('a standby that can follow', async () =>
      (await Promise.all(nodes.map((node) => node.is('sync')))).includes(true),
    );
    const isSwitch = i % 2 === 0;
    if (isSwitch) await switchOver(before);
    else await before.kill();
    const after = (await until('another primary', async () => {
      const now = await primaryOf();
      return now && now !== before ? now : undefined;
    })) as Node;
    const there = performance.now();
    // What is seen changes as long as the service answers.
    await until(
      'a write after it',
      () => (wrong.length > 0 ? assert.fail(wrong.join()) : lastSuccess > there || `${unavailable} answers 503`),
      (seen) => seen === true,
    );
    waits.push(lastSuccess - there);
    console.log(
      `${isSwitch ? 'switch-over' : 'fail-over'} ${before.name} → ${after.name}: a write ${Math.round(waits.at(-1) ?? 0)} ms after the primary was there`,
    );
    if (!isSwitch) before.start();
    await until(
      'all nodes are back',
      async () => (await Promise.all(nodes.map((node) => node.is('replica')))).filter(Boolean).length,
      (n) => n === 2,
    );
  }
  isOver = true;
  await Promise.all(writers);
  const last = (await until('a primary', primaryOf)) as Node;
  const rows = await openOwner(addressAt(last.port)).query<{ page_id: string }>(sql`select page_id from pages`);
  const kept = new Set(rows.map(({ page_id }) => page_id));
  const lost = acknowledged.filter((page_id) => !kept.has(page_id));
  console.log(
    `${TIMES} changes of the primary, ${acknowledged.length} acknowledged writes, ${lost.length} lost, ${stale} stale reads, ${unavailable} answers 503, longest wait ${Math.round(Math.max(...waits))} ms`,
  );
  assert.deepEqual({ lost, wrong, stale }, { lost: [], wrong: [], stale: 0 });
});

async function switchOver(leader: Node): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${leader.api}/switchover`, {
    method: 'POST',
    body: JSON.stringify({ leader: leader.name }),
  });
  assert.ok(response.ok, await response.text());
}
