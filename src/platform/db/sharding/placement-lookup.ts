import { type Sql, sql } from '../sql.ts';
import type { PlacementLookup } from './sharding-keys.ts';

/** Asks by functions that answer to the service alone. */
export function placementLookup(query: <T>(statement: Sql) => Promise<T[]>): PlacementLookup {
  const first = async (statement: Sql) => (await query<{ workspace_id: string }>(statement))[0]?.workspace_id;
  return {
    workspaceOfWiki: (wiki_id) => first(sql`select * from workspace_of_wiki(${wiki_id}) as found (workspace_id)`),
    workspaceOfInvitation: (secret_hash) =>
      first(sql`select * from workspace_of_invitation(${secret_hash}) as found (workspace_id)`),
  };
}
