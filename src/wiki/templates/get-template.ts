import { Type } from 'typebox';
import { onWiki } from '../../platform/access/access-rule.ts';
import { pickFields } from '../../platform/core/records.ts';
import { raw } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { PageParams } from '../pages/schema.ts';
import { exampleTemplate, FullTemplate } from './schema.ts';
import { type TemplateRow, templateRow, textAt } from './template-text.ts';

export const getTemplate = endpoint({
  method: 'GET',
  path: '/v1/wikis/:wiki_id/templates/:page_id',
  summary: 'Get a template with its text',
  description: 'The text is adapted to `page_path`: relative links resolve from there.',
  access: onWiki('pages:read'),
  params: PageParams,
  query: Type.Object({
    page_path: Type.Optional(Type.String({ maxLength: 4_096, description: 'By default, the path of the template.' })),
  }),
  reply: FullTemplate,
  example: { reply: { ...exampleTemplate, markdown: '# {{title}}\n\nNotes by {{author}}.\n' } },
  run: async ({ params, query, one }) => {
    const row = await one<TemplateRow>(templateRow(params, raw('0')));
    return pickFields(FullTemplate, { ...row, markdown: textAt(query.page_path ?? row.path, row) });
  },
});
