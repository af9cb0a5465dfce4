import type { Logger } from 'pino';

export interface Message {
  to: string;
  subject: string;
  text: string;
  html: string;
}

/**
 * The message was not accepted but may be sent again: the mail server is unreachable, deferred it, or is configured
 * wrongly.
 */
export class MailUnavailable extends Error {}

/** The mail server permanently refused the address or the message (RFC 5321, 4.2.1: a reply of 5yz). */
export class MailRefused extends Error {}

export interface Mail {
  /** Hands a message to the mail server. Throws MailUnavailable or MailRefused. */
  send(message: Message): Promise<void>;
  /** Checks that the mail server responds. Concurrent calls share one check. Throws MailUnavailable. */
  check(): Promise<void>;
}

/** Writes each message to the log, so that the operator can pass its link on. Used if no mail server is configured. */
export function openLogMail(log: Logger): Mail {
  return {
    send: async ({ to, subject, text }) =>
      log.info({ to, subject, text }, 'SMTP_URL is not set: deliver this message yourself'),
    check: async () => {},
  };
}
