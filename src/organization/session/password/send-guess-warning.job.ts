import { Type } from 'typebox';
import { OWN_ISSUER } from '../../../platform/access/user-ctes.ts';
import { sql } from '../../../platform/db/sql.ts';
import { defineJob } from '../../../platform/jobs/define-job.ts';
import { MailRefused, type Message } from '../../../platform/providers/mail/mail.ts';

/** Warns a user of many wrong guesses at their password. Sends nothing to an address without a password. */
export const sendGuessWarning = defineJob({
  name: 'send-guess-warning',
  for: 'service',
  lane: 'mail',
  key: ({ email }) => email,
  attempts: 5,
  timeoutSeconds: 60,
  input: Type.Object({ email: Type.String() }),
  async run({ db, input: { email }, services }) {
    const [known] = await db.query(sql`
      select 1 from identities i join passwords p on p.user_id = i.user_id
      where i.issuer = ${OWN_ISSUER} and i.subject = ${email}`);
    if (!known) return;
    try {
      await services.mail.send(guessWarning(services.publicUrl, email));
    } catch (error) {
      if (!(error instanceof MailRefused)) throw error;
      services.log.warn({ err: error, to: email }, 'the mail server rejected a warning about wrong passwords');
    }
  },
});

/** Contains no text from the requests. */
function guessWarning(publicUrl: string, email: string): Message {
  const link = new URL(`${publicUrl}/sign-in`).href;
  const lines = [
    'Someone entered many wrong passwords for your account in a short time. We are slowing down further attempts.',
    'If it was not you, change your password if you also use it elsewhere or if it is easy to guess.',
    'Where you have signed in before, you can sign in as usual. Elsewhere you may have to wait, or sign in by e-mail:',
  ];
  return {
    to: email,
    subject: 'Wrong passwords for your Ibid account',
    text: `${lines.join('\n\n')}\n${link}\n\nWe send this warning at most once a day.\n`,
    html: `${lines.map((line) => `<p>${line}</p>\n`).join('')}<p><a href="${link}">Sign in</a></p>\n<p>We send this warning at most once a day.</p>\n`,
  };
}
