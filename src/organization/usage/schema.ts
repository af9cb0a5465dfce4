import { type Static, Type } from 'typebox';
import { QUOTA_NAMES, type QuotaName } from '../../platform/core/quotas.ts';
import { Flag, Record } from '../../platform/core/records.ts';

/** Usage and limit of one quota in a workspace. */
export const Usage = Record(
  {
    name: Type.Enum(QUOTA_NAMES, {
      description:
        'bytes: stored files and all revisions of pages; pages: including the trash; files: in unfinished uploads; wikis; invitations: pending; keys: API keys of the workspace; jobs: unfinished.',
    }),
    used: Type.Integer({ description: 'May exceed the limit if the limit was lowered.' }),
    limit: Type.Integer({ description: '0 if unlimited.' }),
    unlimited: Flag,
  },
  { title: 'Usage' },
);
export type Usage = Static<typeof Usage>;

export interface UsageRow {
  name: QuotaName;
  used: number;
  /** null means unlimited. */
  allowed: number | null;
}
