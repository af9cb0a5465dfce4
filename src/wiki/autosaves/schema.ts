import { type Static, Type } from 'typebox';
import { Id, Record, Timestamp } from '../../platform/core/records.ts';
import { raw, type Sql, sql } from '../../platform/db/sql.ts';
import { exampleFullPage } from '../pages/schema.ts';

/** Days that an autosave is kept after its last change. */
export const AUTOSAVE_DAYS = 90;

/** Maximum number of autosaves per user in a wiki; the trigger `limit_autosaves` enforces the same number. */
export const AUTOSAVES_MAX = 100;

const AutosaveId = Type.String({
  pattern: '^[A-Za-z0-9_-]{8,64}$',
  description: 'Chosen by the client, such as 24 random hexadecimal digits; one for each open editor.',
});

export const Autosave = Record(
  {
    autosave_id: Type.String({ description: 'The id that the client chose.' }),
    wiki_id: Id,
    page_id: Type.String({ default: '', description: 'The page being edited; "" for a new page.' }),
    parent_page_id: Type.String({ default: '', description: 'Parent of a new page; "" for the root.' }),
    title: Type.String(),
    base_revision: Type.Integer({
      description: 'The revision of the page that the text is based on; 0 for a new page.',
    }),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  {
    title: 'Autosave',
    description: 'An unsaved text of a page. Only its author can see it.',
  },
);
export type Autosave = Static<typeof Autosave>;

export const FullAutosave = Record({ ...Autosave.properties, markdown: Type.String() }, { title: 'FullAutosave' });
export type FullAutosave = Static<typeof FullAutosave>;

export const AutosaveParams = Type.Object({ wiki_id: Id, autosave_id: AutosaveId });

/** Selects the columns of Autosave from a row `s`. */
export const autosaveColumns: Sql = sql`
  s.autosave_id, s.wiki_id, coalesce(s.page_id, '') as page_id, s.parent_page_id, s.title, s.base_revision, s.created_at,
  s.updated_at`;

/** The caller's autosaves in the wiki of the request path, as rows `s`. */
export const OWN_AUTOSAVES: Sql = raw(`autosaves s join access a on s.wiki_id = a.wiki_id and s.user_id = a.user_id`);

export const exampleAutosave: Autosave = {
  autosave_id: '5f0c9b6a1d2e4f7a8b3c6d9e',
  wiki_id: exampleFullPage.wiki_id,
  page_id: exampleFullPage.page_id,
  parent_page_id: '',
  title: 'Setup',
  base_revision: 1,
  created_at: '2026-11-21T05:29:32.104Z',
  updated_at: '2026-11-21T05:31:07.550Z',
};
