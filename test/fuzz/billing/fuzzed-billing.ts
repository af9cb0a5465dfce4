import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from '../../../src/db/sql.ts';
import { cleanUp } from '../../clean-up.ts';
import { startMailServer } from '../../mail-server.ts';
import { makeFolder } from '../../process.ts';
import { type Fault, STRIPE_KEY, type StripeServer, startStripeServer, WEBHOOK_SECRET } from '../../stripe/server.ts';
import { until } from '../../until.ts';
import type { Answer, Client } from '../../world.ts';
import { type FuzzedService, openFuzzedService } from '../fuzzed-service.ts';
import { CATALOGUE, type CataloguePlan } from './catalogue.ts';

/** How often it is looked whether jobs are done: one statement for all workspaces. */
const POLL_MS = 25;

/** The service as a process beside the stand-in of Stripe, for many workspaces at once. */
export interface FuzzedBilling extends FuzzedService {
  stripe: StripeServer;
  plans: readonly CataloguePlan[];
  /** What happens to the requests about a workspace, and whether its events are kept. */
  faults: Map<string, () => Fault | undefined>;
  held: Set<string>;
  /** Sends a request; status 0: the service ended meanwhile, and whether it was carried out is unknown. */
  call(client: Client, method: string, path: string, body?: unknown): Promise<Answer>;
  /** Does something that needs the service, again where the service ended meanwhile. */
  whenUp<T>(work: () => Promise<T>): Promise<T>;
  /** Compares a workspace with Stripe, as a job does each day, and waits until nothing is left to be done. */
  settle(workspace_id: string): Promise<void>;
  /** Kills the process and starts it again. */
  crash(): Promise<void>;
}

export async function openFuzzedBilling(): Promise<FuzzedBilling> {
  const [stripe, mail] = await Promise.all([startStripeServer(), startMailServer()]);
  cleanUp(() => Promise.all([stripe.stop(), mail.stop()]));
  const catalogue = join(await makeFolder(), 'plans.json');
  await writeFile(catalogue, JSON.stringify({ plans: CATALOGUE }));
  for (const { plan_id, currency, unit_amount, interval, checkout } of CATALOGUE) {
    if (checkout !== 'subscription' || interval === null) continue;
    stripe.account.addPrice({ lookup_key: plan_id, currency, unit_amount, interval });
  }
  const service = await openFuzzedService({
    STRIPE_SECRET_KEY: STRIPE_KEY,
    STRIPE_WEBHOOK_SECRETS: WEBHOOK_SECRET,
    STRIPE_API_URL: stripe.url,
    STRIPE_AUTOMATIC_TAX: 'on',
    SMTP_URL: mail.url,
    PLANS_FILE: catalogue,
    LOG_LEVEL: 'fatal',
  });
  const { world } = service;
  stripe.sendEventsTo(world.address);
  const faults = new Map<string, () => Fault | undefined>();
  const held = new Set<string>();
  stripe.setFaults((_method, _path, workspace_id) => faults.get(workspace_id)?.());
  stripe.webhooks.hold((workspace_id) => held.has(workspace_id));
  let up: Promise<void> = Promise.resolve();
  const jobs = openJobWatch(service);

  async function whenUp<T>(work: () => Promise<T>): Promise<T> {
    for (;;) {
      await up;
      try {
        return await work();
      } catch (error) {
        if (!isCut(error)) throw error;
        await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      }
    }
  }

  return {
    ...service,
    ...{ stripe, plans: CATALOGUE, faults, held, whenUp },
    async call(client, method, path, body) {
      await up;
      const json = { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
      try {
        return await client.send(method, path, body === undefined ? {} : json);
      } catch (error) {
        if (!isCut(error)) throw error;
        return { status: 0, headers: new Headers(), body: {} };
      }
    },
    async settle(workspace_id) {
      faults.delete(workspace_id);
      held.delete(workspace_id);
      stripe.webhooks.take(workspace_id);
      await world.db.query(sql`
        update billing_customers set synced_at = now() - interval '2 days', changing_until = null
        where workspace_id = ${workspace_id}`);
      await world.db.query(sql`
        insert into background_jobs (name, lane, key, workspace_id, input)
        select 'sync-subscription', 'billing', workspace_id, workspace_id, '{}' from billing_customers
        where workspace_id = ${workspace_id} on conflict do nothing`);
      // A worker looks for jobs each second; what is about a payment wakes it.
      const [customer] = stripe.account.customersOf(workspace_id);
      if (customer) stripe.account.touchCustomer(customer.id);
      await jobs.done(workspace_id);
    },
    async crash() {
      up = service.crash();
      await up;
    },
  };
}

/** Whether a request ended because the process did. */
function isCut(error: unknown): boolean {
  return error instanceof TypeError && error.message === 'fetch failed';
}

/** Waits for the jobs of many workspaces with one statement. */
function openJobWatch({ world: { db } }: FuzzedService) {
  const waiting = new Map<string, () => void>();
  let isRunning = false;

  async function watch(): Promise<void> {
    isRunning = true;
    await until(
      'the jobs about subscriptions are done',
      async () => {
        const asked = [...waiting.keys()];
        // What failed is tried again at once.
        const left = await db.query<{ workspace_id: string; status: string; attempt: number; error: string }>(sql`
          with woken as (
            update background_jobs set run_after = now()
            where name = 'sync-subscription' and status = 'queued' and run_after > now() and workspace_id = any (${asked}::text[]))
          select workspace_id, status, attempt, error from background_jobs
          where name = 'sync-subscription' and workspace_id = any (${asked}::text[])`);
        const busy = new Set(left.map(({ workspace_id }) => workspace_id));
        for (const workspace_id of asked) {
          if (busy.has(workspace_id)) continue;
          waiting.get(workspace_id)?.();
          waiting.delete(workspace_id);
        }
        await new Promise((resolve) => setTimeout(resolve, POLL_MS));
        return [...waiting.keys(), left];
      },
      () => waiting.size === 0,
    );
    isRunning = false;
  }

  return {
    done(workspace_id: string): Promise<void> {
      const done = new Promise<void>((resolve) => waiting.set(workspace_id, resolve));
      if (isRunning) return done;
      return Promise.race([done, watch().then(() => done)]);
    },
  };
}
