import { createTransport } from 'nodemailer';
import { isLocalHost } from './local-host.ts';
import { type Mail, MailRefused, MailUnavailable, type Message } from './mail.ts';

/** Timeout of each step of an SMTP conversation. */
const STEP_MS = 10_000;

/**
 * Options of the library for `smtp://user:password@host:port` or `smtps://…`. `name`: what this machine calls itself in
 * EHLO. Parameters of the URL win. A password crosses a public network by TLS alone.
 */
export function smtpOptions(url: string, name: string | undefined) {
  const { username, hostname } = new URL(url);
  return {
    url,
    ...(name !== undefined && { name }),
    ...(username !== '' && !isLocalHost(hostname) && { requireTLS: true }),
    connectionTimeout: STEP_MS,
    greetingTimeout: STEP_MS,
    socketTimeout: STEP_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

const NEEDS_TLS =
  'the mail server offers no TLS, and a password is sent to it by TLS alone: use smtps:// in SMTP_URL, or add ?requireTLS=false to it';

/** Whether the server refused to begin TLS, as opposed to a TLS handshake that failed. */
function isWithoutTls(cause: unknown): boolean {
  const { code, response } = cause as { code?: string; response?: string };
  return code === 'ETLS' && response !== undefined;
}

/** Mail by SMTP. */
export function openSmtpMail(url: string, from: string, name?: string): Mail {
  const transport = createTransport(smtpOptions(url, name));
  let checking: Promise<void> | undefined;

  async function send({ to, subject, text, html }: Message): Promise<void> {
    try {
      // An object instead of a header line, so that the address is not parsed again.
      await transport.sendMail({
        from,
        to: { name: '', address: to },
        subject,
        text,
        html,
        // So that no machine answers (RFC 3834).
        headers: { 'Auto-Submitted': 'auto-generated' },
      });
    } catch (cause) {
      const { responseCode = 0, code } = cause as { responseCode?: number; code?: string };
      if (isWithoutTls(cause)) throw new MailUnavailable(NEEDS_TLS, { cause });
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
      throw new MailUnavailable(isWithoutTls(cause) ? NEEDS_TLS : 'the mail server does not answer', { cause });
    } finally {
      checking = undefined;
    }
  }

  return { send, check: () => (checking ??= verify()) };
}
