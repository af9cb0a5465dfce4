import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { before, test } from 'node:test';
import { parse } from 'yaml';
import { PACKAGE } from '../src/platform/core/package/package-files.ts';
import { sql } from '../src/platform/db/sql.ts';
import { freePort, makeFolder } from './process.ts';
import { type Sample, sampleOf, samplesOf, scrapeText } from './scrape.ts';
import { startTlsServer } from './tls-server.ts';
import { until } from './until.ts';
import { makeDatabase, openWorld } from './world.ts';

const read = (path: string) => readFileSync(new URL(`${path}`, PACKAGE), 'utf8');

/** Rows of the documented table of metrics: name, type and labels. */
const documented = [
  ...read('docs/operations/observe.md').matchAll(/^\| `(ibid_\w+)` \| (\w+) \| ([\w, ]*?) ?\|/gm),
].map(([, name = '', type = '', labels = '']) => ({ name, type, labels: labels.split(', ').filter(Boolean).sort() }));

/** A PromQL expression and its location. */
interface Expression {
  place: string;
  expr: string;
}

const rules: { alert: string; expr: string; annotations: { summary: string } }[] = parse(
  read('deploy/prometheus/alerts.yaml'),
).groups.flatMap((group: { rules: unknown[] }) => group.rules);
const panels: { title: string; targets: { expr: string; legendFormat: string }[] }[] = JSON.parse(
  read('deploy/grafana/ibid.json'),
).panels;
const expressions: Expression[] = [
  ...rules.map(({ alert, expr }) => ({ place: alert, expr })),
  ...panels.flatMap(({ title, targets }) => targets.map(({ expr }) => ({ place: title, expr }))),
];

/** Labels that Prometheus adds to each sample of a scrape. */
const OF_SCRAPES = ['job', 'instance'];

let text = '';
let samples: Sample[] = [];
let end = 0;

const labelsOf = (name: string) =>
  new Set(samples.filter((sample) => sample.name === name).flatMap(({ labels }) => Object.keys(labels)));

before(async () => {
  const folder = await makeFolder();
  const issuer = await startTlsServer(folder);
  const port = await freePort();
  const DATABASE_URL = await makeDatabase();
  const world = await openWorld({
    DATABASE_URL,
    // A replica URL may also name the primary.
    DATABASE_REPLICA_URLS: DATABASE_URL,
    METRICS_PORT: String(port),
    OIDC_ISSUER: issuer.url,
    OIDC_AUDIENCE: 'ibid',
    BACKUP_URL: `file://${folder}`,
  });
  end = issuer.end;
  const owner = await world.owner('owner@example.com');
  await world.upload(owner, owner.wiki_id, { 'a.md': '# A\n' });
  await world.db.query(sql`
    insert into backup_status (last_outcome, last_backup_id, last_made_at) values ('succeeded', 'b', now() - interval '1 hour')`);
  await world.db.query(sql`
    insert into wal_archive (stored_until, gap_at, based_at) values (now() - interval '1 hour', now(), now() - interval '2 hours')`);
  await world.anonymous.post('/v1/auth/email', { email: 'owner@example.com' });
  await until(
    'a message was sent and the certificate looked at',
    async () => {
      samples = samplesOf((text = await scrapeText(port)));
      return samples.length;
    },
    () => sampleOf(samples, 'ibid_mail_total', { outcome: 'sent' }) === 1 && labelsOf(CERTIFICATE).size > 0,
  );
});

const CERTIFICATE = 'ibid_certificate_expiry_timestamp_seconds';

test('the documented metrics equal the scraped ones, with the same types and labels', () => {
  const answered = [...text.matchAll(/^# TYPE (ibid_\w+) (\w+)$/gm)].map(([, name = '', type = '']) => {
    const labels = labelsOf(type === 'histogram' ? `${name}_count` : name);
    return { name, type, labels: [...labels].sort() };
  });
  const byName = (a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : 1);
  assert.deepEqual(answered.toSorted(byName), documented.toSorted(byName));
});

