import { type AddressInfo, createServer, type Socket } from 'node:net';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { until } from './until.ts';

/** A received message: its envelope and its raw text. */
export interface ReceivedMessage {
  from: string;
  recipients: string[];
  raw: string;
}

export interface MailServer {
  url: string;
  messages: ReceivedMessage[];
  /** Waits until the address has received this many messages, and returns the last one. */
  sentTo(address: string, count?: number): Promise<ReceivedMessage>;
  /** Refuses every message from now on, with this reply (RFC 5321): 4yz temporarily, 5yz permanently. */
  refuse(code?: 451 | 550): void;
  accept(): void;
  /** Closes the port until comeBack(). */
  goDown(): Promise<void>;
  comeBack(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts an SMTP server on a loopback port that keeps the messages it receives. */
export async function startMailServer(): Promise<MailServer> {
  const messages: ReceivedMessage[] = [];
  let refusing = 0;
  const options: SMTPServerOptions = {
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
        if (refusing) return done(Object.assign(new Error('mailbox unavailable'), { responseCode: refusing }));
        const { mailFrom, rcptTo } = session.envelope;
        messages.push({
          from: mailFrom ? mailFrom.address : '',
          recipients: rcptTo.map(({ address }) => address),
          raw,
        });
        done();
      });
    },
  };
  let server = new SMTPServer(options);
  const listen = (at: number) => new Promise<void>((resolve) => server.listen(at, '127.0.0.1', resolve));
  const stop = () => new Promise<void>((resolve) => server.close(() => resolve()));
  await listen(0);
  const { port } = server.server.address() as AddressInfo;
  return {
    url: `smtp://127.0.0.1:${port}`,
    messages,
    async sentTo(address, count = 1) {
      const own = () => messages.filter(({ recipients }) => recipients.includes(address));
      await until(`${address} has ${count} message(s)`, own, (received) => received.length >= count);
      return own().at(-1) as ReceivedMessage;
    },
    refuse(code = 451) {
      refusing = code;
    },
    accept() {
      refusing = 0;
    },
    goDown: stop,
    async comeBack() {
      server = new SMTPServer(options);
      await listen(port);
    },
    stop,
  };
}

/** Starts a mail server that refuses every user and password. */
export async function startRefusingMailServer(): Promise<{ url: string; stop(): Promise<void> }> {
  const server = new SMTPServer({
    logger: false,
    disabledCommands: ['STARTTLS'],
    allowInsecureAuth: true,
    onAuth: (_auth, _session, done) => done(new Error('who is that')),
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `smtp://me:hidden@127.0.0.1:${(server.server.address() as AddressInfo).port}`,
    stop: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}

/** Starts a server that accepts connections and never answers, like a mail server whose firewall drops packets. */
export async function startSilentServer(): Promise<{ url: string; connections(): number; stop(): Promise<void> }> {
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`,
    connections: () => connections,
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

/** Returns the plain text part of a message, decoded from quoted-printable. */
export function plainText({ raw }: ReceivedMessage): string {
  const part = /Content-Type: text\/plain[\s\S]*?\r\n\r\n([\s\S]*?)\r\n--/.exec(raw)?.[1] ?? '';
  return part
    .replace(/=\r\n/g, '')
    .replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

/** Returns the names of a message's headers, in order. */
export function headerNames({ raw }: ReceivedMessage): string[] {
  const head = raw.slice(0, raw.indexOf('\r\n\r\n'));
  return head
    .split('\r\n')
    .filter((line) => /^\S+:/.test(line))
    .map((line) => line.slice(0, line.indexOf(':')));
}
