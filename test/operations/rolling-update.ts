import assert from 'node:assert/strict';
import { Agent, request } from 'node:http';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { cleanUp } from '../clean-up.ts';
import { startDatabase } from '../kubernetes/database.ts';
import { answers, makePod, readImage, startPod } from '../kubernetes/pods.ts';
import { renderChart } from '../kubernetes/render.ts';
import { MINIMAL } from '../kubernetes/value-sets.ts';
import { startS3Server } from '../s3-server.ts';
import { until } from '../until.ts';
import { worldOf } from '../world.ts';

/** ROLLED_PODS: number of pods to replace. */
const REPLACED = Number(process.env.ROLLED_PODS || 20);
const CLIENTS = 8;
const PAUSE_MS = 40;
/** Time for which clients still send requests to a pod after its end was announced. */
const HEARD_MS = 1_000;

/**
 * Needs npm's registry, like test/kubernetes.long.test.ts. Works without a cluster: the test does the steps of
 * Kubernetes, in its order.
 */
test('no request fails while pods of the API are replaced one by one', async (t) => {
  const [database, bucket] = await Promise.all([startDatabase(), startS3Server()]);
  cleanUp(() => bucket.stop());
  const config = { ...MINIMAL.config, RATE_LIMITS: false, LOG_LEVEL: 'error' };
  const manifests = await renderChart({ ...MINIMAL, config, web: { drainSeconds: 2 } });
  const secrets = {
    'db-owner': { url: database.owner },
    'db-service': { url: database.service },
    bucket: { url: bucket.url },
  };
  const podOf = (kind: string, name: string) =>
    makePod(
      { secrets, manifests, image: readImage() },
      manifests.find((each) => each.kind === kind && each.metadata.name === name),
    );
  const migrating = startPod(await podOf('Job', 'ibid-migrate'));
  assert.equal(await migrating.ended, 0, await migrating.output);
  const startWeb = async () => {
    const pod = await podOf('Deployment', 'ibid-web');
    const running = startPod(pod);
    cleanUp(() => {
      if (!running.isOver()) running.kill('SIGKILL');
    });
    const isReady = async () => (running.isOver() ? assert.fail(await running.output) : answers(pod, 'readinessProbe'));
    await until('the pod is ready', isReady, Boolean);
    const { seconds } = pod.container.lifecycle.preStop.sleep;
    return { running, address: pod.urlOf({ httpGet: { path: '', port: 'http' } }), drainMs: 1_000 * seconds };
  };

  let ready: Awaited<ReturnType<typeof startWeb>>[] = await Promise.all([startWeb(), startWeb()]);
  const owner = await worldOf(database.admin, ready[0]?.address ?? '').owner();
  const agent = new Agent({ keepAlive: true });
  const outcomes: Record<string, number> = {};
  let sent = 0;
  const send = () =>
    new Promise<void>((resolve) => {
      sent += 1;
      const isWrite = sent % 5 === 0;
      const end = (outcome: unknown) => {
        const name = `${isWrite ? 'POST' : 'GET'} ${outcome}`;
        outcomes[name] = (outcomes[name] ?? 0) + 1;
        resolve();
      };
      const headers = { authorization: `Bearer ${owner.token}`, 'content-type': 'application/json' };
      const path = `${ready[sent % ready.length]?.address}/v1/wikis/${owner.wiki_id}/pages`;
      const sending = request(path, { agent, method: isWrite ? 'POST' : 'GET', headers }, (response) => {
        response.resume().once('error', ({ code }: NodeJS.ErrnoException) => end(code));
        response.once('end', () => end(response.statusCode));
      });
      sending.once('error', ({ code }: NodeJS.ErrnoException) => end(code));
      sending.end(isWrite ? JSON.stringify({ title: `Page ${sent}`, markdown: 'Text.' }) : undefined);
    });
  let isOver = false;
  const clients = Array.from({ length: CLIENTS }, async () => {
    while (!isOver) {
      await send();
      await delay(Math.random() * PAUSE_MS);
    }
  });
  for (let i = 0; i < REPLACED; i += 1) {
    ready = [...ready, await startWeb()];
    const [old] = ready;
    if (!old) throw new Error('there are pods');
    await delay(HEARD_MS);
    ready = ready.slice(1);
    await delay(old.drainMs - HEARD_MS);
    old.running.kill('SIGTERM');
    assert.equal(await old.running.ended, 0, await old.running.output);
  }
  isOver = true;
  await Promise.all(clients);
  agent.destroy();
  t.diagnostic(`${REPLACED} pods were replaced; answers: ${JSON.stringify(outcomes)}`);
  assert.deepEqual(Object.keys(outcomes).sort(), ['GET 200', 'POST 201']);
  for (const { running } of ready) running.kill('SIGTERM');
  await Promise.all(ready.map(({ running }) => running.ended));
});
