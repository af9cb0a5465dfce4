import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { MISBEHAVIOURS, type Offender } from './misbehaviours.ts';

/** Misbehaves as ordered, in a process of its own, until the stop order; then reports the answers it got. */
export type Order =
  | { kind: 'begin'; name: string; address: string; token: string; workspace_id: string; wiki_id: string }
  | { kind: 'stop' };

/** The number of answers by status; 0 for requests without one. */
export type Answers = Record<number, number>;

/** After the stop order, no request is sent, and requests in progress are aborted. */
const agent = new Agent({ keepAlive: true, maxSockets: 2_500 });
const answers: Answers = {};
let over = false;

function begin({ name, address, token, workspace_id, wiki_id }: Extract<Order, { kind: 'begin' }>): Promise<void> {
  const count = (status: number) => {
    answers[status] = (answers[status] ?? 0) + 1;
  };
  const offender: Offender = {
    workspace_id,
    wiki_id,
    isOver: () => over,
    async send(method, path, body, headers) {
      const type: Record<string, string> = typeof body === 'string' ? { 'content-type': 'application/json' } : {};
      const init = {
        method,
        headers: { authorization: `Bearer ${token}`, ...type, ...headers },
        ...(body !== undefined && { body }),
      };
      try {
        const answer = await fetch(address + path, init);
        const text = await answer.text();
        if (!over) count(answer.status);
        const isJson = answer.headers.get('content-type')?.startsWith('application/json');
        return { status: answer.status, body: isJson && text.length < 1_000_000 ? JSON.parse(text) : text };
      } catch {
        if (!over) count(0);
        return undefined;
      }
    },
    openStream(path, other = token) {
      const stream = request(address + path, { agent, headers: { authorization: `Bearer ${other}` } }, (answer) => {
        count(answer.statusCode ?? 0);
        answer.on('error', () => undefined).resume();
      });
      stream.on('error', () => count(0)).end();
    },
    openSlowly(method, path, leaves = false) {
      const { hostname, port } = new URL(address);
      const open = () => {
        const socket = connect(Number(port), hostname);
        const head = `${method} ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\n`;
        socket.write(`${head}Content-Length: 1000\r\n\r\n{`);
        const sending = setInterval(() => (leaves ? socket.destroy() : socket.write(' ')), 1_000);
        socket.on('data', (answer) => count(Number(String(answer).split(' ')[1])));
        socket.on('error', () => undefined);
        socket.once('close', () => {
          clearInterval(sending);
          if (!over) count(0);
          if (!over) open();
        });
      };
      open();
    },
  };
  const misbehaviour = MISBEHAVIOURS.find((one) => one.name === name);
  if (!misbehaviour) throw new Error(`there is no misbehaviour ${name}`);
  return misbehaviour.run(offender);
}

process.on('message', (order: Order) => {
  if (order.kind === 'begin') {
    begin(order).catch((error: Error) => {
      if (!over) throw error;
    });
    return;
  }
  over = true;
  process.send?.(answers, () => process.exit(0));
});
