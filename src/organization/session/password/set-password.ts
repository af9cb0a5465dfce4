import { Type } from 'typebox';
import { signedIn } from '../../../platform/access/access-rule.ts';
import { refusal } from '../../../platform/access/before-sign-in.ts';
import { networkOf } from '../../../platform/access/network.ts';
import { OWN_ISSUER } from '../../../platform/access/user-ctes.ts';
import { ApiError } from '../../../platform/core/errors.ts';
import { Empty } from '../../../platform/core/records.ts';
import { sql } from '../../../platform/db/sql.ts';
import { endpoint } from '../../../platform/http/endpoint.ts';
import { type CountedGuess, countGuess, deleteGuesses } from './password-guess.ts';
import { GivenPassword, hashNewPassword, isPassword, NewPassword } from './password-hash.ts';

interface Facts {
  user_id: string;
  email: string | null;
  phc: string | null;
  /** Device secret of the session's browser, hashed. */
  device: Buffer | null;
}

/** Ends all other sessions of the user; they have to sign in with the new password. */
export const setPassword = endpoint({
  method: 'POST',
  path: '/v1/me/password',
  summary: 'Set a password',
  description: "Requires the current password, if there is one. The user's other sessions end.",
  access: signedIn({ session: true }),
  idempotent: false,
  event: 'password.changed',
  body: Type.Object({ new_password: NewPassword, current_password: Type.Optional(GivenPassword) }),
  reply: Empty,
  errors: ['forbidden', 'conflict', 'rate_limited'],
  example: { body: { new_password: 'correct horse battery staple' }, reply: {} },
  run: async (context) => {
    const { body, origin, maybeOne, many, refuse, services } = context;
    if (!services.signIn.passwords) return refuse(refusal('passwords_off'));
    const facts = await maybeOne<Facts>(sql`
      select a.user_id, (select i.subject from identities i where i.user_id = a.user_id and i.issuer = ${OWN_ISSUER} limit 1)
        as email, (select p.phc from passwords p where p.user_id = a.user_id) as phc,
        (select s.device_hash from sessions s where s.session_id = a.credential_id) as device
      from access a`);
    if (!facts?.email) {
      throw new ApiError('forbidden', 'You sign in at another service, which keeps your password.');
    }
    const { email, device } = facts;
    let guess: CountedGuess = { email, counted_for: networkOf(origin.address) };
    if (facts.phc !== null) {
      guess = await countGuess(context, { email, address: origin.address, device: device ?? undefined });
      if (!(await isPassword(body.current_password ?? '', facts.phc))) {
        throw new ApiError('forbidden', 'current_password is not the current password.');
      }
    }
    const phc = await hashNewPassword(body.new_password);
    const [changed] = await many({
      before: sql`select p.user_id, p.changed_at from passwords p join access a on a.user_id = p.user_id`,
      // Replaces only the hash that was compared, so that only one concurrent change succeeds.
      password: sql`
        insert into passwords as p (user_id, phc) select user_id, ${phc} from access
        on conflict (user_id) do update set phc = excluded.phc, changed_at = now() where p.phc = ${facts.phc}::text
        returning p.user_id, p.changed_at`,
      others: sql`
        update sessions s set revoked_at = now() from access a, password
        where s.user_id = password.user_id and s.session_id <> a.credential_id and s.revoked_at is null`,
      forgiven: deleteGuesses(guess),
      result: sql`select user_id, changed_at from password`,
    });
    if (!changed) throw new ApiError('conflict', 'Another request changed the password. Try again.');
    return {};
  },
});
