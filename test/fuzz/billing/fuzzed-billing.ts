import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from '../../../src/platform/db/sql.ts';
import { cleanUp } from '../../clean-up.ts';
import { keepAliveSender } from '../../keep-alive.ts';
import { makeFolder } from '../../process.ts';
import { eventJson } from '../../stripe/objects.ts';
import { type Fault, STRIPE_KEY, type StripeServer, startStripeServer, WEBHOOK_SECRET } from '../../stripe/server.ts';
import type { Answer, Client } from '../../world.ts';
import { type FuzzedService, openFuzzedService } from '../fuzzed-service.ts';
import { CATALOGUE, type CataloguePlan } from './catalogue.ts';
import { openJobWatch } from './job-watch.ts';

/** Pause before a retry of a request that found no service. */
const RETRY_MS = 25;

/**
 * An event of another service at the same account. None of it is stored, but it wakes the workers, which otherwise poll
 * once a second.
 */
const WAKING = {
  ...{ id: 'evt_waking', workspace_id: '', type: 'customer.updated' },
  body: JSON.stringify(eventJson('evt_waking', 'customer.updated', { id: 'cus_waking' }, 0)),
};

/** The service in its own process, with the Stripe stand-in, for many workspaces at once. */
export interface FuzzedBilling extends FuzzedService {
  stripe: StripeServer;
  plans: readonly CataloguePlan[];
  /** By workspace: the fault of each request to Stripe; and the workspaces whose events are held back. */
  faults: Map<string, () => Fault | undefined>;
  held: Set<string>;
  /** Sends a request. Status 0: the service ended during it, so its result is unknown. */
  call(client: Client, method: string, path: string, body?: unknown): Promise<Answer>;
  /** Runs work that needs the service, and repeats it if the service ended during it. */
  whenUp<T>(work: () => Promise<T>): Promise<T>;
  /** Syncs a workspace with Stripe, as a job does each day, and waits until all jobs of its subscription are done. */
  settle(workspace_id: string): Promise<void>;
  crash(): Promise<void>;
}

export async function openFuzzedBilling(): Promise<FuzzedBilling> {
  const { send, close } = keepAliveSender();
  const stripe = await startStripeServer({ send });
  cleanUp(async () => {
    await stripe.stop();
    close();
  });
  const catalogue = join(await makeFolder(), 'plans.json');
  await writeFile(catalogue, JSON.stringify({ plans: CATALOGUE }));
  for (const { plan_id, currency, unit_amount, interval, checkout } of CATALOGUE) {
    if (checkout !== 'subscription' || interval === null) continue;
    stripe.account.addPrice({ lookup_key: plan_id, currency, unit_amount, interval });
  }
  // Without a mail server, messages go to the log, which drops them at this level. Other tests check their text.
  const service = await openFuzzedService(
    {
      STRIPE_SECRET_KEY: STRIPE_KEY,
      STRIPE_WEBHOOK_SECRETS: WEBHOOK_SECRET,
      STRIPE_API_URL: stripe.url,
      STRIPE_AUTOMATIC_TAX: 'on',
      PLANS_FILE: catalogue,
      LOG_LEVEL: 'fatal',
    },
    send,
  );
  const { world } = service;
  stripe.sendEventsTo(world.address);
  const faults = new Map<string, () => Fault | undefined>();
  const held = new Set<string>();
  stripe.setFaults((_method, _path, workspace_id) => faults.get(workspace_id)?.());
  stripe.webhooks.hold((workspace_id) => held.has(workspace_id));
  let up: Promise<void> = Promise.resolve();
  const jobs = openJobWatch(service, () => whenUp(() => stripe.webhooks.send(WAKING)));

  async function whenUp<T>(work: () => Promise<T>): Promise<T> {
    for (;;) {
      await up;
      try {
        return await work();
      } catch (error) {
        if (!isCut(error)) throw error;
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
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
        with customer as (
          update billing_customers set synced_at = now() - interval '2 days', changing_until = null
          where workspace_id = ${workspace_id} returning workspace_id)
        insert into background_jobs (name, lane, key, workspace_id, input)
        select 'sync-subscription', 'billing', workspace_id, workspace_id, '{}' from customer on conflict do nothing`);
      await jobs.done(workspace_id);
    },
    async crash() {
      up = service.crash();
      await up;
    },
  };
}

/** Returns whether a request ended because the process did. */
function isCut(error: unknown): boolean {
  return error instanceof TypeError && error.message === 'fetch failed';
}