test('alerts and the dashboard name only existing metrics and labels', () => {
  assert.ok(rules.length > 10 && panels.length > 20);
  const known = new Set([...samples.map(({ name }) => name), 'up']);
  for (const { place, expr } of expressions) {
    const plain = expr.replace(/"[^"]*"/g, '""');
    const metrics = [...plain.matchAll(/\b((?:ibid|nodejs|process)_\w+|up)\b(?:\{([^}]*)\})?/g)];
    assert.ok(metrics.length > 0, place);
    for (const [, name = '', matchers = ''] of metrics) {
      assert.ok(known.has(name), `${place}: ${name}`);
      for (const [, label = ''] of matchers.matchAll(/(\w+)\s*[=!]/g)) {
        assert.ok(OF_SCRAPES.includes(label) || labelsOf(name).has(label), `${place}: ${name}{${label}}`);
      }
    }
    const all = new Set([...OF_SCRAPES, ...metrics.flatMap(([, name = '']) => [...labelsOf(name)])]);
    for (const [, list = ''] of plain.matchAll(/\bby \(([^)]*)\)/g)) {
      for (const label of list.split(/,\s*/)) assert.ok(all.has(label), `${place}: by (${label})`);
    }
  }
});

test('alerts and the dashboard match only label values that occur', () => {
  const values = (name: string, label: string) =>
    new Set(samples.filter((sample) => sample.name === name).map(({ labels }) => labels[label]));
  // Label values that no test produces, such as 5xx and streams.
  const known: Record<string, string[]> = { status: ['2xx', '5xx'], kind: ['read', 'write', 'stream'] };
  for (const { place, expr } of expressions) {
    for (const [, name = '', matchers = ''] of expr.matchAll(/\b(ibid_\w+)\{([^}]*)\}/g)) {
      for (const [, label = '', value = ''] of matchers.matchAll(/(\w+)\s*!?=\s*"([^"]*)"/g)) {
        const isThere = values(name, label).has(value) || known[label]?.includes(value);
        assert.ok(isThere, `${place}: ${name}{${label}="${value}"}`);
      }
    }
  }
});

test('the message of an alert uses only labels that its expression keeps', () => {
  for (const { alert, expr, annotations } of rules) {
    const kept = [...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(/,\s*/));
    for (const [, label = ''] of annotations.summary.matchAll(/\$labels\.(\w+)/g)) {
      assert.ok(kept.includes(label), `${alert}: ${label}`);
    }
  }
});

test('metrics report when the certificate of a server expires, the free disk space and the age of the backup', () => {
  assert.equal(sampleOf(samples, CERTIFICATE, { place: 'issuer' }), end);
  for (const place of ['data', 'backups']) {
    const [free = 0, size = 0] = ['free', 'size'].map((what) =>
      sampleOf(samples, `ibid_disk_${what}_bytes`, { place }),
    );
    assert.ok(free > 0 && free < size, place);
  }
  const made = sampleOf(samples, 'ibid_backup_last_success_timestamp_seconds', {}) ?? 0;
  const ended = sampleOf(samples, 'ibid_backup_last_end_timestamp_seconds', {}) ?? 0;
  assert.equal(Math.round(ended - made), 3_600);
  assert.equal(ended - (sampleOf(samples, 'ibid_wal_stored_until_timestamp_seconds', {}) ?? 0) > 3_590, true);
  assert.equal(sampleOf(samples, 'ibid_wal_needs_base_backup', {}), 1, 'the gap is newer than the base backup');
  assert.equal(sampleOf(samples, 'ibid_backup_last_outcome', { outcome: 'succeeded' }), 1);
  assert.equal(sampleOf(samples, 'ibid_backup_last_outcome', { outcome: 'failed' }), 0);
});
