import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { runningPostgres } from '@ibid/postgres-server/running.ts';
import { QUOTA_NAMES } from '../src/platform/core/quotas.ts';
import { type Counts, countCosts } from './growth/count-costs.ts';
import { fillService, type Size } from './growth/fill-service.ts';
import { type Grown, type Measured, READS, WRITES } from './growth/requests.ts';
import { median } from './median.ts';
import { cpuOf } from './processes.ts';
import { type Bench, startBench } from './start-bench.ts';

const USAGE = `Usage: npm run bench -- growth [options]
  --pages 100000    of the wiki in the large services
  --wikis 10000     of others in the largest
  --members 10000   of the workspace in the largest
  --audit 1000000   audit records of the workspace in the largest
  --rounds 4        rounds of each request, in turns of the services
  --round-ms 400    how long each lasts
  --counts          rows and shared buffers of each request instead of CPU time, in the small and the largest service
  --only TEXT       only the requests whose name holds the text
  --json FILE       writes the figures
`;

const SMALL: Size = { pages: 1_000, wikis: 3, members: 10, audit_records: 1_000 };
/** Unlimited, because the quotas of a workspace would stop the fill. */
const WORKSPACE_LIMITS = QUOTA_NAMES.map((name) => `${name}=unlimited`).join(',');

/** CPU time of a request in ms: of Node, and of PostgreSQL with all other child processes of the service. */
type Cpu = [node: number, postgres: number];

const options = readOptions();
const sizes: Record<string, Size> = {
  small: SMALL,
  // A few large tenants, as on a self-hosted service. PostgreSQL chooses other plans for them than for many tenants.
  'one large': { ...SMALL, pages: options.pages },
  'all large': options,
};
const benches: Bench[] = [];
if (options.counts) {
  await count();
  process.exit();
}
try {
  const grown: Grown[] = [];
  for (const [name, size] of Object.entries(sizes)) grown.push(await open(name, size));
  console.log(`\n${'CPU, ms (Node + PostgreSQL)'.padEnd(34)}${grown.map(({ name }) => name.padEnd(24)).join('')}`);
  const rows: { name: string; cpu: Cpu[] }[] = [];
  for (const [name, request] of Object.entries({ ...READS, ...WRITES })) {
    if (!name.includes(options.only)) continue;
    const cpu = await measure(grown, request);
    rows.push({ name, cpu });
    console.log(`${name.padEnd(34)}${cpu.map((each) => inWords(each, cpu[0] ?? each).padEnd(24)).join('')}`);
  }
  if (options.json !== '') await writeFile(options.json, `${JSON.stringify({ sizes, rows }, undefined, 2)}\n`);
} finally {
  for (const bench of benches) await bench.stop();
}

/** Prints the costs that do not depend on the machine. */
async function count(): Promise<void> {
  const requests = Object.fromEntries(
    Object.entries({ ...READS, ...WRITES }).filter(([name]) => name.includes(options.only)),
  );
  const small = await countCosts(SMALL, requests, { WORKSPACE_LIMITS });
  const large = await countCosts(options, requests, { WORKSPACE_LIMITS });
  console.log(`${'rows, shared buffers'.padEnd(34)}${'small'.padEnd(20)}all large`);
  const inWords = (name: string, counts: Counts) => `${counts.get(name)?.rows}, ${counts.get(name)?.buffers}`;
  for (const name of Object.keys(requests))
    console.log(`${name.padEnd(34)}${inWords(name, small).padEnd(20)}${inWords(name, large)}`);
  if (options.json !== '')
    await writeFile(options.json, `${JSON.stringify({ small: [...small], large: [...large] }, undefined, 2)}\n`);
}

/** Starts a service and fills it. It runs until the end, so that the services can be measured in turns. */
async function open(name: string, size: Size): Promise<Grown> {
  const began = performance.now();
  const bench = await startBench({ WORKSPACE_LIMITS });
  benches.push(bench);
  const { session } = await bench.api.get('/v1/overview');
  const filled = { workspace_id: session.organization_id, wiki_id: bench.wiki_id, user_id: session.user.user_id };
  const connection = runningPostgres(bench.dataDir);
  if (!connection) throw new Error('the service runs no PostgreSQL of its own: unset DATABASE_URL');
  await fillService(connection, size, filled);
  const { pages, wikis, members, audit_records } = size;
  console.log(
    `${name}: ${pages} pages, ${wikis} other wikis, ${members} members, ${audit_records} audit records, filled in ` +
      `${Math.round((performance.now() - began) / 1000)} s`,
  );
  return { ...filled, name, pid: bench.service.pid, address: bench.api.address, token: bench.api.token };
}

/** Returns the medians of each service's rounds, run in the order ABBA. */
async function measure(grown: readonly Grown[], request: Measured): Promise<Cpu[]> {
  for (const to of grown) for (let i = 0; i < 10; i += 1) await request(to);
  const taken = new Map<Grown, Cpu[]>(grown.map((to) => [to, []]));
  for (let round = 0; round < options.rounds; round += 1) {
    for (const to of round % 2 === 0 ? grown : grown.toReversed()) taken.get(to)?.push(await runRound(to, request));
  }
  return grown.map((to) => {
    const rounds = taken.get(to) ?? [];
    return [median(rounds.map(([node]) => node)), median(rounds.map(([, postgres]) => postgres))];
  });
}

async function runRound(to: Grown, request: Measured): Promise<Cpu> {
  const before = cpuOf(to.pid);
  const end = performance.now() + options.round_ms;
  let requests = 0;
  for (; requests === 0 || performance.now() < end; requests += 1) await request(to);
  const after = cpuOf(to.pid);
  return [(after.own_ms - before.own_ms) / requests, (after.children_ms - before.children_ms) / requests];
}

function inWords([node, postgres]: Cpu, [smallNode, smallPostgres]: Cpu): string {
  const ratio = (node + postgres) / (smallNode + smallPostgres);
  return `${node.toFixed(2)} + ${postgres.toFixed(2)} (${ratio.toFixed(2)})`;
}

function readOptions() {
  const { values } = parseArgs({
    options: {
      pages: { type: 'string', default: '100000' },
      wikis: { type: 'string', default: '10000' },
      members: { type: 'string', default: '10000' },
      audit: { type: 'string', default: '1000000' },
      rounds: { type: 'string', default: '4' },
      'round-ms': { type: 'string', default: '400' },
      counts: { type: 'boolean', default: false },
      only: { type: 'string', default: '' },
      json: { type: 'string', default: '' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    process.stdout.write(USAGE);
    process.exit(0);
  }
  return {
    pages: Number(values.pages),
    wikis: Number(values.wikis),
    members: Number(values.members),
    audit_records: Number(values.audit),
    rounds: Number(values.rounds),
    round_ms: Number(values['round-ms']),
    counts: values.counts,
    only: values.only,
    json: values.json,
  };
}
