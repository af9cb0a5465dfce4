import type { MovedLink } from '@ibid/markdown/page-links.ts';
import { type Static, Type } from 'typebox';
import { Flag, Id, Record, Text, Timestamp } from '../../platform/core/records.ts';
import { raw, type Sql, sql } from '../../platform/db/sql.ts';
import { ArchiveClaim } from './claims.ts';
import { movedLinksOfPage } from './links/moved-links.ts';

export const pageProperties = {
  page_id: Id,
  wiki_id: Id,
  path: Type.String({ description: 'The slugs from the root, joined by "/".' }),
  slug: Type.String(),
  title: Type.String(),
  description: Text,
  parent_page_id: Type.String({ default: '', description: '"" at the root.' }),
  position: Type.Integer({ description: 'Siblings are ordered by it, then by page_id.' }),
  status: Type.Enum(['draft', 'published', 'archived']),
  origin: Type.Enum(['authored', 'compiled']),
  revision: Type.Integer(),
  created_at: Timestamp,
  updated_at: Timestamp,
  created_by: Id,
  updated_by: Id,
  word_count: Type.Integer(),
  source_count: Type.Integer({ description: 'Number of sources that the page was made from.' }),
  stale: Flag,
};

export const Page = Record(pageProperties, {
  title: 'Page',
  description: 'A page without its text, as in lists.',
});
export type Page = Static<typeof Page>;

/** The front matter of a page. */
export const PageProperties = Record(
  {
    tags: Type.Array(Type.String(), {
      description: 'From `tags` or `keywords`: at most 50, each of at most 100 characters.',
    }),
    properties: Type.Array(Record({ name: Type.String(), value: Type.String() }, { title: 'PageProperty' }), {
      description: 'The other fields: at most 50. Nested fields are only in the Markdown.',
    }),
  },
  { title: 'PageProperties' },
);
export type PageProperties = Static<typeof PageProperties>;

/** An entry of the tree, as listed by `/branches`. */
export const BranchEntry = Record(
  {
    page_id: Id,
    parent_page_id: Type.String({ description: '"" at the root.' }),
    path: Type.String(),
    title: Type.String(),
    position: Type.Integer({ description: 'Siblings are ordered by it, then by page_id.' }),
    status: Type.Enum(['draft', 'published', 'archived']),
    has_children: Type.Boolean(),
  },
  { title: 'BranchEntry' },
);

const LinkedPage = Record({ page_id: Id, path: Type.String(), title: Type.String() }, { title: 'LinkedPage' });

export const PageSurroundings = Record(
  {
    ...PageProperties.properties,
    updated_by_name: Type.String({
      default: '',
      description:
        'Name of the member who last changed the page; "" for a former member, or if the caller may not list members.',
    }),
    updated_by_avatar_url: Type.String({
      default: '',
      description: 'Address of a picture of that member; "" if there is no picture.',
    }),
    claim: Type.Optional(ArchiveClaim),
    branches: Type.Array(BranchEntry, { description: `Branches as in \`/branches\`, at most 100 of each.` }),
    subpages: Type.Array(Record({ page_id: Id, description: Type.String() }, { title: 'Subpage' }), {
      description: `The beginnings of the child pages, in their order; at most 100.`,
    }),
    is_starred: Type.Boolean({ description: 'Whether the caller has starred the page.' }),
    backlinks: Type.Array(LinkedPage, { description: `The first 20 pages that link to this page.` }),
    has_more_backlinks: Type.Boolean(),
    incomplete_sources: Type.Array(
      Record(
        { source_id: Id, filename: Type.String(), losses: Type.Integer({ description: 'Number of losses.' }) },
        { title: 'SourceOfPageWithLosses' },
      ),
      {
        description: `Sources of the page whose text is incomplete, at most 5; empty if the caller may not read sources.`,
      },
    ),
  },
  { title: 'PageSurroundings' },
);
export type PageSurroundings = Static<typeof PageSurroundings>;

export const Tag = Record(
  {
    tag: Type.String({ description: 'As written on one of its pages; tags are compared ignoring case.' }),
    page_count: Type.Integer({ description: 'Number of pages that `GET …/pages?tag=` lists for the caller.' }),
  },
  { title: 'Tag' },
);
export type Tag = Static<typeof Tag>;

export const OutlineEntry = Record(
  { level: Type.Integer(), text: Type.String(), anchor: Type.String() },
  { title: 'OutlineEntry' },
);

/** A source that a page was made from. */
export const CitedSource = Record(
  { source_id: Id, title: Type.String(), filename: Type.String() },
  { title: 'CitedSource' },
);

