import { onWiki } from '../../platform/access/access-rule.ts';
import { WikiParams } from '../../platform/core/records.ts';
import { sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { exampleSettings, settingsColumns, WikiSettings } from './schema.ts';

export const getSettings = endpoint({
  method: 'GET',
  path: '/v1/wikis/:wiki_id/settings',
  summary: "Get a wiki's settings",
  access: onWiki('pages:read'),
  params: WikiParams,
  reply: WikiSettings,
  example: { reply: exampleSettings },
  run: ({ params, one }) => one(sql`select ${settingsColumns} from wikis w where w.wiki_id = ${params.wiki_id}`),
});
