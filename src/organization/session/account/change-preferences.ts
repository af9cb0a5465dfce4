import { Type } from 'typebox';
import { signedIn } from '../../../platform/access/access-rule.ts';
import { ApiError } from '../../../platform/core/errors.ts';
import { InputText } from '../../../platform/core/records.ts';
import { sql } from '../../../platform/db/sql.ts';
import { endpoint } from '../../../platform/http/endpoint.ts';
import { examplePreferences, LANGUAGES, Preferences, preferencesColumns } from './preferences.ts';

export const changePreferences = endpoint({
  method: 'PATCH',
  path: '/v1/me/preferences',
  summary: "Change the caller's preferences",
  description: 'Omitted settings do not change.',
  access: signedIn({ unrestricted: true }),
  event: 'user.updated',
  body: Type.Object({
    language: Type.Optional(Type.Enum(['', ...LANGUAGES])),
    time_zone: Type.Optional(InputText()),
  }),
  reply: Preferences,
  errors: ['invalid_request'],
  example: { body: examplePreferences, reply: examplePreferences },
  run: async ({ body, one, refuse }) => {
    const { language = null, time_zone = null } = body;
    if (time_zone !== null && !isTimeZone(time_zone)) {
      return refuse(new ApiError('invalid_request', 'Unknown time zone. Use an IANA name, such as Europe/Paris.'));
    }
    return one({
      before: sql`
        select u.user_id, ${preferencesColumns} from users u join access a on a.user_id = u.user_id for update of u`,
      after: sql`
        update users u set language = coalesce(${language}, u.language), time_zone = coalesce(${time_zone}, u.time_zone)
        from before where u.user_id = before.user_id
        returning u.user_id, ${preferencesColumns}`,
      result: sql`select language, time_zone from after`,
    });
  },
});

/** Accepts '' and names of the IANA time zone database; rejects offsets such as +01:00. */
function isTimeZone(name: string): boolean {
  if (name === '') return true;
  if (name.length > 64 || !/^[A-Za-z]/.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}
