import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HERE } from './revisions/checkout.ts';
import { inTurns } from './revisions/compare-revisions.ts';
import { type MeasuredService, openMeasured } from './revisions/measured-service.ts';

/** What traces cost: CPU time of a request with OTEL_EXPORTER_OTLP_ENDPOINT and without, in turns of a second. */
const CORPUS = { pages: 500, page_bytes: 4_000 };
const ROUNDS = { rounds: Number(process.env.ROUNDS || 16), round_ms: 1_000 };
const CONNECTIONS = 16;
/** The share of the requests that is traced. TRACES: one of them alone; 0.1 is what the option has unless set. */
const SHARES = Object.entries({ '1': 'all', '0.1': 'a tenth' }).filter(([share]) =>
  [undefined, share].includes(process.env.TRACES),
);
const READS = ['page by id', 'members'];

let received = 0;
const receiver = createServer((request, response) => {
  request.on('data', (chunk: Buffer) => {
    received += chunk.length;
  });
  request.on('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'));
});
await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
const { port } = receiver.address() as AddressInfo;
const folder = await mkdtemp(join(tmpdir(), 'ibid-bench-traces-'));
const services: MeasuredService[] = [];
try {
  const off = await openMeasured(HERE, join(folder, 'off'), CORPUS);
  services.push(off);
  // By IP address, so that nothing but the service looks names up.
  const traced = { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` };
  for (const [share, name] of SHARES) {
    const env = { ...traced, OTEL_TRACES_SAMPLER_ARG: share };
    const on = await openMeasured(HERE, join(folder, `on-${share}`), CORPUS, [], env);
    services.push(on);
    console.log(`\nOf ${name} of the requests, ${CONNECTIONS} connections; CPU ms of a request, Node + PostgreSQL`);
    for (const read of off.requests.filter((one) => READS.includes(one.name))) {
      const begun = received;
      await off.choose(read);
      await on.choose(on.requests.find((one) => one.name === read.name) ?? read);
      const { here, other, median, low, high } = await inTurns(off, on, CONNECTIONS, ROUNDS);
      const figures = [other, here].map((one) => `${one.node_ms.toFixed(3)} + ${one.postgres_ms.toFixed(3)}`);
      console.log(
        `${read.name.padEnd(20)} ${figures.join('  ->  ')}   ${median.toFixed(3)} (${low.toFixed(3)} to ${high.toFixed(3)}), ${Math.round((received - begun) / 2 ** 20)} MiB sent`,
      );
    }
    await services.pop()?.stop();
  }
} finally {
  for (const service of services) await service.stop();
  receiver.close();
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
}
