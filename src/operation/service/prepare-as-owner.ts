import { storeLimits } from '../../organization/usage/store-limits.ts';
import type { OwnerDb } from '../../platform/db/db.ts';
import { prepareDatabase, setRoleSettings } from '../../platform/db/prepare-database.ts';
import type { Plan } from '../../platform/providers/payments/payments.ts';
import type { Config } from '../config.ts';

/**
 * Prepares a database as its owner, before the service uses it: migrations, session settings of the service's login,
 * limits. Returns the names of the applied migrations. Throws StartError.
 */
export async function prepareAsOwner(
  owner: OwnerDb,
  { DATABASE_URL: url, DATA_DIR: dataDir, WORKSPACE_LIMITS }: Config,
  plans: readonly Plan[],
  onWait: (reason: string) => void,
): Promise<string[]> {
  const applied = await prepareDatabase(owner, { url, dataDir }, onWait);
  await setRoleSettings(owner.query);
  await storeLimits(owner.query, WORKSPACE_LIMITS, plans);
  return applied;
}
