import type { PoolConfig } from 'pg';
import type { Round } from './http-load.ts';
import type { Load } from './load.ts';
import { median } from './median.ts';
import { cpuOf } from './processes.ts';
import type { Measured } from './requests.ts';

/** Medians over the rounds. */
export interface Comparison {
  name: string;
  connections: number;
  service: Figures;
  straight: Figures;
  ratio: number;
}

interface Figures {
  per_second: number;
  p50_ms: number;
  p99_ms: number;
  /**
   * CPU time per request of Node (the service, or the driver of the direct statements) and of all PostgreSQL processes.
   */
  node_ms: number;
  postgres_ms: number;
}

const WARM_UP_MS = 300;

interface CompareOptions {
  service: { pid: number; port: number };
  connection: PoolConfig;
  pool: number;
  rounds: number;
  round_ms: number;
}

/**
 * Measures one kind of request: short rounds of the service and of its statement in turns, so that both run under the
 * same conditions.
 */
export async function besideStatement(
  load: Load,
  { name, calls }: Measured,
  connections: number,
  options: CompareOptions,
): Promise<Comparison> {
  const { service, connection, pool, rounds, round_ms } = options;
  await load.order({ kind: 'calls', port: service.port, connection, pool, calls });
  // Warm up both, so that the code is compiled before the measurement.
  for (const kind of ['service', 'straight'] as const) await load.order({ kind, width: 16, ms: WARM_UP_MS });
  const taken: { service: Sample[]; straight: Sample[] } = { service: [], straight: [] };
  for (let i = 0; i < rounds; i += 1) {
    for (const kind of i % 2 === 0 ? (['service', 'straight'] as const) : (['straight', 'service'] as const)) {
      const before = [cpuOf(service.pid), cpuOf(load.pid)] as const;
      const round = await load.order({ kind, width: connections, ms: round_ms });
      const after = [cpuOf(service.pid), cpuOf(load.pid)] as const;
      const node = kind === 'service' ? 0 : 1;
      if (!round) throw new Error('the load process returned no figures');
      taken[kind].push({
        round,
        node_ms: after[node].own_ms - before[node].own_ms,
        postgres_ms: after[0].children_ms - before[0].children_ms,
      });
    }
  }
  const figures = { service: figuresOf(taken.service), straight: figuresOf(taken.straight) };
  const ratios = taken.service.map(({ round }, i) => {
    return round.per_second / (taken.straight[i]?.round.per_second ?? Number.NaN);
  });
  return { name, connections, ...figures, ratio: median(ratios) };
}

interface Sample {
  round: Round;
  node_ms: number;
  postgres_ms: number;
}

function figuresOf(samples: readonly Sample[]): Figures {
  // /proc counts in ticks of 10 ms, so CPU time is summed over all rounds before it is divided.
  const requests = sum(samples.map(({ round }) => round.requests));
  return {
    per_second: median(samples.map(({ round }) => round.per_second)),
    p50_ms: median(samples.map(({ round }) => round.p50_ms)),
    p99_ms: median(samples.map(({ round }) => round.p99_ms)),
    node_ms: sum(samples.map((sample) => sample.node_ms)) / requests,
    postgres_ms: sum(samples.map((sample) => sample.postgres_ms)) / requests,
  };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
