import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SUPERUSER } from '@ibid/postgres-server/cluster.ts';
import { inspectConfig } from '../src/operation/config.ts';
import { optionProblems } from '../src/operation/service/option-problems.ts';
import { raw, sql } from '../src/platform/db/sql.ts';
import { cleanUp } from './clean-up.ts';
import { startDatabase } from './kubernetes/database.ts';
import { nameOf, podOf, secretsOf } from './kubernetes/manifests.ts';
import { answers, type Cluster, makePod, readImage, startPod } from './kubernetes/pods.ts';
import { whyNoPrograms } from './kubernetes/programs.ts';
import { renderChart } from './kubernetes/render.ts';
import { EXAMPLES, MINIMAL, PLANS, VALUE_SETS } from './kubernetes/value-sets.ts';
import { skipUnless } from './needs.ts';
import { freePort } from './process.ts';
import { startS3Server } from './s3-server.ts';
import { until } from './until.ts';
import { openOwner, worldOf } from './world.ts';

const missing = await whyNoPrograms();

const needsHelm = { skip: skipUnless(missing === undefined, missing ?? '') };

test('every pod has valid options, and only the options of its role', needsHelm, async () => {
  const image = readImage();
  for (const [name, values] of Object.entries(VALUE_SETS)) {
    const manifests = await renderChart(values);
    const secrets: Cluster['secrets'] = { otel: { headers: 'a=b' }, 'db-ca': { 'ca.crt': '' } };
    const withPods = manifests.filter((manifest) => podOf(manifest));
    for (const [option, { secretName, key }] of withPods.flatMap((each) => Object.entries(secretsOf(podOf(each)))))
      secrets[secretName] = { ...secrets[secretName], [key]: EXAMPLES[option] ?? '' };
    for (const manifest of withPods) {
      const { env } = await makePod({ secrets, manifests, image }, manifest);
      const { config, problems } = inspectConfig(env);
      assert.deepEqual([...problems, ...optionProblems(config)], [], `${name}: ${nameOf(manifest)}`);
    }
  }
});

test(
  'the manifests run as an anonymous user: a job migrates with its own login, and pods serve with another and stop within their grace period',
  needsHelm,
  async (t) => {
    const [database, bucket] = await Promise.all([startDatabase(), startS3Server()]);
    cleanUp(() => bucket.stop());
    const backups = bucket.url.replace('/folder', '/backups');
    const port = await freePort();
    const manifests = await renderChart({
      ...MINIMAL,
      config: { PUBLIC_URL: `http://127.0.0.1:${port}`, RATE_LIMITS: false, WORKSPACE_LIMITS: 'wikis=7' },
      secrets: { ...MINIMAL.secrets, BACKUP_URL: { secretName: 'backups', key: 'url' } },
      backup: { schedule: '@daily' },
      plans: PLANS,
    });
    const secrets = {
      'db-owner': { url: database.owner },
      'db-service': { url: database.service },
      bucket: { url: bucket.url },
      backups: { url: backups },
    };
    const cluster = { secrets, manifests, image: readImage() };
    const podNamed = (kind: string, name: string) =>
      makePod(
        cluster,
        manifests.find((each) => each.kind === kind && each.metadata.name === name),
      );
    const [migrate, web, worker, backup] = await Promise.all([
      podNamed('Job', 'ibid-migrate'),
      podNamed('Deployment', 'ibid-web'),
      podNamed('Deployment', 'ibid-worker'),
      podNamed('CronJob', 'ibid-backup'),
    ]);

    const early = startPod(web);
    assert.equal(await early.ended, 1);
    assert.match(await early.output, /lacks \d+ migrations.*run "ibid migrate"/);

    const migrating = startPod(migrate);
    const [code, output] = [await migrating.ended, await migrating.output];
    assert.equal(code, 0, output);
    assert.match(output, /^applied: 001_/m);
    const again = startPod(migrate);
    assert.deepEqual(
      [await again.ended, await again.output],
      [0, 'the database is up to date\n'],
      'it may be repeated',
    );

    const [serving, working] = [startPod(web), startPod(worker)];
    cleanUp(() => {
      for (const pod of [serving, working]) if (!pod.isOver()) pod.kill('SIGKILL');
    });
    for (const [pod, running] of [
      [web, serving],
      [worker, working],
    ] as const) {
      for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe']) {
        if (!pod.container[probe]) continue;
        await until(
          `the ${probe} is answered`,
          async () => (running.isOver() ? assert.fail(await running.output) : answers(pod, probe)),
          Boolean,
        );
      }
    }
    const world = worldOf(database.admin, web.urlOf({ httpGet: { path: '', port: 'http' } }));
    const owner = await world.owner();
    const { body: upload } = await world.upload(owner, owner.wiki_id, {
      'weft.md': '# Weft\n\nA shuttle carries it.\n',
    });
    assert.equal(upload.status, 'completed', JSON.stringify(upload));
    const users = await database.admin.query<{ usename: string }>(sql`
    select distinct usename::text from pg_stat_activity where backend_type = 'client backend' and usename <> ${SUPERUSER}`);
    assert.deepEqual(users, [{ usename: 'ibid_service' }], 'no process that serves has the login of the owner');
    const limits = await database.admin.query(sql`
    select coalesce(limits ->> 'wikis', '') as wikis, limits ->> 'bytes' as bytes
    from plan_limits where plan_id in ('', 'large') order by plan_id`);
    assert.deepEqual(
      [limits[0]?.wikis, limits[1]?.bytes],
      ['7', '5368709121'],
      'the job has written the limits of the service and of the plans',
    );
    const service = openOwner(database.service);
    await assert.rejects(service.query(raw('alter table pages add column more text')), { code: '42501' });
    await assert.rejects(service.query(raw('create table more ()')), { code: '42501' });

    const saving = startPod(backup);
    assert.equal(await saving.ended, 0, await saving.output);

    const stopping = performance.now();
    for (const pod of [serving, working]) pod.kill('SIGTERM');
    // They exit with 1 if their own stop timeout, which is shorter than the grace period, was not enough.
    assert.deepEqual(await Promise.all([serving.ended, working.ended]), [0, 0]);
    t.diagnostic(`both had ended ${(performance.now() - stopping).toFixed(0)} ms after the signal`);
  },
);
