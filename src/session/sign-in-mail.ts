import type { Message } from '../providers/mail/mail.ts';

/** How long the link of a message is good. */
export const LINK_MINUTES = 15;

/** The message with the link. Its host is PUBLIC_URL's alone, and nothing in it comes from the request. */
export function signInMail(publicUrl: string, email: string, secret: string): Message {
  // As a URL is written, so without anything that HTML takes for its own.
  const link = new URL(`${publicUrl}/sign-in?token=${secret}`).href;
  const note = 'If you did not ask for this, ignore this message: without the link it has no effect.';
  return {
    to: email,
    subject: 'Sign in to Ibid',
    text: `Sign in within ${LINK_MINUTES} minutes, once:\n${link}\n\n${note}\n`,
    html: `<p><a href="${link}">Sign in</a> (within ${LINK_MINUTES} minutes, once)</p>\n<p>${note}</p>\n`,
  };
}
