import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { cpus, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { runningPostgres } from '@ibid/postgres-server/running.ts';
import { OPTIONS } from '../src/operation/config/options.ts';
import { type Api, listAll, openApi } from './api.ts';
import { generatePages, shortPages } from './corpus.ts';
import { startLoad } from './load.ts';
import { type Memory, memoryOf } from './processes.ts';
import { captureRequests } from './requests.ts';
import { makeKeyFor, type ServiceProcess, startServiceProcess } from './service-process.ts';
import { untilSettled } from './settled.ts';
import { measureStarts } from './starts.ts';
import { besideStatement, type Comparison } from './straight.ts';

const USAGE = `Usage: npm run bench -- reads [options]
  --pages 10000         pages of the wiki that is read (in uploads of 1,000 files)
  --page-bytes 4000     size of each
  --rounds 5            rounds of the service and of its statement, in turns
  --round-ms 400        how long each lasts
  --connections 1,16    connections to measure with
  --only TEXT           only the reads whose name contains the text
  --starts 3            first starts to take the median of
  --service-flags TEXT  flags of Node for the measured service, given as --service-flags="--cpu-prof --cpu-prof-dir=/tmp/p"
  --short               1,000 pages, one start, 3 rounds of 250 ms
  --json FILE           writes the figures
`;

const UPLOAD_FILES = 1_000;
/** Longer than the service keeps idle connections and threads. */
const IDLE_MS = 40_000;

const options = readOptions();
const folder = await mkdtemp(join(tmpdir(), 'ibid-bench-'));
let service: ServiceProcess | undefined;
const load = startLoad();
try {
  await run();
} finally {
  load.close();
  await service?.stop();
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
}

async function run(): Promise<void> {
  const began = performance.now();
  console.log(`${cpus().length} × ${cpus()[0]?.model}, ${gib(totalmem())}, Node ${process.version}`);
  const dataDir = join(folder, 'data');
  // The last folder is kept for the other benchmarks.
  const { first_ms, next_ms } = await measureStarts(dataDir, options.starts);
  console.log(`\nFirst start to /readyz  ${seconds(first_ms)}  (aim 4 s)`);
  console.log(`Next start to /readyz   ${seconds(next_ms)}  (aim 1.5 s)`);
  const started = await startServiceProcess(dataDir, options.service_flags);
  service = started;
  const connection = runningPostgres(dataDir);
  if (!connection) throw new Error('the service runs no PostgreSQL of its own: unset DATABASE_URL');

  const token = await makeKeyFor(dataDir, 'bench@example.com');
  const api = openApi(started.address, token);
  const { workspace, overview } = await api.post('/v1/onboarding');
  const { workspace_id } = workspace;
  const { wiki_id } = overview.wikis[0];
  await measureIngest(api, (await api.post(`/v1/workspaces/${workspace_id}/wikis`, { title: 'Short pages' })).wiki_id);
  await loadPages(api, wiki_id);
  for (let i = 0; i < 10; i += 1) {
    await api.post(`/v1/workspaces/${workspace_id}/members/invite`, {
      email: `guest-${i}@example.com`,
      role: 'member',
    });
  }
  console.log(await untilSettled(connection));

  const requests = await captureRequests(dataDir, { token, workspace_id, wiki_id });
  const pool = Number(OPTIONS.DATABASE_CONNECTIONS.fallback);
  const comparisons: Comparison[] = [];
  printHeader();
  for (const connections of options.connections) {
    for (const request of requests.filter(({ name }) => name.includes(options.only))) {
      const { rounds, round_ms } = options;
      const comparison = await besideStatement(load, request, connections, {
        service: started,
        connection: { ...connection },
        pool,
        rounds,
        round_ms,
      });
      comparisons.push(comparison);
      printComparison(comparison);
    }
  }
  // The connections of the direct statements do not belong to the service.
  load.close();
  await delay(500);
  const loaded = memoryOf(started.pid);
  printMemory('after the load', loaded);
  await delay(IDLE_MS);
  const idle = memoryOf(started.pid);
  printMemory(`idle for ${IDLE_MS / 1000} s`, idle);
  const figures = { first_ms, next_ms, reads: comparisons, memory: { loaded, idle } };
  if (options.json !== '') await writeFile(options.json, `${JSON.stringify(figures, undefined, 2)}\n`);
  const below = comparisons.filter(({ ratio }) => ratio < 0.5).length;
  console.log(`\nService / straight is 0.5 or more in ${comparisons.length - below} of ${comparisons.length} rows.`);
  console.log(`It took ${Math.round((performance.now() - began) / 1000)} s in all.`);
}

async function measureIngest(api: Api, wiki_id: string): Promise<void> {
  const files = shortPages();
  const count = Object.keys(files).length;
  const { seconds: took, receive_seconds } = await api.upload(wiki_id, files);
  const sources = await listAll(api, `/v1/wikis/${wiki_id}/sources`);
  const all = (await listAll(api, `/v1/wikis/${wiki_id}/pages`)) as { source_count: number }[];
  // A folder without a file of its own has a page without a source.
  const pages = all.filter((page) => page.source_count > 0);
  const contents = new Set(Object.values(files)).size;
  if (sources.length !== contents || pages.length !== count) {
    throw new Error(`${count} files became ${sources.length} sources and ${pages.length} pages: some were lost`);
  }
  console.log(
    `\n${count} short files: received in ${receive_seconds.toFixed(1)} s, ${Math.round(count / took)} pages/s from the answer ` +
      `to completed (aim 200); ${sources.length} sources, ${pages.length} pages`,
  );
}

async function loadPages(api: Api, wiki_id: string): Promise<void> {
  let receiving = 0;
  let working = 0;
  for (let from = 0; from < options.pages; from += UPLOAD_FILES) {
    const count = Math.min(UPLOAD_FILES, options.pages - from);
    const { receive_seconds, seconds: took } = await api.upload(
      wiki_id,
      generatePages({ from, count, bytes: options.page_bytes }),
    );
    receiving += receive_seconds;
    working += took;
  }
  console.log(
    `${options.pages} pages of ${options.page_bytes} bytes: received in ${receiving.toFixed(1)} s, ` +
      `${Math.round(options.pages / working)} pages/s from the answers to completed`,
  );
}

function printHeader(): void {
  console.log(
    `\n${'read'.padEnd(26)} conn  service/s straight/s ratio    p50 ms    p99 ms  straight p50   CPU ms (Node + PostgreSQL)`,
  );
}

function printComparison({ name, connections, service: ours, straight, ratio }: Comparison): void {
  const number = (value: number, width: number, digits: number) => value.toFixed(digits).padStart(width);
  console.log(
    `${name.padEnd(26)} ${number(connections, 4, 0)} ${number(ours.per_second, 10, 0)} ${number(straight.per_second, 10, 0)} ` +
      `${number(ratio, 5, 2)} ${number(ours.p50_ms, 9, 2)} ${number(ours.p99_ms, 9, 2)} ${number(straight.p50_ms, 13, 2)} ` +
      `${number(ours.node_ms + ours.postgres_ms, 8, 2)} (${ours.node_ms.toFixed(2)} + ${ours.postgres_ms.toFixed(2)})`,
  );
}

function printMemory(when: string, { pss_mb, rss_mb, own_pss_mb, processes }: Memory): void {
  console.log(
    `${when === 'after the load' ? '\n' : ''}Memory ${when}: ${Math.round(pss_mb)} MB PSS (Node ${Math.round(own_pss_mb)}), ` +
      `${Math.round(rss_mb)} MB RSS, ${processes} processes (aim 300 MB)`,
  );
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(2)} s`;
}

function gib(bytes: number): string {
  return `${(bytes / 2 ** 30).toFixed(0)} GiB`;
}

function readOptions() {
  const { values } = parseArgs({
    options: {
      pages: { type: 'string' },
      'page-bytes': { type: 'string', default: '4000' },
      rounds: { type: 'string' },
      'round-ms': { type: 'string' },
      connections: { type: 'string', default: '1,16' },
      only: { type: 'string', default: '' },
      starts: { type: 'string' },
      'service-flags': { type: 'string', default: '' },
      json: { type: 'string', default: '' },
      short: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    process.stdout.write(USAGE);
    process.exit(0);
  }
  const { short } = values;
  const usual = short ? { pages: 1_000, rounds: 3, round_ms: 250 } : { pages: 10_000, rounds: 5, round_ms: 400 };
  return {
    json: values.json,
    pages: Number(values.pages ?? usual.pages),
    page_bytes: Number(values['page-bytes']),
    rounds: Number(values.rounds ?? usual.rounds),
    round_ms: Number(values['round-ms'] ?? usual.round_ms),
    connections: values.connections.split(',').map(Number),
    only: values.only,
    starts: Number(values.starts ?? (short ? 1 : 3)),
    service_flags: values['service-flags'].split(' ').filter((flag) => flag !== ''),
  };
}
