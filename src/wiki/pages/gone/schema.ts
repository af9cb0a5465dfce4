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
    filename: Type.String({
      description: 'The missing file; for the page of a folder, the name of the folder followed by "/".',
    }),
    pages_below: Type.Integer({
      description:
        'Pages below it that would be moved to the trash with it, at most 1,000. They may have files, or people may have written them.',
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
    gone_filename: Type.String({ description: 'The file missing from its folder; "" if no file is missing.' }),
    sources: Type.Array(CitedSource, {
      description: `The sources of the page, at most ${STALE_SOURCES_MAX}; [] if its source was deleted.`,
    }),
    revision: Type.Integer(),
    updated_at: Timestamp,
  },
  { title: 'StalePage' },
);
export type StalePage = Static<typeof StalePage>;
