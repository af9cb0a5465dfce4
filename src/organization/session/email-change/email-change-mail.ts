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
    `Someone asked to change the address of the Ibid account ${linked.old_email} to this one. Open the link to confirm. The address changes once the link sent to ${linked.old_email} has also been opened.`,
    'If you did not request this, ignore this message.',
  ]);
}

/** Writes the notice to the current address, whose link approves the change. */
export function oldAddressMail(linked: Linked): Message {
  return message(linked.old_email, 'Approve your address change', linked, [
    `Someone signed in to your Ibid account asked to change its address to ${linked.new_email}. Open the link to approve the change.`,
    'If it was not you, do not open the link. Sign in, choose “Sign out everywhere” in your profile, and change your password if you have one.',
  ]);
}

/** Tells only the owner of the address that it is taken: the response must not reveal who has an account. */
export function takenAddressMail({ publicUrl, old_email, new_email }: Linked): Message {
  const lines = [
    `The Ibid account ${old_email} asked to use this address. The address belongs to another account, so nothing was changed.`,
    'If both accounts are yours, sign in with this address, or delete that account first.',
  ];
  return written(
    new_email,
    'This address already has an account',
    new URL(`${publicUrl}/sign-in`).href,
    'Sign in',
    lines,
  );
}

function message(to: string, subject: string, { publicUrl, secret }: Linked, lines: string[]): Message {
  const link = new URL(`${publicUrl}/email-change?token=${secret}`).href;
  return written(to, subject, link, `Open the link (valid once, for ${CHANGE_HOURS} hours)`, lines);
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
