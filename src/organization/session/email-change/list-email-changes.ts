import { Type } from 'typebox';
import { signedIn } from '../../../platform/access/access-rule.ts';
import { sql } from '../../../platform/db/sql.ts';
import { endpoint } from '../../../platform/http/endpoint.ts';
import { EmailChange } from '../schema.ts';
import { emailChangeColumns, exampleEmailChange } from './schema.ts';

export const listEmailChanges = endpoint({
  method: 'GET',
  path: '/v1/me/email-change',
  summary: "List pending changes of the caller's address",
  description: 'The change that is waiting for its links to be opened, if any.',
  access: signedIn({ session: true }),
  reply: Type.Array(EmailChange),
  example: { reply: [exampleEmailChange] },
  run: ({ many }) =>
    many(sql`
      select ${emailChangeColumns} from access a join email_changes c on c.user_id = a.user_id where c.expires_at > now()`),
});
