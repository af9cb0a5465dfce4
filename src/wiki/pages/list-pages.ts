import { Type } from 'typebox';
import { onWiki } from '../../platform/access/access-rule.ts';
import { PAGING } from '../../platform/core/paging.ts';
import { InputText, WikiParams } from '../../platform/core/records.ts';
import { type Sql, sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { examplePage, Page, pageColumns } from './schema.ts';

export const listPages = endpoint({
  method: 'GET',
  path: '/v1/wikis/:wiki_id/pages',
  summary: 'List pages',
  description: 'Drafts are listed only if the caller may write; archived pages only if `status` asks for them.',
  access: onWiki('pages:read'),
  params: WikiParams,
  query: Type.Object({
    ...PAGING,
    status: Type.Optional(
      Type.Enum(['draft', 'published', 'archived'], { description: 'Only pages with this status.' }),
    ),
    tag: Type.Optional(InputText({ minLength: 1, description: 'Only pages with this tag, ignoring case.' })),
  }),
  paging: { keys: { 'p.page_id': 'text' } },
  reply: Type.Array(Page),
  example: { reply: [examplePage] },
  // Walks the primary key of pages, or of page_tags for a tag, so that the first page of results costs the same in a
  // wiki of any size.
  run: ({ params, query: { status = null, tag }, paging, many }) =>
    many(sql`
      select ${pageColumns} from ${tag === undefined ? sql`pages p` : pagesOfTag(params.wiki_id, tag)}
      where p.wiki_id = ${params.wiki_id} and p.trashed_at is null
        and (p.status = ${status}::text or (${status}::text is null and p.status <> 'archived'))
      ${paging.clause}
    `),
});

/** Tags are compared in the form in which they are stored (markdown/front-matter). */
function pagesOfTag(wiki_id: string, tag: string): Sql {
  return sql`
    (select t.page_id from page_tags t where t.wiki_id = ${wiki_id} and t.tag_key = lower(${tag.normalize('NFC')}::text)) t
    join pages p on p.page_id = t.page_id`;
}
