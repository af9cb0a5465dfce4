import { signedIn } from '../../../platform/access/access-rule.ts';
import { sql } from '../../../platform/db/sql.ts';
import { endpoint } from '../../../platform/http/endpoint.ts';
import { examplePreferences, Preferences, preferencesColumns } from './preferences.ts';

export const getPreferences = endpoint({
  method: 'GET',
  path: '/v1/me/preferences',
  summary: "Get the caller's preferences",
  access: signedIn({ unrestricted: true }),
  reply: Preferences,
  example: { reply: examplePreferences },
  run: ({ one }) => one(sql`select ${preferencesColumns} from access a join users u on u.user_id = a.user_id`),
});
