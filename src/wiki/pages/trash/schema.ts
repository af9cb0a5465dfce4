import { type Static, Type } from 'typebox';
import { Id, Record, Timestamp } from '../../../platform/core/records.ts';

/** A deleted page that can be restored with the pages below it. */
export const TrashedPage = Record(
  {
    page_id: Id,
    wiki_id: Id,
    path: Type.String({ description: 'Where it was.' }),
    title: Type.String(),
    page_count: Type.Integer({ description: 'How many pages come back with it, itself counted.' }),
    trashed_at: Timestamp,
    trashed_by: Id,
    purge_at: Type.String({
      description: 'When it is gone for good; "" under a legal hold, which keeps it until it is lifted.',
    }),
  },
  { title: 'TrashedPage' },
);
export type TrashedPage = Static<typeof TrashedPage>;
