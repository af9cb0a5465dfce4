import { Gauge, type Registry } from 'prom-client';
import type { Query } from '../../../platform/db/db.ts';
import { sql } from '../../../platform/db/sql.ts';
import { sharedRead } from './shared-read.ts';

/** Number of workspaces with their own metrics: the workspaces that store the most. */
const LARGEST = 20;

const READ_TIMEOUT_MS = 2_000;

interface UsageMetric {
  /** "" for the sum over all workspaces. */
  workspace_id: string;
  name: string;
  used: number;
}

/** Registers the usage of all workspaces together and of the largest ones. `query` must have the service's rights. */
export function addUsageMetrics(registry: Registry, query: Query, onFailed: (error: unknown) => void): void {
  const largest = () => query<UsageMetric>(sql`select workspace_id, name, used from usage_of_all(${LARGEST}::int)`);
  const read = sharedRead(largest, READ_TIMEOUT_MS, onFailed);
  async function measure(set: (metric: UsageMetric) => void): Promise<void> {
    for (const metric of (await read()) ?? []) set(metric);
  }
  new Gauge({
    name: 'ibid_usage',
    help: 'Usage of all workspaces together, by quota.',
    labelNames: ['name'],
    registers: [registry],
    async collect() {
      this.reset();
      await measure(({ workspace_id, name, used }) => workspace_id === '' && this.set({ name }, used));
    },
  });
  new Gauge({
    name: 'ibid_workspace_usage',
    help: `Usage of the ${LARGEST} workspaces that store the most, by quota.`,
    labelNames: ['workspace_id', 'name'],
    registers: [registry],
    async collect() {
      this.reset();
      await measure(({ workspace_id, name, used }) => workspace_id !== '' && this.set({ workspace_id, name }, used));
    },
  });
}
