import { fork } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { openApi } from './api.ts';
import { generatePages } from './corpus.ts';
import { fillWiki } from './isolation/fill-wiki.ts';
import { makeTeam } from './isolation/make-team.ts';
import type { Answers, Order } from './isolation/misbehave.process.ts';
import { MISBEHAVIOURS, type Misbehaviour } from './isolation/misbehaviours.ts';
import { KINDS, type Kind, type Measured, openVictim, type Round } from './isolation/victim.ts';
import { cpuOf, memoryOf } from './processes.ts';
import { makeKeyFor } from './service-process.ts';
import { startBench } from './start-bench.ts';

/**
 * Measures the effect of one tenant on another. For each misbehaviour a new service is started, in which one tenant
 * works alone, and then while another misbehaves. The misbehaving tenant is a process of its own; this process is the
 * tenant that works.
 */
const USAGE = `Usage: npm run bench -- isolation [options]
  --pages 100000   pages of the wikis of misbehaviours that are about many pages
  --seconds 15     how long the tenant is measured, alone and beside the other
  --only TEXT      only the misbehaviours whose name holds the text; several with commas between
  --limits on      with the service's rate limits, as it is shipped; by default without
  --json FILE      writes the figures
  --short          3 seconds and 5,000 pages
`;

/** From the start of a misbehaviour to the measurement. */
const WARM_UP_MS = 2_000;
const VICTIM_PAGES = 300;
/** With rate limits the measured tenant is a team, so that each member stays within the limits of a person. */
const MEMBERS = 20;
/** Aims: a p99 under misbehaviour as a multiple of the p99 without. */
const AIMS: Record<Kind, number> = { read: 2, search: 2, save: 3, preview: 3, upload: 3 };
const MEMORY_AIM_MB = 600;

interface Row {
  name: string;
  idle: Round;
  under: Round;
  answers: Answers;
  peak: Peak;
  /** Seconds of CPU per second. */
  cpu: { service: number; offender: number };
  hasLived: boolean;
}

interface Peak {
  rss_mb: number;
  pss_mb: number;
  /** At the peak of pss_mb. */
  programs: [name: string, pss_mb: number][];
}

const options = readOptions();
const rows: Row[] = [];
console.log(
  `${cpus().length} × ${cpus()[0]?.model}, Node ${process.version}; rate limits ${options.limits}; the service, its PostgreSQL, the ` +
    `misbehaving process and the measuring one share ${cpus().length} cores`,
);
for (const misbehaviour of MISBEHAVIOURS.filter(({ name }) => options.only.some((part) => name.includes(part)))) {
  const row = await measure(misbehaviour);
  rows.push(row);
  printRow(row);
}
printMatrix();
if (options.json !== '') await writeFile(options.json, `${JSON.stringify(rows.map(figuresOf), undefined, 2)}\n`);

async function measure({ name, pages = 0 }: Misbehaviour): Promise<Row> {
  const { dataDir, service, api, wiki_id, stop } = await startBench({ RATE_LIMITS: options.limits });
  try {
    const files = generatePages({ from: 0, count: VICTIM_PAGES, bytes: 2_000 });
    await api.upload(wiki_id, files);
    const page_ids = (await api.get(`/v1/wikis/${wiki_id}/pages?limit=${VICTIM_PAGES}`)).map(
      (page: any) => page.page_id,
    );
    const tokens = [api.token, ...(await makeTeam(dataDir, wiki_id, options.limits === 'on' ? MEMBERS : 0))];
    const victim = openVictim(service.address, { tokens, isLimited: options.limits === 'on' }, wiki_id, page_ids);
    const token = await makeKeyFor(dataDir, 'offender@example.com');
    const { workspace, overview } = await openApi(service.address, token).post('/v1/onboarding');
    const theirs = { workspace_id: workspace.workspace_id, wiki_id: overview.wikis[0].wiki_id };
    if (pages > 0) await fillWiki(dataDir, theirs.wiki_id, Math.ceil(pages * options.pages));

    await victim.run(WARM_UP_MS);
    const idle = await victim.run(options.seconds * 1_000);
    const offender = startOffender({ kind: 'begin', name, address: service.address, token, ...theirs });
    const memory = watchMemory(service.pid);
    const [before, began] = [
      { service: sum(cpuOf(service.pid)), offender: sum(cpuOf(offender.pid)) },
      performance.now(),
    ];
    await victim.run(WARM_UP_MS);
    const under = await victim.run(options.seconds * 1_000);
    const hasLived = isAlive(service.pid);
    const seconds = (performance.now() - began) / 1_000;
    const cpu = {
      service: hasLived ? (sum(cpuOf(service.pid)) - before.service) / 1_000 / seconds : Number.NaN,
      offender: (sum(cpuOf(offender.pid)) - before.offender) / 1_000 / seconds,
    };
    return { name, idle, under, answers: await offender.stop(), peak: memory.stop(), cpu, hasLived };
  } finally {
    await stop();
  }
}

function sum({ own_ms, children_ms }: { own_ms: number; children_ms: number }): number {
  return own_ms + children_ms;
}

function isAlive(pid: number): boolean {
  try {
    cpuOf(pid);
    return true;
  } catch {
    return false;
  }
}

