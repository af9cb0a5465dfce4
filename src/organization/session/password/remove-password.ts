import { Type } from 'typebox';
import { signedIn } from '../../../platform/access/access-rule.ts';
import { refusal } from '../../../platform/access/before-sign-in.ts';
import { notFound } from '../../../platform/core/errors.ts';
import { sql } from '../../../platform/db/sql.ts';
import { endpoint } from '../../../platform/http/endpoint.ts';

/** Keeps the other sign-in methods and all sessions. */
export const removePassword = endpoint({
  method: 'DELETE',
  path: '/v1/me/password',
  summary: 'Remove the password',
  access: signedIn({ session: true }),
  event: 'password.removed',
  status: 204,
  reply: Type.Null(),
  errors: ['forbidden', 'not_found'],
  example: { reply: null },
  run: async ({ many, refuse, services }) => {
    if (!services.signIn.passwords) return refuse(refusal('passwords_off'));
    const [removed] = await many({
      before: sql`select p.user_id, p.changed_at from passwords p join access a on a.user_id = p.user_id`,
      removed: sql`delete from passwords p using access a where p.user_id = a.user_id returning 1`,
      result: sql`select from removed`,
    });
    if (!removed) throw notFound('password');
    return null;
  },
});
