import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { cpuByProgram } from './processes.ts';
import { printTable, tablesOf } from './profiling/call-table.ts';
import { flameGraph } from './profiling/flame-graph.ts';
import { type Call, type Inspected, inspect } from './profiling/inspector.ts';
import { openPlaces } from './profiling/places.ts';
import { HERE } from './revisions/checkout.ts';
import { type MeasuredService, openMeasured } from './revisions/measured-service.ts';

const USAGE = `Usage: npm run profile -- REQUEST [options]
  REQUEST             what is sent: page-by-id (or page-read), pages,-first-50, workspaces, search, edit, …
  --connections 16    with how many connections
  --seconds 6         how long each profile takes
  --pages 1000        pages of the wiki
  --lines 30          functions in the table
  --root FOLDER       another checkout, with its packages
  --out FOLDER        where the graphs and the profile are written (profile/ in the temporary folder)
`;

const options = readOptions();
const folder = await mkdtemp(join(tmpdir(), 'ibid-profile-'));
const placeOf = openPlaces();
let service: MeasuredService | undefined;
try {
  const port = await freePort();
  service = await openMeasured(options.root, folder, { pages: options.pages, page_bytes: 4_000 }, [
    `--inspect=127.0.0.1:${port}`,
  ]);
  await profile(service, port);
} finally {
  await service?.stop();
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
}

async function profile(measured: MeasuredService, port: number): Promise<void> {
  const { name, out, connections, seconds } = options;
  const chosen = measured.requests.find((request) => nameOf(request.name) === name);
  if (!chosen) throw new Error(`there is no ${name}: ${measured.requests.map((each) => nameOf(each.name)).join(', ')}`);
  await measured.choose(chosen);
  // The code is compiled first, and what is measured without a profiler is what it costs.
  await measured.slice(connections, 3_000);
  const before = cpuByProgram(measured.pid);
  const { requests } = await measured.slice(connections, seconds * 1_000);
  const spent = [...cpuByProgram(measured.pid)].map(([program, ms]) => ({
    program,
    us: (1_000 * (ms - (before.get(program) ?? 0))) / requests,
  }));
  console.log(`${chosen.name}: ${requests} requests with ${connections} connection(s). CPU µs of a request:`);
  for (const { program, us } of spent.toSorted((a, b) => b.us - a.us)) {
    if (us > 0) console.log(`  ${program.padEnd(20)} ${us.toFixed(1).padStart(9)}`);
  }
  const inspected = await inspect(port);
  await mkdir(out, { recursive: true });
  await profileCpu(measured, inspected, spent.find(({ program }) => program === 'service')?.us ?? 0);
  await profileAllocations(measured, inspected);
  inspected.close();
}

async function profileCpu(measured: MeasuredService, inspected: Inspected, perRequest: number): Promise<void> {
  const { connections, seconds } = options;
  const { calls, profile } = await inspected.cpu(async () => void (await measured.slice(connections, seconds * 1_000)));
  await report('cpu', calls, perRequest, 'CPU µs');
  await writeFile(join(options.out, `${options.name}.cpuprofile`), JSON.stringify(profile));
}

async function profileAllocations(measured: MeasuredService, inspected: Inspected): Promise<void> {
  const { connections, seconds } = options;
  let requests = 0;
  const calls = await inspected.allocations(async () => {
    ({ requests } = await measured.slice(connections, seconds * 1_000));
  });
  await report('allocations', calls, tablesOf(calls, placeOf).total / requests, 'bytes');
}

async function report(kind: string, calls: Call, perRequest: number, unit: string): Promise<void> {
  const { name, out, lines: count } = options;
  const { functions, places, total } = tablesOf(calls, placeOf);
  printTable(`${kind} of a request, by file or package`, places, { total, perRequest, unit, count: 20 });
  printTable(`${kind} of a request, by function`, functions, { total, perRequest, unit, count });
  const file = join(out, `${name}-${kind}.svg`);
  await writeFile(file, flameGraph(calls, placeOf, `${name}: ${kind}, ${perRequest.toFixed(1)} ${unit} a request`));
  console.log(`\nFlame graph: ${file}`);
}

function nameOf(request: string): string {
  return request.replaceAll(' ', '-');
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as { port: number };
  await new Promise((closed) => server.close(closed));
  return port;
}

function readOptions() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      connections: { type: 'string', default: '16' },
      seconds: { type: 'string', default: '6' },
      pages: { type: 'string', default: '1000' },
      lines: { type: 'string', default: '30' },
      root: { type: 'string', default: HERE },
      out: { type: 'string', default: join(tmpdir(), 'profile') },
      help: { type: 'boolean', default: false },
    },
  });
  const [name] = positionals;
  if (values.help || name === undefined) {
    process.stdout.write(USAGE);
    process.exit(values.help ? 0 : 1);
  }
  return {
    name: name === 'page-read' ? 'page-by-id' : name,
    connections: Number(values.connections),
    seconds: Number(values.seconds),
    pages: Number(values.pages),
    lines: Number(values.lines),
    root: resolve(values.root),
    out: resolve(values.out),
  };
}
