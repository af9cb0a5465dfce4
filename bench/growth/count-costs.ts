import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '@ibid/postgres-server/postgres.ts';
import type { ClientConfig } from 'pg';
import { pino } from 'pino';
import { makeKey } from '../../src/operation/cli/key.ts';
import { readConfig } from '../../src/operation/config.ts';
import { startService } from '../../src/operation/service/start-service.ts';
import { openDb } from '../../src/platform/db/db.ts';
import { raw, sql } from '../../src/platform/db/sql.ts';
import { addressOf } from '../../test/database-address.ts';
import type { RunPlan } from '../../test/plans.ts';
import { observePlans, readIn } from '../../test/request-costs.ts';
import { openApi } from '../api.ts';
import { fillService, type Size } from './fill-service.ts';
import type { Grown, Measured } from './requests.ts';

/** Costs of the third request of each kind, by the name of the request. */
export type Counts = Map<string, { rows: number; buffers: number }>;

/**
 * Counts the rows and shared buffers of requests to a service of a size, which do not depend on other load. The service
 * runs in this process, without workers, on a PostgreSQL of its own.
 */
export async function countCosts(
  size: Size,
  requests: Record<string, Measured>,
  env: Record<string, string>,
): Promise<Counts> {
  const folder = await mkdtemp(join(tmpdir(), 'ibid-counts-'));
  const postgres = await startPostgres({ dataDir: join(folder, 'postgres'), log: () => undefined });
  const db = openDb({ connection: { ...postgres.connection }, connections: 1 });
  try {
    await db.query(raw('create database counted'));
    const plans = await observePlans(addressOf({ ...postgres.connection, database: 'counted' }));
    if (!plans) throw new Error('the administrator of PostgreSQL cannot log in');
    const config = readConfig({
      ...env,
      PORT: '0',
      ROLE: 'web',
      RATE_LIMITS: 'off',
      DATA_DIR: join(folder, 'data'),
      DATABASE_URL: plans.url,
    });
    const service = await startService(config, pino({ level: 'silent' }), {});
    try {
      return await counted(
        service.address,
        { ...postgres.connection, database: 'counted' },
        size,
        requests,
        plans.take,
      );
    } finally {
      await service.stop();
    }
  } finally {
    await db.close();
    await postgres.stop();
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function counted(
  address: string,
  connection: ClientConfig,
  size: Size,
  requests: Record<string, Measured>,
  take: () => RunPlan[],
): Promise<Counts> {
  const owner = openDb({ connection, connections: 1 });
  try {
    const token = await makeKey(owner, { email: 'bench@example.com', name: 'bench', workspace_id: null });
    const { workspace, overview } = await openApi(address, token).post('/v1/onboarding');
    const [{ wiki_id }] = overview.wikis;
    const filled = { workspace_id: workspace.workspace_id, wiki_id, user_id: overview.session.user.user_id };
    await fillService(connection, size, filled);
    // The use of a key is recorded once a minute, in a separate statement.
    await owner.query(sql`update api_keys set last_used_at = now() + interval '1 day'`);
    const to: Grown = { ...filled, name: randomUUID(), pid: process.pid, address, token };
    const counts: Counts = new Map();
    for (const [name, request] of Object.entries(requests)) {
      for (let i = 0; i < 3; i += 1) {
        // Each write sums the pending usage deltas.
        await owner.query(sql`select merge_usage(1000000)`);
        take();
        await request(to);
        counts.set(name, readIn(take()));
      }
    }
    return counts;
  } finally {
    await owner.close();
  }
}
