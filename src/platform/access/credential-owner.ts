import type { ServiceDb } from '../db/db.ts';
import { sql } from '../db/sql.ts';
import { type Access, accessCte, targetCte } from './access-rule.ts';
import { requestContext } from './caller-context.ts';
import { type Credential, kindOf } from './credential-kinds.ts';

/** The user of a credential, and the workspace that it may use at the path of a request. */
export interface CredentialOwner {
  user_id: string | undefined;
  workspace_id: string | undefined;
}

export type FindOwner = (
  access: Access,
  credential: Credential,
  params: Record<string, string>,
) => Promise<CredentialOwner>;

/**
 * Looks up user and workspace like the guard, in the caller's own context. Returns no workspace if the access rule
 * refuses the caller.
 */
export function ownerFinder(db: ServiceDb): FindOwner {
  return async (access, credential, params) => {
    const context = requestContext(access, credential, params, { invitation: undefined, new_workspace_id: undefined });
    const [owner] = await db.in(context).query<{ user_id: string; workspace_id: string | null }>(sql`
      with caller as materialized (${kindOf(credential).caller(credential)}),
      target as materialized (${targetCte(access, params, credential)}),
      access as materialized (${accessCte(access, params, credential)})
      select c.user_id, a.workspace_id from caller c left join access a on true`);
    return { user_id: owner?.user_id, workspace_id: owner?.workspace_id ?? undefined };
  };
}