/** Starts the misbehaving process. `stop` ends it and returns the answers it got. */
function startOffender(order: Order) {
  const child = fork(fileURLToPath(new URL('./isolation/misbehave.process.ts', import.meta.url)));
  child.send(order);
  return {
    pid: child.pid ?? 0,
    async stop(): Promise<Answers> {
      if (child.exitCode !== null) throw new Error('the misbehaving process ended: see what it wrote');
      const told = once(child, 'message');
      child.send({ kind: 'stop' } satisfies Order);
      const [answers] = (await told) as [Answers];
      return answers;
    },
  };
}

/** Watches the memory of the service and all its processes, once a second, and keeps the peak. */
function watchMemory(pid: number) {
  const peak: Peak = { rss_mb: 0, pss_mb: 0, programs: [] };
  const watch = setInterval(() => {
    if (!isAlive(pid)) return;
    const { rss_mb, pss_mb, programs } = memoryOf(pid);
    peak.rss_mb = Math.max(peak.rss_mb, rss_mb);
    if (pss_mb > peak.pss_mb) Object.assign(peak, { pss_mb, programs });
  }, 1_000);
  return {
    stop() {
      clearInterval(watch);
      return peak;
    },
  };
}

function p99({ latencies_ms }: Measured): number {
  const sorted = latencies_ms.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * 0.99))] ?? Number.NaN;
}

function ratio({ idle, under }: Row, kind: Kind): number {
  return p99(under[kind]) / p99(idle[kind]);
}

/** Returns a row with p99s instead of latencies. */
function figuresOf({ name, idle, under, ...rest }: Row) {
  const kinds = KINDS.map((kind) => {
    const { refused, lost } = under[kind];
    return [kind, { idle_p99_ms: p99(idle[kind]), under_p99_ms: p99(under[kind]), refused, lost }];
  });
  return { name, ...Object.fromEntries(kinds), ...rest };
}

function printRow(row: Row): void {
  const { name, idle, under, answers, peak, cpu, hasLived } = row;
  const statuses = Object.entries(answers).map(
    ([status, count]) => `${status === '0' ? 'no answer' : status}: ${count}`,
  );
  console.log(
    `\n${name}: ${hasLived ? 'the process lived' : 'THE PROCESS DIED'}; peak ${Math.round(peak.pss_mb)} MB PSS, ${Math.round(peak.rss_mb)} MB RSS ` +
      `(aim ${MEMORY_AIM_MB}): ${peak.programs.map(([program, mb]) => `${program} ${Math.round(mb)}`).join(', ')}; CPU ${cpu.service.toFixed(2)} of the service, ${cpu.offender.toFixed(2)} of the misbehaving process; it was answered ${statuses.join(', ')}`,
  );
  for (const kind of KINDS) {
    console.log(
      `  ${kind.padEnd(8)} p99 ${ms(p99(idle[kind]))} idle, ${ms(p99(under[kind]))} under it, ratio ${ratio(row, kind).toFixed(1).padStart(6)} (aim ${AIMS[kind]}); ` +
        `${under[kind].latencies_ms.length} of ${idle[kind].latencies_ms.length} requests, ${under[kind].refused} refused, ${under[kind].lost} lost`,
    );
  }
}

function printMatrix(): void {
  console.log(
    `\n${'p99 ms (times idle)'.padEnd(28)}${KINDS.map((kind) => kind.padStart(18)).join('')}   peak PSS, RSS MB   lived\n` +
      '+n: requests that were refused or lost',
  );
  for (const row of rows) {
    const cells = KINDS.map((kind) => {
      const failed = row.under[kind].refused + row.under[kind].lost;
      const times = `${Math.round(p99(row.under[kind]))} (${ratio(row, kind).toFixed(1)})`;
      return `${times}${failed > 0 ? ` +${failed}` : ''}`.padStart(18);
    });
    const memory = `${Math.round(row.peak.pss_mb)}, ${Math.round(row.peak.rss_mb)}`.padStart(18);
    console.log(`${row.name.padEnd(28)}${cells.join('')}${memory}   ${row.hasLived ? 'yes' : 'NO'}`);
  }
  const all = rows.flatMap((row) => KINDS.map((kind) => ({ row, kind })));
  const good = all.filter(({ row, kind }) => {
    const { refused, lost } = row.under[kind];
    return ratio(row, kind) <= AIMS[kind] && refused + lost === 0;
  });
  console.log(
    `\n${good.length} of ${all.length} cells reach their aim (${AIMS.read}× for reads and searches, ${AIMS.save}× for the rest, none refused or lost).`,
  );
}

function ms(value: number): string {
  return `${value.toFixed(1).padStart(8)} ms`;
}

function readOptions() {
  const { values } = parseArgs({
    options: {
      pages: { type: 'string' },
      seconds: { type: 'string' },
      only: { type: 'string', default: '' },
      limits: { type: 'string', default: 'off' },
      json: { type: 'string', default: '' },
      short: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    process.stdout.write(USAGE);
    process.exit(0);
  }
  return {
    pages: Number(values.pages ?? (values.short ? 5_000 : 100_000)),
    seconds: Number(values.seconds ?? (values.short ? 3 : 15)),
    only: values.only.split(','),
    limits: values.limits,
    json: values.json,
  };
}
