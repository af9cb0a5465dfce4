import pg from 'pg';
import { types } from '../src/platform/db/pg-types.ts';
import { SETTING_OPTIONS } from '../src/platform/db/service-session.ts';
import { type Editor, openEditor } from './editing.ts';
import { openConnection, type Round, runRound } from './http-load.ts';
import type { Call } from './requests.ts';

/**
 * An order to the process: the calls to use, or a round of requests to the service, or of the same statements through
 * the driver alone. `edits`: the calls name pages, which a round edits instead of reading them.
 */
export type LoadOrder =
  | { kind: 'calls'; port: number; connection: pg.PoolConfig; pool: number; calls: Call[]; edits?: boolean }
  | { kind: 'service' | 'straight'; width: number; ms: number };

export type LoadAnswer = { ok: true; round?: Round } | { ok: false; message: string };

let port = 0;
let pool: pg.Pool | undefined;
let requests: string[] = [];
let editors: Editor[] = [];
let statements: { name: string; text: string; values: unknown[] }[] = [];
const names = new Map<string, string>();

async function obey(order: LoadOrder): Promise<Round | undefined> {
  if (order.kind === 'calls') {
    port = order.port;
    // The same settings as the service's own pool, so that the service is the only difference.
    pool ??= new pg.Pool({ ...order.connection, max: order.pool, options: SETTING_OPTIONS, types });
    requests = order.calls.map(
      ({ path, token, cookie }) =>
        `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n${
          cookie
            ? `cookie: ${cookie}\r\naccept: text/html\r\nsec-fetch-site: same-origin`
            : `authorization: Bearer ${token}`
        }\r\n\r\n`,
    );
    editors = order.edits ? await Promise.all(order.calls.map((call) => openEditor(port, call))) : [];
    statements = order.calls.map(({ text, values }) => ({ name: nameOf(text), text, values: [...values] }));
    return undefined;
  }
  return order.kind === 'service' ? serviceRound(order.width, order.ms) : straightRound(order.width, order.ms);
}

function nameOf(text: string): string {
  const name = names.get(text) ?? `b${names.size}`;
  names.set(text, name);
  return name;
}

async function serviceRound(width: number, ms: number): Promise<Round> {
  if (editors.length > 0) return editRound(width, ms);
  const connections = await Promise.all(Array.from({ length: width }, () => openConnection(port)));
  let next = 0;
  try {
    return await runRound(width, ms, (lane) => {
      const request = requests[next++ % requests.length] ?? '';
      return connections[lane]?.get(request) ?? Promise.reject(new Error('there is no such connection'));
    });
  } finally {
    for (const connection of connections) connection.close();
  }
}

/** Runs a round of edits. Each lane edits pages of its own, because concurrent edits of a page conflict. */
async function editRound(width: number, ms: number): Promise<Round> {
  const rounds = new Array<number>(width).fill(0);
  return runRound(width, ms, async (lane) => {
    const round = rounds[lane] ?? 0;
    rounds[lane] = round + 1;
    const own = editors.filter((_, i) => i % width === lane);
    await own[round % own.length]?.edit();
  });
}

async function straightRound(width: number, ms: number): Promise<Round> {
  let next = 0;
  return runRound(width, ms, async () => {
    const statement = statements[next++ % statements.length];
    if (statement) await pool?.query(statement);
  });
}

process.on('message', (order: LoadOrder) => {
  obey(order).then(
    (round) => process.send?.({ ok: true, round } satisfies LoadAnswer),
    (error: Error) => process.send?.({ ok: false, message: error.message } satisfies LoadAnswer),
  );
});
