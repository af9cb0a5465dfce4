import { type Static, Type } from 'typebox';
import { hasPermission } from '../../../platform/access/access-rule.ts';
import { Id, Record, Timestamp } from '../../../platform/core/records.ts';
import { sql } from '../../../platform/db/sql.ts';
import { exampleWiki } from '../schema.ts';

/** A wiki in the trash of its workspace. It can be restored until `purged_after`. */
export const DeletedWiki = Record(
  {
    wiki_id: Id,
    slug: Type.String(),
    title: Type.String(),
    deleted_at: Timestamp,
    purged_after: Timestamp,
  },
  { title: 'DeletedWiki' },
);
export type DeletedWiki = Static<typeof DeletedWiki>;

/**
 * The wikis in the trash that the caller may restore: all of them, or only the caller's own. The rule is the same as
 * for `DELETE /v1/wikis/:wiki_id`.
 */
export const restorable = sql`
  select t.* from access a, wikis_in_trash(a.workspace_id) t
  where ${hasPermission('wikis:manage')}
    or (t.created_by = a.user_id and (a.granted is null or 'wikis:manage' = any (a.granted)))`;

export const exampleDeletedWiki: DeletedWiki = {
  wiki_id: exampleWiki.wiki_id,
  slug: exampleWiki.slug,
  title: exampleWiki.title,
  deleted_at: '2026-11-21T05:29:32.104Z',
  purged_after: '2026-12-21T05:29:32.104Z',
};
