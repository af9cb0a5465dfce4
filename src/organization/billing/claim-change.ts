import { ApiError } from '../../platform/core/errors.ts';
import { type Sql, sql } from '../../platform/db/sql.ts';

/** Time limit of a change at the payment provider; after a crash, the next change waits this long. */
const CLAIM_SECONDS = 120;

/**
 * Returns the update that lets one process at a time change a subscription at the provider. It returns no row if
 * another process holds the claim or the revision has changed. `applySubscription` and `releaseClaim` end the claim.
 *
 * Each claim increments the revision, which is part of the provider's idempotency key. Stripe replays the response for
 * a repeated key, including a refusal, so one key for several attempts would refuse them all.
 */
export function claimChange(from: Sql, revision: number): Sql {
  return sql`
    update billing_customers c set changing_until = now() + make_interval(secs => ${CLAIM_SECONDS}::int),
      revision = c.revision + 1
    from ${from} f
    where c.workspace_id = f.workspace_id and c.revision = ${revision} and (c.changing_until is null or c.changing_until < now())
    returning c.workspace_id, c.revision::int as revision`;
}

export function releaseClaim(from: Sql): Sql {
  return sql`
    update billing_customers c set changing_until = null from ${from} f where c.workspace_id = f.workspace_id
    returning c.workspace_id`;
}

export function changeInProgress(): ApiError {
  return new ApiError('conflict', 'Another request is changing the subscription. Try again in a moment.');
}
