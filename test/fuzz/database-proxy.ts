import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { cleanUp } from '../clean-up.ts';

/**
 * Faults of a statement: PostgreSQL refuses it (out of memory, a full disk, a deadlock), it is delayed, or the
 * connection is cut before it reaches PostgreSQL, or after PostgreSQL has executed it and before its answer is read.
 */
export const FAULTS = ['out of memory', 'disk full', 'deadlock', 'delayed', 'cut before', 'cut after'] as const;
export type Fault = (typeof FAULTS)[number];

const SQLSTATES: Partial<Record<Fault, string>> = { 'out of memory': '53200', 'disk full': '53100', deadlock: '40P01' };

/** A proxy between the service and PostgreSQL that injects faults. */
export interface DatabaseProxy {
  url: string;
  /** Injects a fault into the statement with this number, counted from 0 at this call; undefined: into no statement. */
  arm(fault?: { kind: Fault; at: number; delay_ms: number }): void;
  /** Number of statements since `arm`, and whether the fault has been injected. */
  seen(): { count: number; struck: boolean };
  connections(): number;
}

/** Starts the proxy in front of the database at this URL. It is stopped after the tests of the file. */
export async function openDatabaseProxy(database: string): Promise<DatabaseProxy> {
  const target = new URL(database);
  const host = decodeURIComponent(target.hostname);
  const port = Number(target.port || 5432);
  let armed: { kind: Fault; at: number; delay_ms: number } | undefined;
  let count = 0;
  let struck = false;
  const open = new Set<Socket>();

  /** Counts a statement and returns the fault to inject into it, or undefined. */
  const decide = (): { kind: Fault; delay_ms: number } | undefined => {
    const at = count;
    count += 1;
    if (!armed || struck || at !== armed.at) return undefined;
    struck = true;
    return armed;
  };

  const server = createServer((client) => {
    const backend = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host);
    for (const socket of [client, backend]) {
      open.add(socket);
      socket.setNoDelay?.(true);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        open.delete(socket);
        (socket === client ? backend : client).destroy();
      });
    }
    let isCutAfter = false;
    let isStarted = false;
    let received: Buffer = Buffer.alloc(0);
    let answered: Buffer = Buffer.alloc(0);
    let group: Buffer[] = [];

    function sendGroup(): void {
      const bytes = Buffer.concat(group);
      const fault = isStatement(group) ? decide() : undefined;
      group = [];
      if (!fault) return void backend.write(bytes);
      const sqlstate = SQLSTATES[fault.kind];
      if (sqlstate) backend.write(refusal(sqlstate));
      else if (fault.kind === 'cut before') client.destroy();
      else if (fault.kind === 'delayed') setTimeout(() => backend.write(bytes), fault.delay_ms);
      else {
        isCutAfter = true;
        backend.write(bytes);
      }
    }

    client.on('data', (chunk) => {
      received = Buffer.concat([received, chunk]);
      for (;;) {
        // The first message has no type.
        const head = isStarted ? 1 : 0;
        if (received.length < head + 4) return;
        const end = head + received.readInt32BE(head);
        if (received.length < end) return;
        const message = received.subarray(0, end);
        received = received.subarray(end);
        group.push(message);
        const type = isStarted ? String.fromCharCode(message[0] ?? 0) : 'startup';
        isStarted = true;
        // Parse, Bind, Describe, Execute and Close wait for their Sync.
        if (!'PBDEC'.includes(type)) sendGroup();
      }
    });

    backend.on('data', (chunk) => {
      if (!isCutAfter) return void client.write(chunk);
      answered = Buffer.concat([answered, chunk]);
      for (let at = 0; at + 5 <= answered.length; at += 1 + answered.readInt32BE(at + 1)) {
        // ReadyForQuery: all statements were executed.
        if (answered[at] === 0x5a) client.destroy();
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanUp(() => {
    for (const socket of open) socket.destroy();
    server.close();
  });
  const address = server.address() as { port: number };
  return {
    url: `postgres://${target.username}${target.password && `:${target.password}`}@127.0.0.1:${address.port}${target.pathname}`,
    arm(fault) {
      armed = fault;
      count = 0;
      struck = false;
    },
    seen: () => ({ count, struck }),
    connections: () => open.size / 2,
  };
}

/** Statements that a new connection sends on its own. */
const BY_THE_CONNECTION = new Set(['check_session', 'set_request_context']);

/** Returns whether the messages run a statement of a request, not one that a new connection sends on its own. */
function isStatement(messages: readonly Buffer[]): boolean {
  const types = messages.map((message) => String.fromCharCode(message[0] ?? 0));
  if (types[0] === 'Q') return true;
  if (types.at(-1) !== 'S') return false;
  return messages.some((message, i) => types[i] === 'B' && !BY_THE_CONNECTION.has(statementOf(message)));
}

/** Returns the name of the prepared statement in a Bind message. It follows the name of the portal. */
function statementOf(bind: Buffer): string {
  const portal = bind.indexOf(0, 5);
  return bind.toString('latin1', portal + 1, bind.indexOf(0, portal + 1));
}

/** Returns a Query message that PostgreSQL refuses with this SQLSTATE, so that an open transaction fails as well. */
function refusal(sqlstate: string): Buffer {
  const text = Buffer.from(`do $$ begin raise exception 'injected' using errcode = '${sqlstate}'; end $$\0`);
  const head = Buffer.alloc(5);
  head.write('Q');
  head.writeInt32BE(4 + text.length, 1);
  return Buffer.concat([head, text]);
}
