import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { OPTIONS } from '../src/operation/config/options.ts';
import { STOP_TIMEOUT_MS } from '../src/operation/service/run-until-stopped.ts';
import { PACKAGE } from '../src/platform/core/package/package-files.ts';
import { SETTINGS } from '../src/platform/db/service-session.ts';
import { SET_BY_CHART } from './generated-chart.ts';
import { installationsIn, runWithoutCluster } from './kubernetes/documented.ts';
import { findInvalid, type Manifest, nameOf, podOf, secretsOf } from './kubernetes/manifests.ts';
import { whyNoPrograms } from './kubernetes/programs.ts';
import { missingReferences } from './kubernetes/references.ts';
import { parseManifests, renderChart, runHelm } from './kubernetes/render.ts';
import { MINIMAL, REFUSED, VALUE_SETS } from './kubernetes/value-sets.ts';
import { skipUnless } from './needs.ts';

const ROOT = fileURLToPath(PACKAGE);
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const missing = await whyNoPrograms();
const needsHelm = { skip: skipUnless(missing === undefined, missing ?? '') };

const rendered: Record<string, Manifest[]> = {};
if (missing === undefined) {
  await Promise.all(
    Object.entries(VALUE_SETS).map(async ([name, values]) => (rendered[name] = await renderChart(values))),
  );
}
const everyManifest = () => Object.values(rendered).flat();
const everyPod = () =>
  Object.entries(rendered).flatMap(([values, manifests]) =>
    manifests.flatMap((manifest) => {
      const pod = podOf(manifest);
      const component = pod?.metadata.labels['app.kubernetes.io/component'];
      return pod ? [{ name: `${values}: ${nameOf(manifest)}`, component, pod, container: pod.spec.containers[0] }] : [];
    }),
  );
const named = (manifests: Manifest[], kind: string, name: string): Manifest =>
  manifests.find((manifest) => manifest.kind === kind && manifest.metadata.name === name);

test(
  'the manifests of the chart pass the linter of Helm, and are valid for Kubernetes and the operators',
  needsHelm,
  async () => {
    await runHelm(['lint', '--strict'], MINIMAL);
    assert.deepEqual(await findInvalid(everyManifest()), []);
    const [deployment] = structuredClone(rendered.minimal ?? []).filter(({ kind }) => kind === 'Deployment');
    deployment.spec.template.spec.containers[0].imagePolicy = 'Always';
    deployment.spec.replicas = 'two';
    const found = await findInvalid([deployment]);
    assert.ok(
      found.some((text) => /replicas must be integer/.test(text)),
      'a wrong value is found',
    );
    assert.ok(
      found.some((text) => /imagePolicy/.test(text)),
      'and an unknown field',
    );
  },
);

for (const [what, values, expected] of REFUSED) {
  test(`${what}: refused with a message that names it`, needsHelm, async () => {
    await assert.rejects(runHelm(['template', 'ibid'], values), ({ stderr }: { stderr: string }) => {
      assert.match(stderr, expected);
      return true;
    });
  });
}

