import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';

/** A message as it arrived: who it was for by the envelope, and its text as it came over the wire. */
export interface ReceivedMessage {
  from: string;
  recipients: string[];
  raw: string;
}

export interface MailServer {
  url: string;
  messages: ReceivedMessage[];
  /** Refuses every message from now on. */
  refuse(): void;
  accept(): void;
  stop(): Promise<void>;
}

/** A real SMTP server on a loopback port that keeps what it gets. */
export async function startMailServer(): Promise<MailServer> {
  const messages: ReceivedMessage[] = [];
  let refusing = false;
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['AUTH', 'STARTTLS'],
    logger: false,
    onData(stream, session, done) {
      let raw = '';
      stream.setEncoding('utf8');
      stream.on('data', (chunk: string) => {
        raw += chunk;
      });
      stream.on('end', () => {
        if (refusing) return done(new Error('mailbox unavailable'));
        const { mailFrom, rcptTo } = session.envelope;
        messages.push({
          from: mailFrom ? mailFrom.address : '',
          recipients: rcptTo.map(({ address }) => address),
          raw,
        });
        done();
      });
    },
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.server.address() as AddressInfo;
  return {
    url: `smtp://127.0.0.1:${port}`,
    messages,
    refuse() {
      refusing = true;
    },
    accept() {
      refusing = false;
    },
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

/** The text of a message's plain part, decoded from quoted-printable. */
export function plainText({ raw }: ReceivedMessage): string {
  const part = /Content-Type: text\/plain[\s\S]*?\r\n\r\n([\s\S]*?)\r\n--/.exec(raw)?.[1] ?? '';
  return part
    .replace(/=\r\n/g, '')
    .replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

/** The names of a message's headers, in their order. */
export function headerNames({ raw }: ReceivedMessage): string[] {
  const head = raw.slice(0, raw.indexOf('\r\n\r\n'));
  return head
    .split('\r\n')
    .filter((line) => /^\S+:/.test(line))
    .map((line) => line.slice(0, line.indexOf(':')));
}
