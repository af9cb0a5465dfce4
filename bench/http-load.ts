import { connect, type Socket } from 'node:net';

export interface Round {
  /** Requests per second that ended within the measured time. */
  per_second: number;
  p50_ms: number;
  p99_ms: number;
  /** All requests of the round, including the warm-up. */
  requests: number;
}

/** Time that a round runs before it is measured. */
const WARM_UP_MS = 60;

/** Runs `one` repeatedly, `width` at a time, for `ms`. */
export async function runRound(width: number, ms: number, one: (lane: number) => Promise<void>): Promise<Round> {
  const begin = performance.now() + WARM_UP_MS;
  const end = begin + ms;
  const latencies: number[] = [];
  let requests = 0;
  const lanes = Array.from({ length: width }, async (_, lane) => {
    for (let start = performance.now(); start < end; ) {
      await one(lane);
      const now = performance.now();
      requests += 1;
      if (now >= begin && now <= end) latencies.push(now - start);
      start = now;
    }
  });
  await Promise.all(lanes);
  const sorted = Float64Array.from(latencies).sort();
  const at = (part: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
  return { per_second: (sorted.length * 1000) / ms, p50_ms: at(0.5), p99_ms: at(0.99), requests };
}

/** A connection that sends GETs in sequence and parses no more of an answer than necessary: HTTP/1.1, keep-alive. */
export interface Connection {
  /** Sends `request`, the complete head. Throws an Error for anything but a 200 with a Content-Length. */
  get(request: string): Promise<void>;
  close(): void;
}

export async function openConnection(port: number): Promise<Connection> {
  const socket: Socket = connect({ port, host: '127.0.0.1', noDelay: true });
  let settle: { resolve: () => void; reject: (error: Error) => void } | undefined;
  let missing = -1;
  let head: Buffer | undefined;
  const fail = (error: Error) => settle?.reject(error);
  socket.on('error', fail).on('close', () => fail(new Error('the service closed a connection in use')));
  socket.on('data', (chunk) => {
    if (missing < 0) {
      const seen = head ? Buffer.concat([head, chunk]) : chunk;
      const end = seen.indexOf('\r\n\r\n');
      head = end < 0 ? seen : undefined;
      if (end < 0) return;
      const text = seen.toString('latin1', 0, end);
      const length = /^content-length: (\d+)/im.exec(text)?.[1];
      if (!text.startsWith('HTTP/1.1 200') || length === undefined) {
        fail(new Error(`a request was not answered with 200: ${seen.toString('latin1', 0, 600)}`));
        return;
      }
      missing = end + 4 + Number(length) - seen.length;
    } else missing -= chunk.length;
    if (missing > 0) return;
    missing = -1;
    settle?.resolve();
  });
  await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject));
  return {
    get: (request) =>
      new Promise((resolve, reject) => {
        settle = { resolve, reject };
        socket.write(request, 'latin1');
      }),
    close: () => socket.destroy(),
  };
}
