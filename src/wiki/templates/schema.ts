import { type Static, Type } from 'typebox';
import { Id, Record, Text, Timestamp } from '../../platform/core/records.ts';
import { type Sql, sql } from '../../platform/db/sql.ts';
import { examplePage } from '../pages/schema.ts';

export const Template = Record(
  {
    page_id: Id,
    wiki_id: Id,
    path: Type.String({ description: 'Path of the template page.' }),
    title: Type.String({ description: 'Title as written, with its variables.' }),
    description: Text,
    status: Type.Enum(['draft', 'published', 'archived'], {
      description: 'Status of the page. A draft can be a template.',
    }),
    created_at: Type.String({ description: 'When the page became a template: RFC 3339, UTC, milliseconds.' }),
    created_by: Type.String({ description: 'The user who made the page a template.' }),
    updated_at: Timestamp,
  },
  { title: 'Template', description: 'A page that new pages can start from.' },
);
export type Template = Static<typeof Template>;

export const FullTemplate = Record(
  {
    ...Template.properties,
    markdown: Type.String({ description: 'Text as written, with its variables.' }),
  },
  { title: 'FullTemplate' },
);
export type FullTemplate = Static<typeof FullTemplate>;

/** Selects the columns of Template from a row `m` and its page `p`. */
export const templateColumns: Sql = sql`
  p.page_id, p.wiki_id, p.path, p.title, p.description, p.status, m.created_at, m.created_by, p.updated_at`;

export const exampleTemplate: Template = {
  page_id: examplePage.page_id,
  wiki_id: examplePage.wiki_id,
  path: 'templates/meeting',
  title: 'Meeting of {{date}}',
  description: 'Who was there and what was decided.',
  status: 'published',
  created_at: examplePage.created_at,
  created_by: examplePage.created_by,
  updated_at: examplePage.updated_at,
};
