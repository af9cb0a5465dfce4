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
  /** Whether the mail server takes messages at all just now. Several who ask at once share one look. Errors: MailUnavailable. */
  check(): Promise<void>;
  /**
   * Sends a message after the answer was given, so that how long it takes tells nobody that it was sent; a failure goes
   * to the log.
   */
  sendSoon(message: Message): void;
  /** Waits for what `sendSoon` has begun. */
  settled(): Promise<void>;
}

/** How long a mail server may take for each step of a conversation. */
const STEP_MS = 10_000;

/** Mail by SMTP: `smtp://user:password@host:port` or `smtps://…`. */
export function openSmtpMail(url: string, from: string, log: Logger): Mail {
  const transport = createTransport({
    url,
    connectionTimeout: STEP_MS,
    greetingTimeout: STEP_MS,
    socketTimeout: STEP_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const underWay = new Set<Promise<void>>();
  let look: Promise<void> | undefined;

  async function send({ to, subject, text, html }: Message): Promise<void> {
    try {
      // An object instead of a header line: nothing in the address is parsed again.
      await transport.sendMail({ from, to: { name: '', address: to }, subject, text, html });
    } catch (cause) {
      throw new MailUnavailable('the mail server did not take the message', { cause });
    }
  }

  async function verify(): Promise<void> {
    try {
      await transport.verify();
    } catch (cause) {
      throw new MailUnavailable('the mail server does not answer', { cause });
    } finally {
      look = undefined;
    }
  }

  return {
    send,
    check: () => (look ??= verify()),
    sendSoon(message) {
      const sending = send(message)
        .catch((err: unknown) => log.error({ err, to: message.to }, 'a message was not sent'))
        .finally(() => underWay.delete(sending));
      underWay.add(sending);
    },
    settled: async () => {
      await Promise.all(underWay);
    },
  };
}

/** Without a mail server the operator passes the links on: each message is written to the log. */
export function openLogMail(log: Logger): Mail {
  const write = ({ to, subject, text }: Message) =>
    log.info({ to, subject, text }, 'no SMTP_URL is set: pass this message on yourself');
  return { send: async (message) => write(message), check: async () => {}, sendSoon: write, settled: async () => {} };
}
