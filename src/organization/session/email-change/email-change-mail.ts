import { escapeHtml } from '../../../platform/core/escape-html.ts';
import type { Message } from '../../../platform/providers/mail/mail.ts';
import { CHANGE_HOURS } from './schema.ts';

interface Linked {
  publicUrl: string;
  secret: string;
  old_email: string;
  new_email: string;
}

/** Writes the message to the new address, whose link proves access to its mailbox. */
export function newAddressMail(linked: Linked): Message {
  return message(linked.new_email, 'Confirm your new address', linked, [
    `The account ${linked.old_email} at Ibid is to have this address. Open the link to confirm it; the address changes when the link in the mail to ${linked.old_email} was opened, too.`,
    'If you did not ask for this, ignore this message.',
  ]);
}

/** Writes the notice to the current address, whose link approves the change. */
export function oldAddressMail(linked: Linked): Message {
  return message(linked.old_email, 'Your address is to be changed', linked, [
    `Somebody who is signed in to your account at Ibid asked to change its address to ${linked.new_email}. Open the link to agree.`,
    'If it was not you, do not open the link: sign in, choose “Sign out everywhere” in your profile, and change your password if you have one.',
  ]);
}

/** Tells only the owner of the address that it is taken: the response must not reveal who has an account. */
export function takenAddressMail({ publicUrl, old_email, new_email }: Linked): Message {
  const lines = [
    `The account ${old_email} at Ibid asked to have this address. It belongs to another account, so nothing changes.`,
    'If both accounts are yours, sign in with this address, or delete that account first.',
  ];
  return written(
    new_email,
    'This address has an account already',
    new URL(`${publicUrl}/sign-in`).href,
    'Sign in',
    lines,
  );
}

function message(to: string, subject: string, { publicUrl, secret }: Linked, lines: string[]): Message {
  const link = new URL(`${publicUrl}/email-change?token=${secret}`).href;
  return written(to, subject, link, `Open (within ${CHANGE_HOURS} hours, once)`, lines);
}

function written(to: string, subject: string, link: string, label: string, lines: string[]): Message {
  return {
    to,
    subject,
    text: `${lines[0]}\n\n${label}:\n${link}\n\n${lines.slice(1).join('\n\n')}\n`,
    html: `<p>${escapeHtml(lines[0] ?? '')}</p>\n<p><a href="${link}">${label}</a></p>\n${lines
      .slice(1)
      .map((line) => `<p>${escapeHtml(line)}</p>\n`)
      .join('')}`,
  };
}
