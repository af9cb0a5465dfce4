import type { Logger } from 'pino';

export interface Message {
  to: string;
  subject: string;
  text: string;
  html: string;
}

/** The mail server cannot be reached or deferred the message: it may be sent again. */
export class MailUnavailable extends Error {}

/** The mail server permanently refused the address or the message (RFC 5321, 4.2.1: a reply of 5yz). */
export class MailRefused extends Error {}

export interface Mail {
  /** Hands a message to the mail server. Errors: MailUnavailable, MailRefused. */
  send(message: Message): Promise<void>;
  /** Checks that the mail server answers. Concurrent calls share one check. Errors: MailUnavailable. */
  check(): Promise<void>;
}

/** Without a mail server the operator passes links on: each message is written to the log. */
export function openLogMail(log: Logger): Mail {
  return {
    send: async ({ to, subject, text }) =>
      log.info({ to, subject, text }, 'no SMTP_URL is set: pass this message on yourself'),
    check: async () => {},
  };
}
