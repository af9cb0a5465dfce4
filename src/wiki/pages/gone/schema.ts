import { type Static, Type } from 'typebox';
import { Id, Record, Timestamp } from '../../../platform/core/records.ts';
import { CitedSource } from '../schema.ts';

/** A page whose file was missing from the last sync of its folder. */
export const GonePage = Record(
  {
    page_id: Id,
    wiki_id: Id,
    path: Type.String({ description: 'The slugs from the root, joined by "/".' }),
    title: Type.String(),
    filename: Type.String({ description: 'The file that is gone; of a page of a folder its name with a / behind it.' }),
    pages_below: Type.Integer({
      description:
        'How many pages below it would go to the trash with it, 1,000 at most; they may have files, or people may have written them.',
    }),
    revision: Type.Integer(),
    updated_at: Timestamp,
  },
  { title: 'GonePage' },
);
export type GonePage = Static<typeof GonePage>;

/** Maximum number of sources listed per stale page. */
export const STALE_SOURCES_MAX = 5;

export const StalePage = Record(
  {
    page_id: Id,
    wiki_id: Id,
    path: Type.String({ description: 'The slugs from the root, joined by "/".' }),
    title: Type.String(),
    gone_filename: Type.String({ description: 'The file that is gone from its folder; "" if none is.' }),
    sources: Type.Array(CitedSource, {
      description: `What it was made from, ${STALE_SOURCES_MAX} at most; [] where that was deleted.`,
    }),
    revision: Type.Integer(),
    updated_at: Timestamp,
  },
  { title: 'StalePage' },
);
export type StalePage = Static<typeof StalePage>;