test(
  'every pod meets the Pod Security Standard "restricted", and has no token for the API of Kubernetes',
  needsHelm,
  () => {
    const pods = everyPod();
    assert.ok(pods.length >= 12);
    for (const { name, pod, container } of pods) {
      const { securityContext, volumes, ...spec } = pod.spec;
      assert.equal(securityContext.runAsNonRoot, true, name);
      assert.notEqual(securityContext.runAsUser, 0, name);
      assert.deepEqual(securityContext.seccompProfile, { type: 'RuntimeDefault' }, name);
      assert.deepEqual(
        container.securityContext,
        { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
        name,
      );
      assert.equal(spec.automountServiceAccountToken, false, name);
      assert.equal(spec.enableServiceLinks, false, `${name}: variables of services could be taken for options`);
      assert.equal(spec.containers.length + (spec.initContainers ?? []).length, 1, name);
      for (const key of ['hostNetwork', 'hostPID', 'hostIPC']) assert.equal(spec[key], undefined, name);
      const kinds = volumes.flatMap((volume: object) => Object.keys(volume).filter((key) => key !== 'name'));
      for (const kind of kinds)
        assert.match(kind, /^(emptyDir|projected|secret|configMap|persistentVolumeClaim)$/, `${name}: ${kind}`);
      const writable = container.volumeMounts.filter(({ readOnly }: Manifest) => !readOnly);
      assert.deepEqual(
        writable.map(({ mountPath }: Manifest) => mountPath).filter((path: string) => path !== '/backups'),
        ['/data', '/tmp'],
        name,
      );
    }
    for (const account of everyManifest().filter(({ kind }) => kind === 'ServiceAccount'))
      assert.equal(account.automountServiceAccountToken, false);
  },
);

test('no manifest contains a secret, and each pod mounts the secrets that it needs as files', needsHelm, () => {
  for (const manifest of everyManifest()) assert.notEqual(manifest.kind, 'Secret');
  const byComponent: Record<string, Set<string>> = {};
  for (const { name, component, pod, container } of everyPod()) {
    const options = Object.keys(secretsOf(pod));
    for (const option of options) {
      const variable = `${option.replace(/_FILE$/, '')}_FILE`;
      const { value } = container.env.find((each: Manifest) => each.name === variable);
      assert.equal(value, `/run/ibid/secrets/${option}`, name);
    }
    const own = name.startsWith('everything') ? `${component} of everything` : component;
    byComponent[own] = new Set([...(byComponent[own] ?? []), ...options]);
  }
  for (const component of ['web', 'worker', 'worker of everything'])
    assert.ok(!byComponent[component]?.has('DATABASE_URL'), `${component} has no login of the owner`);
  assert.deepEqual([...(byComponent.migrate ?? [])], ['DATABASE_URL']);
  assert.deepEqual([...(byComponent['migrate of everything'] ?? [])], ['DATABASE_URL']);
  assert.ok(byComponent['web of everything']?.has('DATABASE_URL'), 'unless it is asked for');
  const inEverything = Object.entries(byComponent).flatMap(([name, options]) =>
    name.endsWith('everything') ? [...options] : [],
  );
  const given = new Set([
    ...Object.keys((VALUE_SETS.everything as typeof MINIMAL).secrets),
    'DATABASE_URL',
    'SERVICE_DATABASE_URL',
  ]);
  assert.deepEqual(new Set(inEverything), given, 'each secret reaches a pod');
});

test(
  'selectors match their pods, and every reference is to an object of the chart or to a documented one',
  needsHelm,
  () => {
    for (const [values, manifests] of Object.entries(rendered)) {
      const pods = manifests.flatMap((manifest) => podOf(manifest)?.metadata.labels ?? []);
      const matching = ({ matchLabels, matchExpressions = [] }: Manifest) =>
        pods.filter(
          (pod: Record<string, string>) =>
            Object.entries(matchLabels).every(([key, value]) => pod[key] === value) &&
            matchExpressions.every(({ key, values: some }: Manifest) => some.includes(pod[key])),
        );
      for (const { kind, metadata, spec } of manifests) {
        assert.ok(metadata.name.length <= (kind === 'CronJob' ? 52 : 63), metadata.name);
        const what = `${values}: ${kind} ${metadata.name}`;
        const selector = kind === 'Service' ? { matchLabels: spec.selector } : (spec?.selector ?? spec?.podSelector);
        if (selector) assert.equal(matching(selector).length, kind === 'PodMonitor' ? 2 : 1, what);
        const target = spec?.scaleTargetRef?.name;
        if (target) {
          assert.equal(named(manifests, 'Deployment', target).spec.replicas, undefined, `${what} decides alone`);
        }
        const backend =
          spec?.rules?.[0]?.http?.paths[0].backend.service.name ?? spec?.rules?.[0]?.backendRefs?.[0].name;
        if (backend) assert.ok(named(manifests, 'Service', backend), what);
      }
      for (const manifest of manifests)
        assert.deepEqual(missingReferences(manifest, manifests, JSON.stringify(VALUE_SETS[values])), [], values);
    }
  },
);

test(
  'a change of options starts new pods, and an old pod stops after proxies and requests have left it',
  needsHelm,
  async () => {
    const changed = await renderChart({ ...MINIMAL, config: { ...MINIMAL.config, LOG_LEVEL: 'warn' } });
    for (const component of ['web', 'worker']) {
      const [one, two] = [rendered.minimal ?? [], changed].map((manifests) =>
        named(manifests, 'Deployment', `ibid-${component}`),
      );
      const sum = (deployment: Manifest) => deployment.spec.template.metadata.annotations['checksum/config'];
      assert.notEqual(sum(one), sum(two));
    }
    for (const { name, component, pod, container } of everyPod()) {
      if (!['web', 'worker'].includes(component)) continue;
      const drain = container.lifecycle?.preStop.sleep.seconds ?? 0;
      assert.equal(drain > 0, component === 'web', name);
      assert.ok(pod.spec.terminationGracePeriodSeconds > drain + STOP_TIMEOUT_MS / 1_000 + 5, name);
    }
    for (const { kind, spec } of everyManifest())
      if (kind === 'Deployment') assert.equal(spec.strategy.rollingUpdate.maxUnavailable, 0);
  },
);

test('pods reach only DNS, the database and the services that their options name', needsHelm, () => {
  const portsOf = (values: string, name: string) =>
    named(rendered[values] ?? [], 'NetworkPolicy', name).spec.egress.flatMap(({ ports }: Manifest) =>
      ports.map(({ port }: Manifest) => port),
    );
  assert.deepEqual(new Set(portsOf('minimal', 'ibid-migrate')), new Set([53, 5432]));
  assert.deepEqual(new Set(portsOf('minimal', 'ibid-web')), new Set([53, 5432, 443]));
  assert.deepEqual(new Set(portsOf('everything', 'wiki-web')), new Set([53, 5432, 443, 465, 587, 8443, 4318, 4317]));
  assert.deepEqual(new Set(portsOf('everything', 'wiki-backup')), new Set([53, 5432, 443, 4317]));
  const worker = named(rendered.minimal ?? [], 'NetworkPolicy', 'ibid-worker');
  assert.deepEqual([worker.spec.policyTypes, worker.spec.ingress], [['Ingress', 'Egress'], undefined]);
});

test(
  'every option is a value of the chart or set by it, and each value reaches the service with its type and precision',
  needsHelm,
  async () => {
    const { config, secrets } = JSON.parse(read('deploy/helm/ibid/values.schema.json')).properties;
    const reachable = [config, secrets].flatMap(({ properties }) => Object.keys(properties));
    assert.deepEqual([...reachable, ...Object.keys(SET_BY_CHART)].sort(), Object.keys(OPTIONS).sort());
    const { data } = named(rendered.everything ?? [], 'ConfigMap', 'wiki');
    assert.deepEqual(
      [data.PASSWORD_SIGN_IN, data.MAX_UPLOAD_FILES, data.OTEL_TRACES_SAMPLER_ARG],
      ['on', '100000', '0.25'],
    );
    // Six pods of each kind, plus an extra one during a rollout.
    const notes = await runHelm(['install', 'ibid', '--dry-run=client'], VALUE_SETS.everything ?? {});
    assert.match(notes, /needs up to 280 connections: of 14 pods .* with 20 each\./);
    const { version } = JSON.parse(read('package.json'));
    assert.equal(parse(read('deploy/helm/ibid/Chart.yaml')).appVersion, version);
  },
);

test('the CloudNativePG manifests are valid, and a standby is promoted only if it has all acknowledged writes', async () => {
  const manifests = ['cluster', 'pooler'].flatMap((name) => parseManifests(read(`deploy/cloudnative-pg/${name}.yaml`)));
  assert.deepEqual(await findInvalid(manifests), []);
  const [cluster, pooler] = manifests;
  const { synchronous } = cluster.spec.postgresql;
  assert.deepEqual([synchronous.dataDurability, synchronous.failoverQuorum], ['required', true]);
  assert.equal(cluster.spec.enableSuperuserAccess, false);
  const settings = cluster.spec.bootstrap.initdb.postInitApplicationSQL.filter((each: string) => / set /.test(each));
  assert.equal(settings.length, Object.keys(SETTINGS).length);
  const documented = read('docs/operations/install.md');
  for (const each of settings) assert.ok(documented.includes(`\n${each};\n`), `the document has: ${each}`);
  assert.deepEqual([pooler.spec.cluster.name, pooler.spec.pgbouncer.poolMode], [cluster.metadata.name, 'transaction']);
});

test('the documented commands create every Secret that the pods use', needsHelm, async () => {
  const scripts = ['install', 'scale'].flatMap((name) => installationsIn(read(`docs/operations/${name}.md`)));
  assert.equal(scripts.length, 2);
  for (const script of scripts) {
    const manifests = await runWithoutCluster(script);
    const secrets = new Map(
      manifests.filter(({ kind }) => kind === 'Secret').map(({ metadata, data }) => [metadata.name, data]),
    );
    const pods = manifests.flatMap((manifest) => podOf(manifest) ?? []);
    assert.equal(pods.length, 3);
    for (const pod of pods) {
      for (const [option, { secretName, key }] of Object.entries(secretsOf(pod))) {
        const value = atob(secrets.get(secretName)?.[key] ?? '');
        assert.match(value, option === 'STORAGE_URL' ? /^s3:/ : /^postgres:/, `${option} of ${secretName}`);
        const [, certificate] = /sslrootcert=(.*)$/.exec(value) ?? [];
        const mounts = pod.spec.containers[0].volumeMounts.map(({ mountPath }: Manifest) => `${mountPath}/ca.crt`);
        if (certificate) assert.ok(mounts.includes(certificate), certificate);
      }
    }
    const cluster = manifests.find(({ kind }) => kind === 'Cluster');
    if (!cluster) continue;
    const { bootstrap, managed } = cluster.spec;
    for (const [login, secretName] of [
      [bootstrap.initdb.owner, bootstrap.initdb.secret.name],
      [managed.roles[0].name, managed.roles[0].passwordSecret.name],
    ]) {
      const { username, password, url } = secrets.get(secretName);
      assert.equal(atob(username), login);
      assert.ok(atob(url).startsWith(`postgres://${login}:${atob(password)}@${cluster.metadata.name}-rw:`), login);
    }
    assert.equal((await findInvalid(manifests)).length, 0);
  }
});
