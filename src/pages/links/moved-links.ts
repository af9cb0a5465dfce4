import { hasPermission } from '../../access/access-rule.ts';
import { raw, type Sql, sql } from '../../db/sql.ts';
import { DEAD } from '../../markdown/page-links.ts';

/**
 * Of the links `l` (to_path, to_page_id, places) of a page `p`: those that lead elsewhere than to where its text says, which
 * starts from `folder`. Page by page (`offset 0`), since few links lead to few pages.
 */
export function movedLinks(links: Sql, folder: Sql): Sql {
  return sql`(
    select json_agg(json_build_object('to_path', l.to_path, 'path', coalesce(t.path, l.to_path), 'places', l.places))
    from ${links} l
    left join lateral (
      select n.path from pages n where n.wiki_id = p.wiki_id and n.page_id = l.to_page_id and n.trashed_at is null
        and (n.status <> 'draft' or ${hasPermission('pages:write')}) offset 0) t on true
    where t.path <> l.to_path or ${folder} <> coalesce(p.parent_path, ''))`;
}

/** Whether what a link is written as can be the path or the name of a page. */
export function canLead(to_path: Sql): Sql {
  return sql`not starts_with(${to_path}, '${raw(DEAD)}')`;
}

const linksOfPage = sql`(
  select k.* from page_links k where k.wiki_id = p.wiki_id and k.from_page_id = p.page_id and ${canLead(sql`k.to_path`)})`;

/** Of a page `p` and its present revision `r`, which of its links are shown otherwise than they are written. */
export const movedLinksOfPage: Sql = movedLinks(linksOfPage, sql`r.folder`);
