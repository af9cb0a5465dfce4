import { Type } from 'typebox';
import { onWiki } from '../../platform/access/access-rule.ts';
import { Paging } from '../../platform/core/paging.ts';
import { WikiParams } from '../../platform/core/records.ts';
import { type Sql, sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { Tag } from './schema.ts';

export const listTags = endpoint({
  method: 'GET',
  path: '/v1/wikis/:wiki_id/tags',
  summary: 'List tags',
  description:
    'The tags of pages (`tags` or `keywords` in the front matter of their Markdown), in alphabetical order. The counts include the pages that the caller may see, except archived ones. Tags of pages written by an earlier release are listed after the next revision of the page.',
  access: onWiki('pages:read'),
  params: WikiParams,
  query: Paging,
  paging: { keys: { 'k.tag_key': 'text' } },
  reply: Type.Array(Tag),
  example: { reply: [{ tag: 'install', page_count: 3 }] },
  // Skips from tag to tag by the primary key of page_tags, and stops at the limit: the planner would sort all tags.
  run: ({ params: { wiki_id }, query: { limit, offset }, paging, many }) =>
    many(sql`
      with recursive tags as (
        (${nextTag(wiki_id, sql`${String(paging.after?.[0] ?? '')}::text`)})
        union all
        select n.tag_key from tags b cross join lateral (${nextTag(wiki_id, sql`b.tag_key`)}) n
      )
      select t.tag, t.page_count, k.tag_key from (select tag_key from tags limit ${limit} offset ${offset}) k
      cross join lateral (
        select min(t.tag) as tag, count(*)::int as page_count from page_tags t cross join lateral ${visiblePage(wiki_id)} p
        where t.wiki_id = ${wiki_id} and t.tag_key = k.tag_key) t
      order by k.tag_key`),
});

/** Selects the next tag that the caller can see on some page. */
function nextTag(wiki_id: string, before: Sql): Sql {
  return sql`
    select t.tag_key from page_tags t cross join lateral ${visiblePage(wiki_id)} p
    where t.wiki_id = ${wiki_id} and t.tag_key > ${before} order by t.tag_key limit 1`;
}

/** Selects the page of a row `t` of page_tags, if lists show it. */
function visiblePage(wiki_id: string): Sql {
  return sql`(
    select from pages p where p.wiki_id = ${wiki_id} and p.page_id = t.page_id and p.trashed_at is null and p.status <> 'archived'
    offset 0)`;
}
