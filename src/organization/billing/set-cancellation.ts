import type { Static } from 'typebox';
import type { AuthorizedDb } from '../../platform/access/guard.ts';
import { raw, sql } from '../../platform/db/sql.ts';
import type { Services } from '../../platform/http/services.ts';
import { readBillingState } from './billing-state.ts';
import { fromProvider, requireProvider } from './provider-errors.ts';
import { type Cancellation, notSubscribed } from './schema.ts';
import { syncSubscription } from './sync-subscription.job.ts';

/** Sets at the provider whether the subscription ends with its period, and stores the result. Idempotent. */
export async function setCancellation(
  { maybeOne, one, later, services }: Pick<AuthorizedDb, 'maybeOne' | 'one' | 'later'> & { services: Services },
  value: boolean,
): Promise<Static<typeof Cancellation>> {
  const { subscription_id } = await readBillingState({ maybeOne });
  const provider = requireProvider(services.payments);
  if (subscription_id === '') throw notSubscribed();
  await fromProvider(() => provider.setCancelAtPeriodEnd(subscription_id, value));
  return one({
    before: sql`
      select s.workspace_id, s.cancel_at_period_end, s.period_end from subscriptions s join access a on a.workspace_id = s.workspace_id`,
    changed: sql`
      update subscriptions s set cancel_at_period_end = ${value} from access a
      where s.workspace_id = a.workspace_id and s.subscription_id = ${subscription_id}
      returning s.workspace_id, s.cancel_at_period_end, s.period_end`,
    job: later(syncSubscription, {}, raw('access')),
    result: sql`select workspace_id, cancel_at_period_end, period_end from changed`,
  });
}
