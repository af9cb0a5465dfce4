import type { Message } from '../../platform/providers/mail/mail.ts';

/** Minutes until a link expires. */
export const LINK_MINUTES = 15;

/** Number of links requested for an address in the last hour, including this one. */
export interface LinkRequests {
  requests: number;
  networks: number;
}

/**
 * Writes the message with the link. The link's host is PUBLIC_URL's, and the message contains no text from the request.
 */
export function signInMail(
  publicUrl: string,
  email: string,
  secret: string,
  { requests, networks }: LinkRequests,
): Message {
  // URL-encoded, so it contains no special characters of HTML.
  const link = new URL(`${publicUrl}/sign-in?token=${secret}`).href;
  const notes = ['If you did not request this, ignore this message: nothing happens unless the link is opened.'];
  if (requests > 1) {
    const places = networks > 1 ? `${networks} different networks` : 'one network';
    notes.push(
      `${requests} links were requested for your address within an hour, from ${places}. Each works until you use one of them.`,
    );
  }
  return {
    to: email,
    subject: 'Sign in to Ibid',
    text: `Sign in within ${LINK_MINUTES} minutes. The link works once:\n${link}\n\n${notes.join('\n\n')}\n`,
    html: `<p><a href="${link}">Sign in</a> (within ${LINK_MINUTES} minutes; the link works once)</p>\n${notes.map((note) => `<p>${note}</p>\n`).join('')}`,
  };
}
