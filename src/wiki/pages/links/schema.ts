import { type Static, Type } from 'typebox';
import { Id, Record } from '../../../platform/core/records.ts';

/** A link of a page without a target in the wiki. */
export const BrokenLink = Record(
  {
    page_id: Id,
    path: Type.String({ description: 'Path of the page that contains the link.' }),
    title: Type.String(),
    target: Type.String({
      description:
        'A path of the wiki; `[[target]]` for a wiki link; or the address as written, if no page can have it.',
    }),
    line: Type.Integer({ description: 'Line in the Markdown of the page, counted from 1; 0 if unknown.' }),
    filename: Type.String({ description: 'The file that the page was made from; "" if the page has no file.' }),
  },
  { title: 'BrokenLink' },
);
export type BrokenLink = Static<typeof BrokenLink>;
