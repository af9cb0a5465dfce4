import { Type } from 'typebox';
import { onWiki } from '../../../platform/access/access-rule.ts';
import { Paging } from '../../../platform/core/paging.ts';
import { WikiParams } from '../../../platform/core/records.ts';
import { type Sql, sql } from '../../../platform/db/sql.ts';
import { endpoint } from '../../../platform/http/endpoint.ts';
import { examplePage } from '../schema.ts';
import { leadsOutsideWiki, writtenTarget } from './broken-links.ts';
import { BrokenLink } from './schema.ts';

export const listBrokenLinks = endpoint({
  method: 'GET',
  path: '/v1/wikis/:wiki_id/broken-links',
  summary: 'List broken links',
  description:
    'Links and images that do not resolve within the wiki: their page is missing or in the trash, or no page can have their address. Links to other sites are not checked. A link is no longer listed once its page exists. Links of pages written by an earlier release are listed after the next revision of the page.',
  access: onWiki('pages:write'),
  params: WikiParams,
  query: Paging,
  paging: { keys: { 'l.from_page_id': 'text', 'l.to_path': 'text' } },
  reply: Type.Array(BrokenLink),
  example: {
    reply: [
      {
        page_id: examplePage.page_id,
        path: examplePage.path,
        title: examplePage.title,
        target: 'guide/install',
        line: 3,
        filename: 'guide/setup.md',
      },
    ],
  },
  // Walks links without a page in their order (page_links_without_a_page) until there are enough. Links to pages in the
  // trash are found from the trash, and those to hidden pages from these. Each page is looked up by its key (`offset 0`).
  run: ({ params: { wiki_id }, query: { limit, offset }, paging, many }) => {
    const firstOf = (links: Sql) => sql`(
      select l.from_page_id as page_id, p.path, p.title, ${writtenTarget} as target, l.line, coalesce(f.filename, '') as filename,
        l.from_page_id, l.to_path
      from ${links} l
      cross join lateral (
        select p.path, p.title from pages p
        where p.wiki_id = ${wiki_id} and p.page_id = l.from_page_id and p.trashed_at is null offset 0) p
      left join lateral (
        select f.filename from compiled_files c
        join upload_files f on f.wiki_id = c.wiki_id and f.upload_id = c.upload_id and f.file_no = c.file_no
        where c.wiki_id = ${wiki_id} and c.page_id = l.from_page_id offset 0) f on true
      where not ${leadsOutsideWiki(wiki_id)} ${paging.seekClause}
      order by l.from_page_id, l.to_path limit ${limit + offset})`;
    return many(sql`
      select l.* from (
        ${firstOf(sql`(
          select k.from_page_id, k.to_path, k.line from page_links k where k.wiki_id = ${wiki_id} and k.to_page_id is null)`)}
        union all
        ${firstOf(sql`(
          select k.from_page_id, k.to_path, k.line
          from (select t.page_id from pages t where t.wiki_id = ${wiki_id} and t.trashed_at is not null offset 0) t
          cross join lateral (
            select k.* from page_links k where k.wiki_id = ${wiki_id} and k.to_page_id = t.page_id offset 0) k)`)}
        union all
        ${firstOf(sql`(
          select k.from_page_id, k.to_path, k.line
          from (select h.page_id from hidden_pages h where (select restricts()) and h.wiki_id = ${wiki_id} offset 0) h
          cross join lateral (
            select k.* from page_links k where k.wiki_id = ${wiki_id} and k.to_page_id = h.page_id offset 0) k)`)}
      ) l
      order by l.from_page_id, l.to_path limit ${limit} offset ${offset}`);
  },
});
