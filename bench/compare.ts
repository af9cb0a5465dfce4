import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { median } from './median.ts';
import { memoryOf } from './processes.ts';
import { checkOut, HERE } from './revisions/checkout.ts';
import { type MeasuredService, openMeasured, type Slice } from './revisions/measured-service.ts';
import { type Ratio, ratioOf } from './revisions/ratio.ts';

const USAGE = `Usage: npm run bench -- --compare REVISION [options]
  REVISION              of this repository, or the folder of another checkout with its packages
  --pages 2000          pages of the wiki that is read
  --page-bytes 4000     size of each
  --rounds 16           rounds of each revision, in turns
  --round-ms 1000       how long each lasts
  --connections 1,16    connections to measure with
  --only TEXT           only the requests whose name contains one of these, with commas between; without memory
  --json FILE           writes the figures
`;

/** Medians of the CPU time of a request in both revisions, and of the ratio here / there. */
interface Row extends Ratio {
  name: string;
  connections: number;
  other: Cpu;
  here: Cpu;
}

type Cpu = Pick<Slice, 'node_ms' | 'postgres_ms'>;

const WARM_UP_MS = 1_000;
/** Longer than the service keeps idle connections and processes. */
const IDLE_MS = 40_000;

const options = readOptions();
const folder = await mkdtemp(join(tmpdir(), 'ibid-bench-'));
try {
  await compareRevisions();
} finally {
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
}

/**
 * Measures this checkout against another revision. Both services run at the same time on the same data, and take turns
 * of about a second in the order ABBA, so that other load on the machine affects both. Compares CPU time, not wall
 * time.
 */
async function compareRevisions(): Promise<void> {
  const checkout = await checkOut(options.revision, join(folder, 'checkout'));
  const services: MeasuredService[] = [];
  try {
    for (const [name, root] of Object.entries({ other: checkout.root, here: HERE })) {
      services.push(await openMeasured(root, join(folder, name), options));
    }
    const [other, here] = services as [MeasuredService, MeasuredService];
    console.log(
      `Here: this checkout. There: ${checkout.commit}. ${options.pages} pages of ${options.page_bytes} bytes.\n`,
    );
    const rows = await measureRows(other, here);
    // A run of selected rows only shows the effect of a change on them, so it skips the memory.
    const memory = options.only === '' ? await measureMemory(other, here) : undefined;
    const figures = JSON.stringify({ revision: checkout.commit, rows, memory }, undefined, 2);
    if (options.json !== '') await writeFile(options.json, `${figures}\n`);
  } finally {
    for (const service of services) await service.stop();
    await checkout.discard();
  }
}

async function measureMemory(other: MeasuredService, here: MeasuredService) {
  await delay(IDLE_MS);
  const memory = { other_mb: memoryOf(other.pid).pss_mb, here_mb: memoryOf(here.pid).pss_mb };
  console.log(
    `\nMemory idle for ${IDLE_MS / 1000} s (PSS, with PostgreSQL): ${Math.round(memory.other_mb)} MB there, ` +
      `${Math.round(memory.here_mb)} MB here, ${(memory.here_mb / memory.other_mb).toFixed(2)}`,
  );
  return memory;
}

async function measureRows(other: MeasuredService, here: MeasuredService): Promise<Row[]> {
  console.log(
    `${'CPU ms (Node + PG) of a'.padEnd(24)} conn         there          here   ratio  95 % interval   significant`,
  );
  const rows: Row[] = [];
  for (const connections of options.connections) {
    for (const [i, measured] of other.requests.entries()) {
      if (!options.only.split(',').some((only) => measured.name.includes(only))) continue;
      await other.choose(measured);
      await here.choose(here.requests[i] ?? measured);
      const row = { name: measured.name, connections, ...(await inTurns(other, here, connections)) };
      rows.push(row);
      print(row);
    }
  }
  return rows;
}

/** Measures the chosen request in turns at both services. */
async function inTurns(other: MeasuredService, here: MeasuredService, connections: number) {
  const { rounds, round_ms } = options;
  for (const service of [other, here]) await service.slice(connections, WARM_UP_MS);
  const taken = new Map<MeasuredService, Slice[]>([
    [other, []],
    [here, []],
  ]);
  for (let i = 0; i < rounds; i += 1) {
    for (const service of i % 2 === 0 ? [other, here] : [here, other]) {
      taken.get(service)?.push(await service.slice(connections, round_ms));
    }
  }
  const [there = [], own = []] = taken.values();
  const ratios = own.map((slice, i) => totalOf(slice) / totalOf(there[i]));
  return { other: medianOf(there), here: medianOf(own), ...ratioOf(ratios) };
}

function totalOf(slice: Slice | undefined): number {
  return slice ? slice.node_ms + slice.postgres_ms : Number.NaN;
}

function medianOf(slices: readonly Slice[]): Cpu {
  return {
    node_ms: median(slices.map(({ node_ms }) => node_ms)),
    postgres_ms: median(slices.map(({ postgres_ms }) => postgres_ms)),
  };
}

function print({ name, connections, other, here, median: ratio, low, high, is_significant }: Row): void {
  const change = is_significant ? (ratio > 1 ? 'more' : 'less') : '';
  const shown = ({ node_ms, postgres_ms }: Cpu) => `${node_ms.toFixed(2)} + ${postgres_ms.toFixed(2)}`.padStart(13);
  console.log(
    `${name.padEnd(24)} ${String(connections).padStart(4)} ${shown(other)} ${shown(here)} ` +
      `${ratio.toFixed(3).padStart(7)}  ${low.toFixed(3)} to ${high.toFixed(3)}  ${change}`.trimEnd(),
  );
}

function readOptions() {
  const { values, positionals } = parseArgs({
    options: {
      pages: { type: 'string', default: '2000' },
      'page-bytes': { type: 'string', default: '4000' },
      rounds: { type: 'string', default: '16' },
      'round-ms': { type: 'string', default: '1000' },
      connections: { type: 'string', default: '1,16' },
      only: { type: 'string', default: '' },
      json: { type: 'string', default: '' },
      help: { type: 'boolean', default: false },
    },
    allowPositionals: true,
  });
  const [revision] = positionals;
  if (values.help || revision === undefined) {
    process.stdout.write(USAGE);
    process.exit(values.help ? 0 : 1);
  }
  return {
    revision,
    pages: Number(values.pages),
    page_bytes: Number(values['page-bytes']),
    rounds: Number(values.rounds),
    round_ms: Number(values['round-ms']),
    connections: values.connections.split(',').map(Number),
    only: values.only,
    json: values.json,
  };
}
