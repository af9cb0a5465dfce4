import { folderOf, type MovedLink, withCurrentLinks } from '@ibid/markdown/page-links.ts';
import { type Sql, sql } from '../../platform/db/sql.ts';
import { isPossibleTarget } from '../pages/links/moved-links.ts';
import { type Template, templateColumns } from './schema.ts';

/** A template with its stored text and all its links. */
export interface TemplateRow extends Template {
  markdown: string;
  /** The folder that relative addresses in the text start from. */
  folder: string;
  links: MovedLink[];
}

/**
 * Selects a TemplateRow, plus the given extra columns. Selects no row if the caller may not see the page or it is not a
 * template.
 */
export function templateRow({ wiki_id, page_id }: { wiki_id: string; page_id: string }, columns: Sql): Sql {
  return sql`
    select ${templateColumns}, r.markdown, r.folder, ${columns}, coalesce((
      select json_agg(json_build_object('to_path', l.to_path, 'path', coalesce(t.path, l.to_path), 'places', l.places))
      from (
        select k.* from page_links k
        where k.wiki_id = ${wiki_id} and k.from_page_id = ${page_id} and ${isPossibleTarget(sql`k.to_path`)} offset 0) l
      left join lateral (
        select t.path from pages t where t.wiki_id = ${wiki_id} and t.page_id = l.to_page_id and t.trashed_at is null
        offset 0) t on true), '[]') as links
    from templates m
    join pages p on p.wiki_id = m.wiki_id and p.page_id = m.page_id
    join revisions r on r.wiki_id = p.wiki_id and r.page_id = p.page_id and r.revision = p.revision
    where m.wiki_id = ${wiki_id} and m.page_id = ${page_id} and p.trashed_at is null`;
}

/**
 * Returns the text of the template for a page at `path`: relative links are rewritten to start there and to point at
 * the current paths of their pages.
 */
export function textAt(path: string, { markdown, folder, links }: TemplateRow): string {
  const isThere = folder === folderOf(path);
  const moved = links.filter((link) => !isThere || link.path !== link.to_path);
  return withCurrentLinks({ path, markdown, html: '' }, folder, moved).markdown;
}
