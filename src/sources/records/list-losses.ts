import { Type } from 'typebox';
import { onWiki } from '../../platform/access/access-rule.ts';
import { PAGING } from '../../platform/core/paging.ts';
import { WikiParams } from '../../platform/core/records.ts';
import { sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { exampleSource, IncompleteSource } from './schema.ts';

const incompleteColumns = sql`s.source_id, s.title, s.filename, s.loss_count as losses, s.losses_to_review`;

export const listLosses = endpoint({
  method: 'GET',
  path: '/v1/wikis/:wiki_id/sources/losses',
  summary: 'List incomplete sources',
  description:
    'Sources whose text lacks content of their file, in the order of the list of sources. With `page_id`, only sources of that page.',
  access: onWiki('sources:read'),
  params: WikiParams,
  query: Type.Object({
    from: Type.Optional(Type.String({ maxLength: 100, description: 'Only this source and later ones.' })),
    page_id: Type.Optional(Type.String({ maxLength: 100, description: 'Only sources of this page.' })),
    ...PAGING,
  }),
  paging: { keys: { 's.source_id': 'text' } },
  reply: Type.Array(IncompleteSource),
  example: {
    reply: [
      {
        source_id: exampleSource.source_id,
        title: exampleSource.title,
        filename: exampleSource.filename,
        losses: 3,
        losses_to_review: 1,
      },
    ],
  },
  run: ({ params, query: { from = '', page_id }, paging, many }) =>
    many(
      page_id === undefined
        ? sql`select ${incompleteColumns}
            from sources s where s.wiki_id = ${params.wiki_id} and s.loss_count > 0 and s.source_id >= ${from}
            ${paging.clause}`
        : sql`select ${incompleteColumns}
            from page_sources c
            join pages p on p.wiki_id = c.wiki_id and p.page_id = c.page_id and p.trashed_at is null
            join sources s on s.wiki_id = c.wiki_id and s.source_id = c.source_id
            where c.wiki_id = ${params.wiki_id} and c.page_id = ${page_id} and s.loss_count > 0 and s.source_id >= ${from}
            ${paging.clause}`,
    ),
});
