import { onWiki } from '../../platform/access/access-rule.ts';
import { sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { AutosaveParams, autosaveColumns, exampleAutosave, FullAutosave, OWN_AUTOSAVES } from './schema.ts';

export const getAutosave = endpoint({
  method: 'GET',
  path: '/v1/wikis/:wiki_id/autosaves/:autosave_id',
  summary: 'Get an autosave',
  access: onWiki('pages:write'),
  params: AutosaveParams,
  reply: FullAutosave,
  example: { reply: { ...exampleAutosave, markdown: '# Setup\n\nHalf a sent' } },
  run: ({ params, one }) =>
    one(sql`
      select ${autosaveColumns}, s.markdown from ${OWN_AUTOSAVES} where s.autosave_id = ${params.autosave_id}`),
});
