import { Type } from 'typebox';
import { onWiki } from '../../platform/access/access-rule.ts';
import { sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { exampleSource, SourceParams, SourceText } from './schema.ts';

export const getSourceText = endpoint({
  method: 'GET',
  path: '/v1/wikis/:wiki_id/sources/:source_id/text',
  summary: "Get a source's text",
  description:
    'The text extracted from the file, without markup, one line for each block. Offsets of citations and searches refer to this text. With Accept, also available as text/plain.',
  access: onWiki('sources:read'),
  params: SourceParams,
  query: Type.Object({
    start: Type.Integer({ minimum: 0, default: 0, description: 'Start of the part, in UTF-16 units.' }),
    end: Type.Integer({
      minimum: 0,
      default: 2 ** 31 - 1,
      description: 'End of the part, in UTF-16 units; limited to the end of the text.',
    }),
  }),
  reply: SourceText,
  representations: { 'text/plain': ({ text }) => text },
  example: {
    reply: { source_id: exampleSource.source_id, start: 6, end: 26, length: 26, text: 'How to install Acme.' },
  },
  run: async ({ params, query, one }) => {
    const { text } = await one<{ text: string }>(sql`
      select t.text from sources s join source_texts t on t.wiki_id = s.wiki_id and t.source_id = s.source_id
      where s.wiki_id = ${params.wiki_id} and s.source_id = ${params.source_id}`);
    const start = Math.min(query.start, text.length);
    const end = Math.max(start, Math.min(query.end, text.length));
    return { source_id: params.source_id, start, end, length: text.length, text: text.slice(start, end) };
  },
});
