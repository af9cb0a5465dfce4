import { type Static, Type } from 'typebox';
import { Id, Record, Timestamp } from '../../../platform/core/records.ts';

/** A deleted page that can be restored with the pages below it. */
export const TrashedPage = Record(
  {
    page_id: Id,
    wiki_id: Id,
    path: Type.String({ description: 'Former path of the page.' }),
    title: Type.String(),
    page_count: Type.Integer({ description: 'Number of pages restored with it, including itself.' }),
    trashed_at: Timestamp,
    trashed_by: Id,
    purge_at: Type.String({
      description: 'When it is permanently deleted; "" under a legal hold, which keeps it until the hold is lifted.',
    }),
  },
  { title: 'TrashedPage' },
);
export type TrashedPage = Static<typeof TrashedPage>;
