import { type Static, Type } from 'typebox';
import { Id, Record } from '../../platform/core/records.ts';
import { type Sql, sql } from '../../platform/db/sql.ts';

/** Minimum of each setting in days; constraints of `workspaces` enforce the same values. */
export const SHORTEST_DAYS = { trash_days: 7, revision_days: 30, audit_days: 90 } as const;

export type RetentionSetting = keyof typeof SHORTEST_DAYS;

export const HOLD_REASON_MAX = 1_000;

function days(name: RetentionSetting, description: string) {
  return Type.Union([Type.Integer({ minimum: 1, maximum: 3_650 }), Type.Null()], {
    description: `${description} At least ${SHORTEST_DAYS[name]}.`,
  });
}

export const LegalHold = Record(
  {
    reason: Type.String(),
    held_by: Type.String({ description: 'The user who set it.' }),
    held_since: Type.String({ description: 'RFC 3339, UTC, milliseconds.' }),
  },
  { title: 'LegalHold' },
);
export type LegalHold = Static<typeof LegalHold>;

export const Retention = Record(
  {
    workspace_id: Id,
    trash_days: days('trash_days', 'How long deleted pages can be restored. Null: 30 days.'),
    revision_days: days(
      'revision_days',
      'How long a revision of a page is kept after being replaced. Null: forever. The current revision, the last one made by an upload, and those that unsaved changes of a user are based on are never deleted.',
    ),
    audit_days: days(
      'audit_days',
      'How long audit records are kept. Null: forever. Records of changes to these settings and of legal holds are never deleted.',
    ),
    purges_after: Type.String({
      description:
        'Nothing is deleted before this time: a day after the last change of these settings, or after a legal hold was lifted. "" if that time has passed.',
    }),
    legal_hold: Type.Union([LegalHold, Type.Null()], {
      description: 'Under a legal hold nothing is permanently deleted. Null: no hold.',
    }),
  },
  { title: 'Retention' },
);
export type Retention = Static<typeof Retention>;

/** Columns of Retention, from a workspace `w`. */
export const retentionColumns: Sql = sql`w.workspace_id, w.trash_days, w.revision_days, w.audit_days,
  coalesce(case when w.retention_changed_at > now() - interval '1 day' then rfc3339(w.retention_changed_at + interval '1 day') end, '') as purges_after,
  case when w.held_since is not null then
    json_build_object('reason', w.hold_reason, 'held_by', w.held_by, 'held_since', rfc3339(w.held_since)) end as legal_hold`;

/** Settings compared by audit records; unset ones are ''. */
export const settingColumns: Sql = sql`w.workspace_id, coalesce(to_jsonb(w.trash_days), '""') as trash_days,
  coalesce(to_jsonb(w.revision_days), '""') as revision_days, coalesce(to_jsonb(w.audit_days), '""') as audit_days`;

export const exampleRetention: Retention = {
  workspace_id: 'org_01jd8w3v6xf3e8h2k9m4n5p6q7',
  trash_days: 60,
  revision_days: 365,
  audit_days: null,
  purges_after: '',
  legal_hold: null,
};

export const exampleHold: LegalHold = {
  reason: 'Acme v. Example, letter from our counsel of 1 November',
  held_by: 'user_01jd8w3v6xf3e8h2k9m4n5p6q8',
  held_since: '2026-11-21T05:29:32.104Z',
};
