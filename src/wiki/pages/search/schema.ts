import { type Static, Type } from 'typebox';
import { Record } from '../../../platform/core/records.ts';
import { BranchEntry, pageProperties } from '../schema.ts';

export const PageHit = Record(
  {
    ...pageProperties,
    score: Type.Number(),
    snippet: Type.String({ description: 'Escaped text; the only markup is <mark>.' }),
    heading: Type.String({ description: 'The heading above the passage; "" before the first heading.' }),
    anchor: Type.String({ description: "The id of that heading in the page's HTML." }),
  },
  { title: 'PageHit' },
);
export type PageHit = Static<typeof PageHit>;

/** Hits are counted up to this number. */
export const MAX_COUNTED = 1_000;

const Count = Type.Integer({ description: 'Number of the counted hits.' });

/** Counts of the hits of a search, by the values that it can be filtered by. */
export const HitCounts = Record(
  {
    total: Type.Integer({ description: `Number of pages that the search finds, exact up to ${MAX_COUNTED}.` }),
    is_exact: Type.Boolean({ description: 'false: the search finds more pages.' }),
    authors: Type.Array(
      Record(
        {
          user_id: Type.String(),
          display_name: Type.String({ default: '', description: '"" if the caller may not list members.' }),
          count: Count,
        },
        { title: 'AuthorCount' },
      ),
    ),
    folders: Type.Array(
      Record(
        { path: Type.String({ description: 'Path of a top-level page.' }), title: Type.String(), count: Count },
        { title: 'FolderCount' },
      ),
    ),
    tags: Type.Array(
      Record(
        { tag: Type.String({ description: 'As written on one of its pages.' }), count: Count },
        { title: 'TagCount' },
      ),
    ),
    statuses: Type.Array(
      Record({ status: Type.Enum(['draft', 'published', 'archived']), count: Count }, { title: 'StatusCount' }),
    ),
  },
  { title: 'HitCounts' },
);
export type HitCounts = Static<typeof HitCounts>;

/** Maximum number of authors, folders and tags that are listed, most hits first. */
export const MAX_NAMED = 20;

/** Counts of some of the hits. */
export type CountsRow = Omit<HitCounts, 'is_exact'>;

/** The data of a page of results. */
export const SearchView = Record(
  {
    hits: Type.Array(PageHit),
    counts: HitCounts,
    tree: Record(
      {
        tag: Type.String({ description: 'Changes whenever the tree changes for this caller.' }),
        branches: Type.Array(BranchEntry, {
          description: 'The branches at the root, as in `/branches`; empty if `known_tree` is the current tag.',
        }),
      },
      { title: 'TreeRoot' },
    ),
  },
  { title: 'SearchView' },
);
export type SearchView = Static<typeof SearchView>;

/** A completion of a query that is being typed. */
export const Suggestion = Record(
  {
    kind: Type.Enum(['page', 'query'], {
      description: 'page: a page whose title matches the input; query: a corrected query.',
    }),
    text: Type.String({ description: 'The title of the page, or the corrected query.' }),
    page_id: Type.String({ default: '', description: '"" for a query.' }),
    path: Type.String({ default: '', description: '"" for a query.' }),
  },
  { title: 'Suggestion' },
);
export type Suggestion = Static<typeof Suggestion>;
