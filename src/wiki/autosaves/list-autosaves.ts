import { Type } from 'typebox';
import { onWiki } from '../../platform/access/access-rule.ts';
import { PAGING } from '../../platform/core/paging.ts';
import { InputText, WikiParams } from '../../platform/core/records.ts';
import { sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { Autosave, autosaveColumns, exampleAutosave, OWN_AUTOSAVES } from './schema.ts';

export const listAutosaves = endpoint({
  method: 'GET',
  path: '/v1/wikis/:wiki_id/autosaves',
  summary: 'List autosaves',
  access: onWiki('pages:write'),
  params: WikiParams,
  query: Type.Object({
    ...PAGING,
    page_id: Type.Optional(InputText({ description: 'Only autosaves of this page; "" for autosaves of new pages.' })),
  }),
  paging: { keys: { 's.autosave_id': 'text' } },
  reply: Type.Array(Autosave),
  example: { reply: [exampleAutosave] },
  run: ({ query: { page_id = null }, paging, many }) =>
    many(sql`
      select ${autosaveColumns} from ${OWN_AUTOSAVES}
      where (${page_id}::text is null or coalesce(s.page_id, '') = ${page_id}) ${paging.clause}`),
});
