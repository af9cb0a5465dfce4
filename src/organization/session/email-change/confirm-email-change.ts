import { Type } from 'typebox';
import { anyone } from '../../../platform/access/access-rule.ts';
import { refusal } from '../../../platform/access/before-sign-in.ts';
import { Flag, InputText, Record } from '../../../platform/core/records.ts';
import { sha256 } from '../../../platform/core/secrets.ts';
import { sql } from '../../../platform/db/sql.ts';
import { endpoint } from '../../../platform/http/endpoint.ts';
import { changeEmail } from './schema.ts';

interface Opened {
  user_id: string;
  session_id: string;
  new_email: string;
  is_complete: boolean;
}

/**
 * Each link works once. The lock ensures that if both links are opened concurrently, the second request sees the
 * confirmation of the first.
 */
export const confirmEmailChange = endpoint({
  method: 'POST',
  path: '/v1/auth/email-change',
  summary: 'Confirm a change of an address',
  description:
    "Takes the secret of a link from an e-mail. The address changes when both links have been opened. The user's other sessions end.",
  access: anyone(),
  event: 'user.email_changed',
  body: Type.Object({ token: InputText({ description: 'The secret of the link.' }) }),
  reply: Record(
    {
      email: Type.String({ description: 'The new address.' }),
      changed: Flag,
    },
    { title: 'ConfirmedEmailChange' },
  ),
  errors: ['not_found', 'conflict', 'forbidden'],
  example: { body: { token: 'kZ0…' }, reply: { email: 'ada@example.org', changed: true } },
  run: ({ body, transaction }) =>
    transaction(async (tx) => {
      const hash = sha256(body.token);
      await tx.maybeOne(sql`
        select 1 from email_changes c
        where (c.old_hash = ${hash} or c.new_hash = ${hash}) and c.expires_at > now() for update`);
      const opened = await tx.maybeOne<Opened>({
        opened: sql`
          update email_changes c set
            old_confirmed_at = case when c.old_hash = ${hash} then now() else c.old_confirmed_at end,
            new_confirmed_at = case when c.new_hash = ${hash} then now() else c.new_confirmed_at end,
            old_hash = nullif(c.old_hash, ${hash}), new_hash = nullif(c.new_hash, ${hash})
          where (c.old_hash = ${hash} or c.new_hash = ${hash}) and c.expires_at > now()
          returning c.*`,
        result: sql`
          select o.user_id, o.session_id, o.new_email, o.old_confirmed_at is not null and o.new_confirmed_at is not null as is_complete from opened o`,
      });
      if (!opened) throw refusal('email_change_unknown');
      if (opened.is_complete) await changeEmail(tx, opened.user_id, opened.new_email, opened.session_id);
      return { email: opened.new_email, changed: opened.is_complete };
    }),
});
