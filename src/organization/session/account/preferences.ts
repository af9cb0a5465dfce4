import { type Static, Type } from 'typebox';
import { Record } from '../../../platform/core/records.ts';
import { raw, type Sql } from '../../../platform/db/sql.ts';

/** Languages of the widgets; each has a file in web/elements/widgets/messages. */
export const LANGUAGES = ['en', 'de', 'fr', 'es', 'ja', 'ar'] as const;

export const Preferences = Record(
  {
    language: Type.Enum(['', ...LANGUAGES], {
      description: 'Language of the widgets; "" for the language of the page.',
    }),
    time_zone: Type.String({ description: 'IANA name, such as Europe/Paris; "" for the browser\'s time zone.' }),
  },
  { title: 'Preferences' },
);
export type Preferences = Static<typeof Preferences>;

export const examplePreferences: Preferences = { language: 'fr', time_zone: 'Europe/Paris' };

/** Columns of Preferences, from a user `u`. */
export const preferencesColumns: Sql = raw('u.language, u.time_zone');
