import { namedPeople } from '../../access/people.ts';
import { raw, type Sql, sql } from '../../db/sql.ts';
import { conditionsOf, type FilterConditions, isInTime } from '../../search/query/filter-conditions.ts';
import type { Filter } from '../../search/query/filters.ts';
import type { Shown } from '../../search/query/shown-documents.ts';
import { IS_FOUND, isVisible } from '../schema.ts';

const CONDITIONS: FilterConditions = {
  in: ({ value }) => isBelow(value),
  path: ({ value }) => sql`position(${pathOf(value)} in lower(p.path)) > 0`,
  author: ({ value }) => sql`p.created_by in (${namedPeople(value)})`,
  created: (filter) => isInTime(raw('p.created_at'), filter),
  updated: (filter) => isInTime(raw('p.updated_at'), filter),
  status: ({ value }) => sql`p.status = ${value}`,
  type: ({ value }) => raw(String(value === 'page')),
};

/** The page that is named by its path or id, or a page below it. */
function isBelow(page: string): Sql {
  const path = /^page_[0-9a-z]{26}$/.test(page)
    ? sql`(select above.path from pages above where above.wiki_id = (select a.wiki_id from access a) and above.page_id = ${page})`
    : sql`${pathOf(page)}::text`;
  return sql`lower(p.path) = ${path} or starts_with(lower(p.path), ${path} || '/')`;
}

function pathOf(value: string): string {
  return value
    .toLowerCase()
    .replace(/^\/+|\/+$/g, '')
    .replaceAll(' ', '-');
}

const IS_HIDDEN = sql`(p.trashed_at is not null or p.status <> 'published') and not ${IS_FOUND}`;

/** What a search for pages with these filters shows. Archived pages are shown to who asks for a status. */
export function shownPages(filters: readonly Filter[]): Shown {
  const asksForStatus = filters.some(({ field, isExcluded }) => field === 'status' && !isExcluded);
  return {
    isFound: sql`${asksForStatus ? isVisible : IS_FOUND} ${conditionsOf(filters, CONDITIONS)}`,
    isFiltered: filters.length > 0,
    isHidden: IS_HIDDEN,
  };
}
