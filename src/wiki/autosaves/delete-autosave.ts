import { Type } from 'typebox';
import { onWiki } from '../../platform/access/access-rule.ts';
import { sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { AutosaveParams } from './schema.ts';

/** Writes no audit record: putAutosave writes none either. */
export const deleteAutosave = endpoint({
  method: 'DELETE',
  path: '/v1/wikis/:wiki_id/autosaves/:autosave_id',
  summary: 'Delete an autosave',
  description: 'Call this after saving the text as a page.',
  access: onWiki('pages:write'),
  whenUnpaid: true,
  params: AutosaveParams,
  status: 204,
  reply: Type.Null(),
  example: { reply: null },
  run: async ({ params, one }) => {
    await one({
      s: sql`
        delete from autosaves s using access a
        where s.wiki_id = a.wiki_id and s.user_id = a.user_id and s.autosave_id = ${params.autosave_id}
        returning s.autosave_id`,
      result: sql`select from s`,
    });
    return null;
  },
});
