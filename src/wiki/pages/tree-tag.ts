import { createHash } from 'node:crypto';
import type { TSchema } from 'typebox';
import { type Sql, sql } from '../../platform/db/sql.ts';

/** Hash of the schema of an entry, as part of the tags of a tree: they change with the schema. */
export function formOf(entry: TSchema): string {
  return createHash('sha1').update(JSON.stringify(entry)).digest('base64url').slice(0, 8);
}

/**
 * Selects the version of the tree that the caller sees, in this form, for a row `w` of wikis: the same for two callers
 * exactly if they see the same pages.
 */
export function treeVersion(form: string): Sql {
  return sql`w.tree_version || '-' || ${form}::text || own_view()`;
}

/** The CTE `tagged`: the ETag of the tree, and whether the client has it. */
export function taggedTree(wiki_id: string, form: string, known_tags: readonly string[]): Sql {
  return sql`
    select t.tag, array[t.tag, '*'] && ${known_tags}::text[] as is_known
    from wikis w cross join lateral (select '"' || ${treeVersion(form)} || '"' as tag offset 0) t
    where w.wiki_id = ${wiki_id}`;
}
