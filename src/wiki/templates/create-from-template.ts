import { Type } from 'typebox';
import { onWiki } from '../../platform/access/access-rule.ts';
import { databaseTime } from '../../platform/core/clock.ts';
import { notFound } from '../../platform/core/errors.ts';
import { InputText } from '../../platform/core/records.ts';
import { sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { addPage, exampleNewPage } from '../pages/create-page.ts';
import { FullPage, PageParams, pageTag } from '../pages/schema.ts';
import { fillTemplate } from './fill-template.ts';
import { type TemplateRow, templateRow, textAt } from './template-text.ts';

export const createFromTemplate = endpoint({
  method: 'POST',
  path: '/v1/wikis/:wiki_id/templates/:page_id/pages',
  summary: 'Create a page from a template',
  description:
    'Copies the text of the template and replaces `{{title}}`, `{{date}}` and `{{author}}`; any other text in braces is kept. ' +
    'Relative links keep their targets. Without a title, the page gets the title of the template, with its variables ' +
    'replaced. Slugs, positions and limits follow the rules for new pages.',
  access: onWiki('pages:write', { readsPage: true }),
  event: 'page.created',
  params: PageParams,
  body: Type.Object({
    title: Type.Optional(InputText()),
    parent_page_id: Type.Optional(InputText({ description: '"" or absent: the root.' })),
    slug: Type.Optional(Type.Union([InputText(), Type.Null()])),
    status: Type.Optional(Type.Enum(['draft', 'published', 'archived'])),
    date: Type.Optional(
      Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$', description: 'Value of `{{date}}`; by default, today in UTC.' }),
    ),
  }),
  status: 201,
  reply: FullPage,
  etag: pageTag,
  errors: ['quota_exceeded', 'invalid_title', 'invalid_slug', 'invalid_request', 'slug_taken'],
  example: {
    body: { title: 'Setup' },
    reply: exampleNewPage,
  },
  run: async (context) => {
    const { params, body, maybeOne } = context;
    const { parent_page_id = '', date = new Date(databaseTime()).toISOString().slice(0, 10) } = body;
    const template = await maybeOne<TemplateRow & { author: string; parent_path: string | null }>(
      templateRow(
        params,
        sql`
          (select u.display_name from users u join access a on a.user_id = u.user_id) as author,
          (select t.path from pages t where t.wiki_id = ${params.wiki_id} and t.page_id = ${parent_page_id}
            and t.trashed_at is null) as parent_path`,
      ),
    );
    if (!template) throw notFound();
    const { author, parent_path } = template;
    const title = body.title ?? fillTemplate(template.title, { date, author });
    const text = textAt(parent_path === null ? 'page' : `${parent_path}/page`, template);
    const markdown = fillTemplate(text, { title: title.trim(), date, author });
    return addPage(context, { ...body, title, markdown, parent_page_id });
  },
});
