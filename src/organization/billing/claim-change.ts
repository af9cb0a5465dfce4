import { ApiError } from '../../platform/core/errors.ts';
import { type Sql, sql } from '../../platform/db/sql.ts';

/** How long a change at the payment provider may take; after a crash the next one waits for this time. */
const CLAIM_SECONDS = 120;

/**
 * The update by which one process at a time changes a subscription at the provider; it returns no row where another does, or
 * where the subscription is not that of `revision` any more. `applySubscription` and `releaseClaim` end it.
 *
 * Each claim raises the revision, which names the request to the provider: Stripe answers a key again as it did before, a refusal
 * too, so that one key for several attempts would refuse them all.
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
  return new ApiError(
    'conflict',
    'The subscription is being changed by another request. Look at it again in a moment.',
  );
}
