import { createTransport } from 'nodemailer';
import { isLocalHost } from './local-host.ts';
import { type Mail, MailRefused, MailUnavailable, type Message } from './mail.ts';

/** Timeout for each step of an SMTP session. */
const STEP_MS = 10_000;

/**
 * Returns the library's options for `smtp://user:password@host:port` or `smtps://…`. `name`: the name of this machine
 * for EHLO. Parameters of the URL take precedence. Over a public network a password is sent only with TLS.
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
  'the mail server offers no TLS, and passwords are sent only over TLS: use smtps:// in SMTP_URL, or add ?requireTLS=false to it';

/** Returns whether the server refused to start TLS, as opposed to a failed TLS handshake. */
function isWithoutTls(cause: unknown): boolean {
  const { code, response } = cause as { code?: string; response?: string };
  return code === 'ETLS' && response !== undefined;
}

/** Opens mail over SMTP. */
export function openSmtpMail(url: string, from: string, name?: string): Mail {
  const transport = createTransport(smtpOptions(url, name));
  let checking: Promise<void> | undefined;

  async function send({ to, subject, text, html }: Message): Promise<void> {
    try {
      // An object instead of a header line, so that the library does not parse the address again.
      await transport.sendMail({
        from,
        to: { name: '', address: to },
        subject,
        text,
        html,
        // Prevents automatic replies (RFC 3834).
        headers: { 'Auto-Submitted': 'auto-generated' },
      });
    } catch (cause) {
      const { responseCode = 0, code } = cause as { responseCode?: number; code?: string };
      if (isWithoutTls(cause)) throw new MailUnavailable(NEEDS_TLS, { cause });
      // A wrong password is a problem of the configuration, not of the message.
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
      throw new MailUnavailable(isWithoutTls(cause) ? NEEDS_TLS : 'the mail server is not responding', { cause });
    } finally {
      checking = undefined;
    }
  }

  return { send, check: () => (checking ??= verify()) };
}
