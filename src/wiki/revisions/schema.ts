import { type Static, Type } from 'typebox';
import { hasPermission } from '../../platform/access/access-rule.ts';
import { Id, Record, Timestamp } from '../../platform/core/records.ts';
import { raw, type Sql, sql } from '../../platform/db/sql.ts';
import { ArchiveClaim, claimOf } from '../pages/claims.ts';
import { exampleFullPage, OutlineEntry } from '../pages/schema.ts';

const RevisionNumber = Type.Integer({ description: 'Counted from 1, in the order of writing.' });

export const RevisionParams = Type.Object({
  wiki_id: Id,
  page_id: Id,
  revision: Type.String({ description: 'Number of the revision.' }),
});

const revisionProperties = {
  page_id: Id,
  wiki_id: Id,
  revision: RevisionNumber,
  title: Type.String(),
  origin: Type.Enum(['authored', 'compiled'], { description: 'Whether a person wrote it or an upload made it.' }),
  created_at: Timestamp,
  created_by: Id,
  created_by_name: Type.String({
    default: '',
    description: 'Name of that member; "" for a former member, or if the caller may not list members.',
  }),
  claim: Type.Optional(ArchiveClaim),
};

export const Revision = Record(revisionProperties, {
  title: 'Revision',
  description: 'A version of a page, without its text.',
});
export type Revision = Static<typeof Revision>;

export const FullRevision = Record(
  {
    ...revisionProperties,
    markdown: Type.String(),
    html: Type.String({ description: 'Safe to display: scripts and other active content are removed.' }),
    outline: Type.Array(OutlineEntry),
  },
  { title: 'FullRevision' },
);
export type FullRevision = Static<typeof FullRevision>;

/** A part of a text in a comparison: in both texts, or in only one. */
export const TextChange = Record(
  { kind: Type.Enum(['same', 'added', 'removed']), text: Type.String() },
  { title: 'TextChange' },
);

const Line = Record(
  {
    kind: Type.Enum(['context', 'added', 'removed']),
    text: Type.String({ description: 'The line without its line feed.' }),
    segments: Type.Array(TextChange, {
      description: 'The whole line in segments if only some of its words changed; otherwise empty.',
    }),
  },
  { title: 'DiffLine' },
);

const Hunk = Record(
  {
    from_line: Type.Integer(),
    from_count: Type.Integer(),
    to_line: Type.Integer(),
    to_count: Type.Integer(),
    lines: Type.Array(Line),
  },
  {
    title: 'DiffHunk',
    description: 'Lines are counted from 1. A side without lines has count 0 and the number of the line before.',
  },
);

export const RevisionDiff = Record(
  {
    page_id: Id,
    wiki_id: Id,
    from_revision: RevisionNumber,
    to_revision: RevisionNumber,
    from_title: Type.String(),
    to_title: Type.String(),
    added: Type.Integer({ description: 'Number of lines that only the second revision has.' }),
    removed: Type.Integer({ description: 'Number of lines that only the first revision has.' }),
    coarse: Type.Boolean({
      description:
        'Whether the texts differ too much for a comparison by line. If so, everything between their common beginning and end is shown as replaced.',
    }),
    truncated: Type.Boolean({
      description: 'Whether more lines changed than are shown. The counts include all of them.',
    }),
    hunks: Type.Array(Hunk, {
      description: 'The changed places, with three lines of context around each; empty if nothing changed.',
    }),
  },
  { title: 'RevisionDiff' },
);
export type RevisionDiff = Static<typeof RevisionDiff>;

/** Selects the columns of Revision from a revision `r`. */
export const revisionColumns: Sql = sql`r.page_id, r.wiki_id, r.revision, r.title, r.origin, r.created_at, r.created_by,
  coalesce((
    select coalesce(nullif(u.display_name, ''), u.email) from access a join memberships m on m.workspace_id = a.workspace_id and m.user_id = r.created_by
    join users u on u.user_id = m.user_id
    where ${hasPermission('members:read')}), '') as created_by_name,
  ${claimOf(raw('r.claim'), raw('r.wiki_id'))} as claim`;

/**
 * Parses a revision number from a path. Returns 0, which no revision has, unless the text is the canonical spelling of
 * a number.
 */
export function revisionNumber(text: string): number {
  return /^[1-9]\d{0,8}$/.test(text) ? Number(text) : 0;
}

const { page_id, wiki_id, title, origin, created_at, created_by, markdown, html, outline } = exampleFullPage;
export const exampleRevision: Revision = {
  page_id,
  wiki_id,
  revision: 1,
  title,
  origin,
  created_at,
  created_by,
  created_by_name: 'Ada Lovelace',
};
export const exampleFullRevision: FullRevision = { ...exampleRevision, markdown, html, outline };
