import { type Static, Type } from 'typebox';
import { Id, Record } from '../../../platform/core/records.ts';

/** A link of a page without a target in the wiki. */
export const BrokenLink = Record(
  {
    page_id: Id,
    path: Type.String({ description: 'Of the page that the link is on.' }),
    title: Type.String(),
    target: Type.String({
      description:
        'A path of the wiki; `[[target]]` of a wiki link; or the address as written, if no page can have it.',
    }),
    line: Type.Integer({ description: "The line of the page's Markdown, from 1; 0 if it is not known." }),
    filename: Type.String({ description: 'The file that the page was made from; "" if there is none.' }),
  },
  { title: 'BrokenLink' },
);
export type BrokenLink = Static<typeof BrokenLink>;
