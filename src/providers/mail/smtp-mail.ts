import { createTransport } from 'nodemailer';
import { type Mail, MailRefused, MailUnavailable, type Message } from './mail.ts';

/** Timeout of each step of an SMTP conversation. */
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
  let checking: Promise<void> | undefined;

  async function send({ to, subject, text, html }: Message): Promise<void> {
    try {
      // An object instead of a header line, so that the address is not parsed again.
      await transport.sendMail({ from, to: { name: '', address: to }, subject, text, html });
    } catch (cause) {
      const { responseCode = 0, code } = cause as { responseCode?: number; code?: string };
      // A wrong password is the operator's to fix, and says nothing about the message.
      if (responseCode >= 500 && code !== 'EAUTH') {
        throw new MailRefused(`the mail server refused the message (${responseCode})`, { cause });
      }
      throw new MailUnavailable('the mail server deferred the message', { cause });
    }
  }

  async function verify(): Promise<void> {
    try {
      await transport.verify();
    } catch (cause) {
      throw new MailUnavailable('the mail server does not answer', { cause });
    } finally {
      checking = undefined;
    }
  }

  return { send, check: () => (checking ??= verify()) };
}
