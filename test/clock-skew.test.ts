import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PACKAGE } from '../src/platform/core/package/package-files.ts';
import { freePort, makeFolder, spawnService, worldOfProcess } from './process.ts';
import { makeDatabase, openWorld } from './world.ts';

const SHIFTED = new URL('test/shifted-clock.ts', PACKAGE).href;
const MINUTE_MS = 60_000;
const DATABASE_URL = await makeDatabase();
const world = await openWorld({ DATABASE_URL });

/** Starts a process on the same database whose clock is off by `minutes`. */
async function startShifted(minutes: number) {
  const [port, metrics, DATA_DIR] = await Promise.all([freePort(), freePort(), makeFolder()]);
  const service = spawnService({
    DATABASE_URL,
    DATA_DIR,
    PORT: String(port),
    METRICS_PORT: String(metrics),
    NODE_OPTIONS: `--import=${SHIFTED}`,
    TEST_CLOCK_SHIFT_MS: String(minutes * MINUTE_MS),
    LOG_LEVEL: 'error',
    ROLE: 'web',
  });
  return { service, metrics, address: `http://127.0.0.1:${port}` };
}

test('lists and the audit log follow the order of events, although the clocks of the processes differ', async () => {
  const processes = await Promise.all([startShifted(10), startShifted(-10)]);
  await Promise.all(processes.map(({ service }) => service.ready));
  const owner = await world.owner();
  const clients = processes.map(({ address }) => {
    const other = worldOfProcess(address, DATABASE_URL);
    return other.as(owner.token);
  });
  const made: string[] = [];
  for (let i = 0; i < 6; i += 1) {
    const client = [owner, ...clients][i % 3];
    const { status, body } =
      (await client?.post(`/v1/workspaces/${owner.workspace_id}/wikis`, { title: `Wiki ${i}` })) ?? {};
    assert.equal(status, 201);
    made.push(body.wiki_id);
  }
  assert.deepEqual([...made].sort(), made, 'ids ascend in the order of creation over all processes');
  const { body: events } = await owner.get(
    `/v1/workspaces/${owner.workspace_id}/audit-events?type=wiki.created&limit=6`,
  );
  const targets = events.map((event: { target_id: string }) => event.target_id);
  assert.deepEqual(
    targets.filter((id: string) => made.includes(id)),
    targets[0] === made[0] ? made : made.toReversed(),
  );
  // The process that is ten minutes ahead can create a key that expires in five, and all processes accept a widget
  // token.
  const expires_at = new Date(Date.now() + 5 * MINUTE_MS).toISOString();
  const [ahead, behind] = clients;
  const key = await ahead?.post(`/v1/workspaces/${owner.workspace_id}/api-keys`, { name: 'Short', expires_at });
  assert.equal(key?.status, 201, JSON.stringify(key?.body));
  const token = await ahead?.post(`/v1/workspaces/${owner.workspace_id}/widget-token`, { widget: 'profile' });
  assert.equal(token?.status, 200, JSON.stringify(token?.body));
  const shown = await behind?.get('/v1/widgets/profile', { authorization: `Bearer ${token?.body.token}` });
  assert.equal(shown?.status, 200, JSON.stringify(shown?.body));
  const text = await (await fetch(`http://127.0.0.1:${processes[0]?.metrics}/metrics`)).text();
  assert.match(text, /^ibid_clock_skew_seconds (599|600)(\.\d+)?$/m);
});

test('a process whose clock is off by more than 15 minutes does not start', async () => {
  const { service } = await startShifted(-20);
  assert.equal((await service.ended).code, 1);
  assert.match(service.stderr(), /is 20 minutes behind the database's: synchronize both clocks by NTP/);
});
