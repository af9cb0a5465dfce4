import { onWiki } from '../../platform/access/access-rule.ts';
import { notFound } from '../../platform/core/errors.ts';
import { sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { PageParams } from '../pages/schema.ts';
import { exampleTemplate, Template, templateColumns } from './schema.ts';

export const addTemplate = endpoint({
  method: 'PUT',
  path: '/v1/wikis/:wiki_id/templates/:page_id',
  summary: 'Make a page a template',
  description:
    'The page itself does not change. In its title and text, `{{title}}`, `{{date}}` and `{{author}}` are replaced in each new page. ' +
    'Repeating the request has no effect.',
  access: onWiki('pages:write'),
  event: 'template.added',
  params: PageParams,
  reply: Template,
  example: { reply: exampleTemplate },
  run: async ({ params: { wiki_id, page_id }, many, maybeOne }) => {
    const [added] = await many<Template>({
      m: sql`
        insert into templates (wiki_id, page_id, created_by)
        select p.wiki_id, p.page_id, a.user_id from access a
        join pages p on p.wiki_id = a.wiki_id and p.page_id = ${page_id}
        where p.trashed_at is null
        on conflict (wiki_id, page_id) do nothing
        returning *`,
      result: sql`select ${templateColumns} from m join pages p on p.wiki_id = ${wiki_id} and p.page_id = m.page_id`,
    });
    if (added) return added;
    const existing = await maybeOne<Template>(sql`
      select ${templateColumns} from templates m join pages p on p.wiki_id = m.wiki_id and p.page_id = m.page_id
      where m.wiki_id = ${wiki_id} and m.page_id = ${page_id} and p.trashed_at is null`);
    if (!existing) throw notFound();
    return existing;
  },
});
