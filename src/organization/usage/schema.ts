import { type Static, Type } from 'typebox';
import { QUOTA_NAMES, type QuotaName } from '../../platform/core/quotas.ts';
import { Flag, Record } from '../../platform/core/records.ts';

/** Usage and limit of one quota in a workspace. */
export const Usage = Record(
  {
    name: Type.Enum(QUOTA_NAMES, {
      description:
        'bytes: of stored files and of all revisions of pages; pages: with those in the trash; files: of unfinished uploads; wikis; invitations: pending ones; keys: API keys of the workspace; jobs: unfinished ones.',
    }),
    used: Type.Integer({ description: 'It may be above the limit where that was lowered.' }),
    limit: Type.Integer({ description: '0 where it is unlimited.' }),
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
