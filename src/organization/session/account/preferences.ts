import { type Static, Type } from 'typebox';
import { Record } from '../../../platform/core/records.ts';
import { raw, type Sql } from '../../../platform/db/sql.ts';

/** Languages of the widgets; each has a file in web/elements/widgets/messages. */
export const LANGUAGES = ['en', 'de', 'fr', 'es', 'ja', 'ar'] as const;

export const Preferences = Record(
  {
    language: Type.Enum(['', ...LANGUAGES], { description: 'Of the widgets; "" for that of the page.' }),
    time_zone: Type.String({ description: 'As the IANA names it: Europe/Paris; "" for that of the browser.' }),
  },
  { title: 'Preferences' },
);
export type Preferences = Static<typeof Preferences>;

export const examplePreferences: Preferences = { language: 'fr', time_zone: 'Europe/Paris' };

/** Columns of Preferences, from a user `u`. */
export const preferencesColumns: Sql = raw('u.language, u.time_zone');
