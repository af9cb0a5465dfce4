import { makeRoom } from '../../core/make-room.ts';
import type { RequestContext } from '../request-context.ts';

/** Maximum number of wikis whose workspace is remembered; the ones not used for longest are forgotten first. */
const KNOWN_MAX = 20_000;

/** Ids as `newId` makes them. The key is a part of a statement's text, so nothing else may become one. */
const WORKSPACE_ID = /^org_[0-9a-hjkmnp-tv-z]{26}$/;
const WIKI_ID = /^wiki_[0-9a-hjkmnp-tv-z]{26}$/;

/** Asks the database; the statements are sent to all shards, and one has the row. */
export interface PlacementLookup {
  workspaceOfWiki(wiki_id: string): Promise<string | undefined>;
  workspaceOfInvitation(secret_hash: Buffer): Promise<string | undefined>;
}

/** Which shard a transaction belongs to: the workspace that all of its rows are of. */
export interface ShardingKeys {
  /** undefined: what the request works for is not of one workspace, or is not there. See docs/scale.md. */
  of(context: RequestContext): Promise<string | undefined>;
}

/**
 * Finds keys before the first statement of a transaction: ids in paths and widget tokens name a workspace, or a wiki or an
 * invitation, which never move to another one.
 */
export function openShardingKeys(lookup: PlacementLookup): ShardingKeys {
  const known = new Map<string, string>();

  async function ofWiki(wiki_id: string): Promise<string | undefined> {
    const workspace_id = known.get(wiki_id) ?? (await lookup.workspaceOfWiki(wiki_id));
    if (workspace_id === undefined) return undefined;
    known.delete(wiki_id);
    makeRoom(known, KNOWN_MAX);
    known.set(wiki_id, workspace_id);
    return workspace_id;
  }

  return {
    async of(context) {
      const { path, invitation } = context;
      if (path && 'wiki_id' in path) return WIKI_ID.test(path.wiki_id) ? ofWiki(path.wiki_id) : undefined;
      const workspace_id = path?.workspace_id ?? (context.who === 'widget' ? context.workspace_id : undefined);
      if (workspace_id !== undefined) return WORKSPACE_ID.test(workspace_id) ? workspace_id : undefined;
      return invitation && lookup.workspaceOfInvitation(invitation);
    },
  };
}

/**
 * What a transaction begins with: PgDog routes all of it by the key, and takes `set` as a message of its own. Without a key it
 * routes each statement itself.
 */
export function beginWithKey(begin: string, key: string | undefined): readonly string[] {
  return key === undefined ? [begin] : [begin, `set local pgdog.sharding_key to '${key}'`];
}
