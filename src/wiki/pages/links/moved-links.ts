import { DEAD } from '@ibid/markdown/dead-link.ts';
import { raw, type Sql, sql } from '../../../platform/db/sql.ts';
import { SEES_ALL_PAGES } from './sees-drafts.ts';

/**
 * Selects the links `l` (to_path, to_page_id, places) of a page `p` that are not shown as written. `is_moved`: the
 * linked page has moved, or the text was written for another `folder`. `is_hidden`: the linked page is missing or
 * hidden; who sees every page sees such links anyway. Looks up each page by its key (`offset 0`), because there are
 * few.
 */
export function movedLinks(links: Sql, folder: Sql): Sql {
  return sql`(
    select json_agg(json_build_object('to_path', l.to_path, 'path', case when h.is_moved then coalesce(t.path, l.to_path) end,
      'places', case when h.is_moved then l.places else '{}' end, 'is_hidden', h.is_hidden))
    from ${links} l
    left join lateral (
      select n.path from pages n where n.wiki_id = p.wiki_id and n.page_id = l.to_page_id and n.trashed_at is null offset 0) t on true
    cross join lateral (
      select coalesce(t.path <> l.to_path, false) or ${folder} <> coalesce(p.parent_path, '') as is_moved,
        t.path is null and not starts_with(l.to_path, '[[') and not ${SEES_ALL_PAGES} as is_hidden) h
    where h.is_moved or h.is_hidden)`;
}

/** SQL condition: whether a link target can be the path or the name of a page. */
export function isPossibleTarget(to_path: Sql): Sql {
  return sql`not starts_with(${to_path}, '${raw(DEAD)}')`;
}

const linksOfPage = sql`(
  select k.* from page_links k where k.wiki_id = p.wiki_id and k.from_page_id = p.page_id and ${isPossibleTarget(sql`k.to_path`)})`;

/** The links of a page `p` with its current revision `r` that are not shown as written. */
export const movedLinksOfPage: Sql = movedLinks(linksOfPage, sql`r.folder`);
