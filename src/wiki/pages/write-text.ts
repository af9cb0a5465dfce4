import type { PageLink } from '@ibid/markdown/page-links.ts';
import type { RenderedPage } from '@ibid/markdown/render.ts';
import { raw, type Sql, sql } from '../../platform/db/sql.ts';
import { pendingCte } from '../search/index/pending.ts';

/** The document to index: the page of the CTE `edited`. */
const WRITTEN = raw('select e.wiki_id, e.page_id as document_id, e.revision as version from edited e');

/** Parses links from JSON into rows by which pages can be looked up. */
export function givenLinks(json: Sql): Sql {
  return sql`(
    select to_path, lower(wanted_title) as wanted_title, wanted_path, coalesce(wanted_path, to_path) as path, places,
      coalesce(line, 0) as line
    from jsonb_to_recordset(${json}) as g (to_path text, wanted_title text, wanted_path text, places int[], line int) offset 0)`;
}

/** Selects links with the page that each one means; null if there is and was no such page. */
export function resolvedLinks(wiki_id: string, links: readonly PageLink[]): Sql {
  return sql`
    select l.to_path, l.wanted_title, l.wanted_path, l.places, l.line, ${linkTargetOf(wiki_id)} as to_page_id
    from ${givenLinks(sql`${JSON.stringify(links)}::jsonb`)} l`;
}

/**
 * The id of the page that a link `l` of givenLinks means: the page at its path, else the page with its title, which the
 * writer may not see, else a page that was formerly at its path.
 */
export function linkTargetOf(wiki_id: string): Sql {
  return sql`coalesce(
    ${liveLinkTarget(wiki_id)},
    case when (select restricts()) then hidden_link_target(${wiki_id}, l.path, l.wanted_title) end,
    (select o.page_id from page_paths o where o.wiki_id = ${wiki_id} and o.path = l.path))`;
}

/**
 * The id of the live page at the path of a link `l`, else of the live page with its title; null if neither exists. Both
 * must be columns of `l`: under row-level security, expressions cannot be index keys.
 */
export function liveLinkTarget(wiki_id: string): Sql {
  return sql`coalesce(
    (select t.page_id from pages t where t.wiki_id = ${wiki_id} and t.path = l.path and t.trashed_at is null),
    (select t.page_id from pages t where t.wiki_id = ${wiki_id} and t.title_key = l.wanted_title and t.trashed_at is null
      order by length(t.path), t.page_id limit 1))`;
}

/**
 * CTEs that write a new text as the current revision of the page of the CTE `edited` (its row after the write): the
 * revision, the text and terms for searches, and the links of the CTE `resolved`.
 */
export function textCtes(
  wiki_id: string,
  { title, markdown, folder, rendered }: { title: string; markdown: string; folder: string; rendered: RenderedPage },
): Record<string, Sql> {
  const { html, outline, text } = rendered;
  return {
    revised: sql`
      insert into revisions (wiki_id, page_id, revision, title, markdown, html, outline, created_by, origin, folder)
      select e.wiki_id, e.page_id, e.revision, e.title, ${markdown}::text, ${html}::text, ${JSON.stringify(outline)}::jsonb,
        e.updated_by, 'authored', ${folder}::text
      from edited e`,
    kept_text: sql`
      insert into page_texts (wiki_id, page_id, text) select e.wiki_id, e.page_id, ${text}::text from edited e
      on conflict (wiki_id, page_id) do update set text = excluded.text`,
    indexed: pendingCte('page', { title, body: rendered.indexed }, WRITTEN),
    unlinked: sql`
      delete from page_links l using edited e
      where l.wiki_id = ${wiki_id} and l.from_page_id = e.page_id
        and not exists (select from resolved r where r.to_path = l.to_path)`,
    // The missing page may have been created concurrently.
    linked: sql`
      insert into page_links as l (wiki_id, from_page_id, to_path, to_page_id, places, wanted_title, wanted_path, line)
      select e.wiki_id, e.page_id, r.to_path, r.to_page_id, r.places, r.wanted_title, r.wanted_path, r.line from edited e, resolved r
      on conflict (wiki_id, from_page_id, to_path)
      do update set to_page_id = coalesce(excluded.to_page_id, l.to_page_id), places = excluded.places, line = excluded.line`,
  };
}

/**
 * The links of the CTE `resolved` as stored by textCtes for the page `p`, which the same statement cannot see yet.
 * `offset 0` makes the ids columns, by which pages can be looked up.
 */
export function writtenLinks(wiki_id: string): Sql {
  return sql`(
    select r.to_path, r.places, coalesce(r.to_page_id, k.to_page_id) as to_page_id from resolved r
    left join page_links k on k.wiki_id = ${wiki_id} and k.from_page_id = p.page_id and k.to_path = r.to_path
    offset 0)`;
}

/** CTEs that write only a new title of the page of the CTE `edited`, and copy its text. */
export function titleCtes(wiki_id: string, title: string): Record<string, Sql> {
  return {
    revised: sql`
      insert into revisions (wiki_id, page_id, revision, title, markdown, html, outline, created_by, origin, folder)
      select e.wiki_id, e.page_id, e.revision, e.title, r.markdown, r.html, r.outline, e.updated_by, 'authored', r.folder
      from edited e join revisions r on r.wiki_id = ${wiki_id} and r.page_id = e.page_id and r.revision = e.revision - 1`,
    indexed: pendingCte('page', { title, body: undefined }, WRITTEN),
  };
}
