import { createTransport } from 'nodemailer';
import type { Logger } from 'pino';

export interface Message {
  to: string;
  subject: string;
  text: string;
  html: string;
}

/** The mail server did not take the message. */
export class MailUnavailable extends Error {}

export interface Mail {
  /** Hands a message to the mail server. Errors: MailUnavailable. */
  send(message: Message): Promise<void>;
}

/** How long a mail server may take for each step of a conversation. */
const STEP_MS = 10_000;

/** Mail by SMTP: `smtp://user:password@host:port` or `smtps://…`. */
export function openSmtpMail(url: string, from: string): Mail {
  const transport = createTransport({
    url,
    connectionTimeout: STEP_MS,
    greetingTimeout: STEP_MS,
    socketTimeout: STEP_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return {
    async send({ to, subject, text, html }) {
      try {
        // An object instead of a header line: nothing in the address is parsed again.
        await transport.sendMail({ from, to: { name: '', address: to }, subject, text, html });
      } catch (cause) {
        throw new MailUnavailable('the mail server did not take the message', { cause });
      }
    },
  };
}

/** Without a mail server the operator passes the links on: each message is written to the log. */
export function openLogMail(log: Logger): Mail {
  return {
    async send({ to, subject, text }) {
      log.info({ to, subject, text }, 'no SMTP_URL is set: pass this message on yourself');
    },
  };
}
