import { Type } from 'typebox';
import { signedIn } from '../../../platform/access/access-rule.ts';
import { requireDomain } from '../../../platform/access/before-sign-in.ts';
import { countCte, countOrRefuse } from '../../../platform/access/limits/limit-counts.ts';
import type { Rate } from '../../../platform/access/limits/rate-limit-buckets.ts';
import { normalizeEmail } from '../../../platform/core/email-address.ts';
import { ApiError } from '../../../platform/core/errors.ts';
import { newId } from '../../../platform/core/ids.ts';
import { InputText } from '../../../platform/core/records.ts';
import { raw, sql } from '../../../platform/db/sql.ts';
import { endpoint } from '../../../platform/http/endpoint.ts';
import { requireMail } from '../../../platform/http/require-mail.ts';
import { EmailChange } from '../schema.ts';
import {
  addressIsElsewhere,
  CHANGE_HOURS,
  emailChangeColumns,
  exampleEmailChange,
  signsInElsewhere,
} from './schema.ts';
import { sendEmailChangeMail } from './send-email-change-mail.job.ts';

/** Maximum age of a session that changes the address, so that a browser left open cannot be used for it. */
const RECENT_MINUTES = 15;
/** Requests per user; each sends two messages. */
const PER_USER: Rate = { quota: 5, windowSeconds: 3600 };
/** Messages to one address, from requests of all users. */
const PER_ADDRESS: Rate = { quota: 5, windowSeconds: 3600 };

interface Facts {
  user_id: string;
  email: string;
  is_recent: boolean;
  is_elsewhere: boolean;
}

/**
 * The response does not reveal whether another account has the address: rows and jobs are the same, and only the
 * message to that address says so.
 */
export const requestEmailChange = endpoint({
  method: 'POST',
  path: '/v1/me/email-change',
  summary: "Request a change of the caller's address",
  description: `Sends one link to the current address and one to the new address. The address changes when both have been opened within ${CHANGE_HOURS} hours. A new request replaces a pending one. Requires a sign-in within the last ${RECENT_MINUTES} minutes.`,
  access: signedIn({ session: true }),
  event: 'user.email_change_requested',
  body: Type.Object({ email: InputText() }),
  reply: EmailChange,
  errors: ['forbidden', 'recent_sign_in_required', 'invalid_email', 'rate_limited', 'email_unavailable'],
  example: { body: { email: 'ada@example.org' }, reply: exampleEmailChange },
  run: async ({ body, maybeOne, transaction, services, later }) => {
    const facts = await maybeOne<Facts>(sql`
      select u.user_id, u.email, ${signsInElsewhere} as is_elsewhere,
        s.created_at > now() - make_interval(mins => ${RECENT_MINUTES}::int) as is_recent
      from access a join users u on u.user_id = a.user_id join sessions s on s.session_id = a.credential_id`);
    if (!facts || facts.is_elsewhere) throw addressIsElsewhere();
    if (!facts.is_recent) {
      throw new ApiError(
        'recent_sign_in_required',
        `To change your address, sign in again, then retry within ${RECENT_MINUTES} minutes.`,
      );
    }
    const email = normalizeEmail(body.email);
    if (email === undefined) throw new ApiError('invalid_email', 'Send one plain e-mail address.');
    requireDomain({ email, email_verified: true }, services.signIn.domains);
    if (email === facts.email) throw new ApiError('invalid_email', 'This is already your address.');
    await requireMail(services.mail);
    const change_id = newId('link');
    return transaction(async (tx) => {
      if (services.rates) await countOrRefuse(tx, `email change ${facts.user_id}`, PER_USER, 'changes of your address');
      return tx.one<EmailChange>({
        before: sql`
          select a.user_id, coalesce((select c.new_email from email_changes c where c.user_id = a.user_id), '') as new_email from access a`,
        change: sql`
          insert into email_changes as c (user_id, change_id, session_id, old_email, new_email, expires_at)
          select a.user_id, ${change_id}, a.credential_id, ${facts.email}, ${email}, now() + make_interval(hours => ${CHANGE_HOURS}::int) from access a
          on conflict (user_id) do update set change_id = excluded.change_id, session_id = excluded.session_id, old_email = excluded.old_email,
            new_email = excluded.new_email, old_hash = null, new_hash = null, old_confirmed_at = null, new_confirmed_at = null,
            created_at = now(), expires_at = excluded.expires_at
          returning c.*`,
        to_new: countCte(`email change to ${email}`, PER_ADDRESS, raw('change')),
        mail_to_old: later(sendEmailChangeMail, { change_id, to: 'old' }, sql`change`),
        mail_to_new: later(
          sendEmailChangeMail,
          { change_id, to: 'new' },
          sql`(select c.user_id from change c, to_new)`,
        ),
        after: sql`select c.user_id, c.new_email from change c`,
        result: sql`select ${emailChangeColumns} from change c`,
      });
    });
  },
});
