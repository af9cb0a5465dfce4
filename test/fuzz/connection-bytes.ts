import fc from 'fast-check';
import { sometimes } from './hostile-values.ts';

/** The bytes and the behaviour of one connection. Positions are taken modulo the length of the text. */
export interface FuzzedConnection {
  /** Indexes of the valid requests to send, without a pause between them. */
  requests: number[];
  framing: Framing;
  changes: Change[];
  /** Bytes per write; 0 for all at once. */
  piece: number;
  pause_ms: number;
  cut: number | undefined;
  /** The client's behaviour after it has written its bytes. */
  end: End;
}

type Change =
  | { kind: 'flip'; at: number; to: number }
  | { kind: 'remove'; at: number; length: number }
  | { kind: 'repeat'; at: number; length: number }
  | { kind: 'insert'; at: number; text: string };

type Framing =
  | { kind: 'length'; added: number }
  | { kind: 'two lengths' }
  | { kind: 'chunked'; size: number; broken: string | undefined }
  | { kind: 'both' }
  | { kind: 'none' };

/**
 * `reset` breaks the connection, `half` closes the client's side, `answered` leaves at the first bytes of the answer,
 * `unread` reads none of the answer, and `wait` stays until the service has answered or closed.
 */
export type End = 'wait' | 'half' | 'reset' | 'answered' | 'unread';

/** Pieces of HTTP and of forms, to insert at wrong places. */
const PIECES = [
  '\r\n',
  '\r\n\r\n',
  '\n',
  '\r',
  '\0',
  ':',
  ' ',
  '--B',
  '\r\n--B\r\n',
  '\r\n--B--',
  '\r\n--B--\r\n',
  '\r\nContent-Disposition: form-data; name="files"; filename="x.md"\r\n\r\n',
  '\r\nContent-Disposition: form-data\r\n\r\n',
  '; filename=',
  "; filename*=UTF-8''%ff%00\"",
  'name="',
  '"',
  '0\r\n\r\n',
  'ffffffffffffffffff\r\n',
  'Transfer-Encoding: chunked\r\n',
  'Content-Length: 5\r\n',
  'Content-Encoding: gzip\r\n',
  'Expect: 100-continue\r\n',
  'Upgrade: websocket\r\nConnection: Upgrade\r\n',
  'Connection: close\r\n',
  'Range: bytes=5-2, -0\r\n',
  'X: '.padEnd(20_000, 'y'),
  'GET / HTTP/1.1\r\nHost: x\r\n\r\n',
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  'HTTP/1.0',
  'HTTP/9.9',
  '%00',
  '\xff\xfe',
  '\x80'.repeat(100),
];

const at = fc.nat(1_000_000);
const change: fc.Arbitrary<Change> = fc.oneof(
  fc.record({ kind: fc.constant('flip' as const), at, to: fc.nat(255) }),
  fc.record({ kind: fc.constant('remove' as const), at, length: fc.integer({ min: 1, max: 200 }) }),
  fc.record({ kind: fc.constant('repeat' as const), at, length: fc.integer({ min: 1, max: 200 }) }),
  fc.record({ kind: fc.constant('insert' as const), at, text: fc.constantFrom(...PIECES) }),
);

const framing: fc.Arbitrary<Framing> = fc.oneof(
  { weight: 5, arbitrary: fc.constant<Framing>({ kind: 'length', added: 0 }) },
  {
    weight: 2,
    arbitrary: fc
      .constantFrom(-20, -1, 1, 1_000, 10 ** 9, 10 ** 18)
      .map((added) => ({ kind: 'length' as const, added })),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('chunked' as const),
      size: fc.integer({ min: 1, max: 3_000 }),
      broken: sometimes(2, fc.constantFrom('zz', '-1', '', '0x5', '5;a="b', '1'.repeat(40), '5\n')),
    }),
  },
  { weight: 1, arbitrary: fc.constantFrom<Framing>({ kind: 'two lengths' }, { kind: 'both' }, { kind: 'none' }) },
);

/** Generates one to five connections to open at once. `count`: number of valid requests to choose from. */
export function fuzzedConnections(count: number): fc.Arbitrary<FuzzedConnection[]> {
  const connection: fc.Arbitrary<FuzzedConnection> = fc.record({
    requests: fc.oneof(
      { weight: 4, arbitrary: fc.nat(count - 1).map((which) => [which]) },
      { weight: 1, arbitrary: fc.array(fc.nat(count - 1), { minLength: 2, maxLength: 4 }) },
    ),
    framing,
    changes: fc.oneof(
      { weight: 1, arbitrary: fc.constant<Change[]>([]) },
      { weight: 3, arbitrary: fc.array(change, { minLength: 1, maxLength: 4 }) },
    ),
    piece: fc.oneof(
      { weight: 3, arbitrary: fc.constant(0) },
      { weight: 2, arbitrary: fc.integer({ min: 100, max: 2_000 }) },
    ),
    pause_ms: fc.nat(4),
    cut: sometimes(2, at),
    end: fc.constantFrom<End>('wait', 'wait', 'half', 'reset', 'answered', 'unread'),
  });
  return fc.array(connection, { minLength: 1, maxLength: 5 });
}

/** A valid request, as Latin-1. `head` has its request line and headers, except the headers that frame the body. */
export interface ValidRequest {
  head: string;
  body: string;
}

export function bytesOf(connection: FuzzedConnection, valid: readonly ValidRequest[]): Buffer {
  const whole = connection.requests.map((which) => framed(valid[which] ?? { head: '', body: '' }, connection.framing));
  const changed = connection.changes.reduce(changedBy, whole.join(''));
  const cut = connection.cut === undefined ? changed : changed.slice(0, connection.cut % (changed.length + 1));
  return Buffer.from(cut, 'latin1');
}

function framed({ head, body }: ValidRequest, framing: Framing): string {
  if (body === '' && framing.kind === 'length' && framing.added === 0) return `${head}\r\n`;
  const length = `Content-Length: ${body.length}\r\n`;
  const chunked = 'Transfer-Encoding: chunked\r\n';
  switch (framing.kind) {
    case 'length':
      return `${head}Content-Length: ${body.length + framing.added}\r\n\r\n${body}`;
    case 'two lengths':
      return `${head}${length}Content-Length: ${body.length + 1}\r\n\r\n${body}`;
    case 'chunked':
      return `${head}${chunked}\r\n${inChunks(body, framing.size, framing.broken)}`;
    case 'both':
      return `${head}${length}${chunked}\r\n${inChunks(body, 500, undefined)}`;
    case 'none':
      return `${head}\r\n${body}`;
  }
}

/** Encodes a body in chunks. `broken` replaces the size of the last chunk. */
function inChunks(body: string, size: number, broken: string | undefined): string {
  const chunks: string[] = [];
  for (let from = 0; from < body.length; from += size) {
    const chunk = body.slice(from, from + size);
    const isLast = from + size >= body.length;
    chunks.push(`${isLast && broken !== undefined ? broken : chunk.length.toString(16)}\r\n${chunk}\r\n`);
  }
  return `${chunks.join('')}0\r\nX-Trailer: y\r\n\r\n`;
}

function changedBy(text: string, change: Change): string {
  const at = change.at % (text.length + 1);
  switch (change.kind) {
    case 'flip':
      return text.slice(0, at) + String.fromCharCode(change.to) + text.slice(at + 1);
    case 'remove':
      return text.slice(0, at) + text.slice(at + change.length);
    case 'repeat':
      return text.slice(0, at + change.length) + text.slice(at);
    case 'insert':
      return text.slice(0, at) + change.text + text.slice(at);
  }
}
