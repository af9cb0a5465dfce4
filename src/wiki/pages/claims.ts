import { type Static, Type } from 'typebox';
import { hasPermission } from '../../platform/access/access-rule.ts';
import { Record, Timestamp } from '../../platform/core/records.ts';
import { type Sql, sql } from '../../platform/db/sql.ts';

/** The author, time and origin that an archive claims for a text imported from it. */
export const ArchiveClaim = Record(
  {
    author_name: Type.String({
      default: '',
      description: 'Author named by the archive; "" if the archive names no author or the caller may not list members.',
    }),
    created_at: Timestamp,
    origin: Type.Enum(['authored', 'compiled']),
    imported_by_name: Type.String({
      default: '',
      description: 'Name of the member who imported the archive; "" if the caller may not list members.',
    }),
  },
  {
    title: 'ArchiveClaim',
    description: 'Origin of an imported text according to the archive. The service has not verified it.',
  },
);
export type ArchiveClaim = Static<typeof ArchiveClaim>;

/** Selects the claim of a revision, or null. `claim`: the column that stores it. */
export function claimOf(claim: Sql, wiki_id: Sql): Sql {
  return sql`case when ${claim} is not null then (
    select json_build_object(
      'author_name', case when n.may_know then coalesce((
        select coalesce(nullif(i.name, ''), i.email) from imported_people i
        where i.wiki_id = ${wiki_id} and i.user_id = ${claim} ->> 'user_id'), '') else '' end,
      'created_at', ${claim} ->> 'created_at',
      'origin', ${claim} ->> 'origin',
      'imported_by_name', case when n.may_know then coalesce((
        select coalesce(nullif(u.display_name, ''), u.email) from access a
        join memberships m on m.workspace_id = a.workspace_id and m.user_id = ${claim} ->> 'imported_by'
        join users u on u.user_id = m.user_id limit 1), '') else '' end)
    from (select ${hasPermission('members:read')} as may_know) n) end`;
}
