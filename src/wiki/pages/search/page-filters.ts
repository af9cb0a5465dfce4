import { namedPeople } from '../../../platform/access/people.ts';
import { raw, type Sql, sql } from '../../../platform/db/sql.ts';
import { conditionsOf, type FilterConditions } from '../../search/query/filter-conditions.ts';
import type { Filter } from '../../search/query/filters.ts';
import { IS_UNSEEN } from '../../search/query/postings/seen-documents.ts';
import type { Shown } from '../../search/query/shown-documents.ts';
import { IS_FOUND } from '../schema.ts';

const CONDITIONS: FilterConditions = {
  in: isBelow,
  path: (parts) => sql`exists (
    select from unnest(${parts.map(pathOf)}::text[]) w (part) where position(w.part in folded(p.path)) > 0)`,
  author: (authors) => sql`p.created_by in (${namedPeople(authors)})`,
  tag: hasTag,
  status: (statuses) => sql`p.status = any (${statuses}::text[])`,
  type: (types) => sql`'page' = any (${types}::text[])`,
};

/** Whether a page equals, or is below, any of the given pages, by path or id. */
function isBelow(pages: string[]): Sql {
  return sql`exists (
    select from unnest(${pages.map(pathOf)}::text[] || array(
      select folded(above.path) from pages above
      where above.wiki_id = (select a.wiki_id from access a) and above.page_id = any (${pages}::text[]))) w (path)
    where folded(p.path) = w.path or starts_with(folded(p.path), w.path || '/'))`;
}

/** Whether a page has any of the tags, compared in the form in which they are stored (markdown/front-matter). */
function hasTag(tags: string[]): Sql {
  return sql`p.page_id in (
    select g.page_id from page_tags g where g.wiki_id = (select a.wiki_id from access a)
      and g.tag_key in (select lower(w.tag) from unnest(${tags.map(tagOf)}::text[]) w (tag)))`;
}

function tagOf(value: string): string {
  return value.replace(/^#\s*/, '').normalize('NFC');
}

function pathOf(value: string): string {
  return value
    .toLowerCase()
    .replace(/^\/+|\/+$/g, '')
    .replaceAll(' ', '-');
}

const IS_LIVE = raw('p.trashed_at is null');

/**
 * Returns the pages that a search with these filters may show. Archived pages are shown only if a filter asks for a
 * status.
 */
export function shownPages(wiki_id: string, filters: readonly Filter[]): Shown {
  const asksForStatus = filters.some(({ field, isExcluded }) => field === 'status' && !isExcluded);
  return {
    isFound: sql`${asksForStatus ? IS_LIVE : IS_FOUND} ${conditionsOf(filters, 'p', CONDITIONS)}`,
    isFiltered: filters.length > 0,
    leftOut: sql`
      select h.document_no, h.page_id as document_id from pages_not_open(${wiki_id}) h
      where h.is_trashed or h.status = 'archived' or ${IS_UNSEEN}`,
  };
}