export const FullPage = Record(
  {
    ...pageProperties,
    markdown: Type.String(),
    html: Type.String({ description: 'Safe to display: scripts and other active content are removed.' }),
    outline: Type.Array(OutlineEntry, { description: 'The first 2,000 headings.' }),
    citations: Type.Array(CitedSource, {
      description: 'The sources that the page was made from.',
    }),
  },
  { title: 'FullPage' },
);
export type FullPage = Static<typeof FullPage>;

/** A page without its Markdown. */
export const ReadPage = Record(
  {
    ...pageProperties,
    html: FullPage.properties.html,
    outline: FullPage.properties.outline,
    citations: FullPage.properties.citations,
  },
  { title: 'ReadPage' },
);
export type ReadPage = Static<typeof ReadPage>;

/** Selects the columns of Page from a page `p`. */
export const pageColumns: Sql = sql`
  p.page_id, p.wiki_id, p.path, p.slug, p.title, p.description, coalesce(p.parent_page_id, '') as parent_page_id, p.position,
  p.status, p.origin, p.revision, p.created_at, p.updated_at, p.created_by, p.updated_by, p.word_count, p.source_count, p.stale`;

/** Whether searches find a page `p` that the caller sees. */
export const IS_FOUND: Sql = raw(`(p.trashed_at is null and p.status <> 'archived')`);

/** A stored page, with the data to show its links with current paths. */
export interface FullPageRow extends FullPage {
  folder: string;
  moved: MovedLink[] | null;
}

/** The sources of a page `p`. */
export const citedSources: Sql = sql`coalesce((
  select json_agg(json_build_object('source_id', s.source_id, 'title', s.title, 'filename', s.filename) order by s.source_id)
  from page_sources c join sources s on s.wiki_id = c.wiki_id and s.source_id = c.source_id
  where c.wiki_id = p.wiki_id and c.page_id = p.page_id), '[]')`;

/** The columns of FullPageRow from a page `p` and its current revision `r`. */
const fullPageColumns: Sql = sql`${pageColumns}, r.markdown, r.html, r.outline, r.folder,
  ${movedLinksOfPage} as moved, ${citedSources} as citations`;

export const examplePage: Page = {
  page_id: 'page_01jd8w3v6xf3e8h2k9m4n5p6s1',
  wiki_id: 'wiki_01jd8w3v6xf3e8h2k9m4n5p6q9',
  path: 'guide/setup',
  slug: 'setup',
  title: 'Setup',
  description: 'How to install Acme.',
  parent_page_id: 'page_01jd8w3v6xf3e8h2k9m4n5p6s0',
  position: 0,
  status: 'published',
  origin: 'compiled',
  revision: 1,
  created_at: '2026-11-21T05:29:32.104Z',
  updated_at: '2026-11-21T05:29:32.104Z',
  created_by: 'user_01jd8w3v6xf3e8h2k9m4n5p6q8',
  updated_by: 'user_01jd8w3v6xf3e8h2k9m4n5p6q8',
  word_count: 5,
  source_count: 1,
  stale: false,
};

export const exampleFullPage: FullPage = {
  ...examplePage,
  markdown: '# Setup\n\nHow to install Acme.\n',
  html: '<h1 id="h-setup">Setup</h1>\n<p>How to install Acme.</p>',
  outline: [{ level: 1, text: 'Setup', anchor: 'h-setup' }],
  citations: [{ source_id: 'source_01jd8w3v6xf3e8h2k9m4n5p6t1', title: 'Setup', filename: 'guide/setup.md' }],
};

const { page_id, parent_page_id, path, title, position, status } = examplePage;
export const exampleBranch: Static<typeof BranchEntry> = {
  page_id,
  parent_page_id,
  path,
  title,
  position,
  status,
  has_children: true,
};

export const PageParams = Type.Object({ wiki_id: Id, page_id: Id });

/** Selects a page `p` with its current revision `r` by its id; to be used after `from`. */
export function presentPage({ wiki_id, page_id }: { wiki_id: string; page_id: string }): Sql {
  return sql`
    pages p
    join revisions r on r.wiki_id = p.wiki_id and r.page_id = p.page_id and r.revision = p.revision
    where p.wiki_id = ${wiki_id} and p.page_id = ${page_id} and p.trashed_at is null`;
}

/** Selects a page with its current text by its id, for the endpoints that return it. */
export function fullPageById(params: { wiki_id: string; page_id: string }): Sql {
  return sql`select ${fullPageColumns} from ${presentPage(params)}`;
}

/** Returns the part of an ETag that If-Match refers to. */
export function pageTag({ revision }: { revision: number }): string {
  return String(revision);
}
