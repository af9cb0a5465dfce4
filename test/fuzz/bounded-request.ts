import assert from 'node:assert/strict';
import { Agent, request as httpRequest } from 'node:http';
import type { RawAnswer, RawRequest } from '../raw-http.ts';
import { patience } from '../until.ts';

/** Maximum idle time of the machine while waiting for an answer. */
const HANGS_MS = 30_000;
/** Slower answers are counted, but do not fail: the machine may be busy. */
const SLOW_MS = 5_000;
const ANSWER_MAX = 10 * 1024 ** 2;

const agent = new Agent({ keepAlive: true, maxSockets: 32 });

const sent = { requests: 0, slow: 0, slowest_ms: 0, statuses: {} as Record<number, number> };

/**
 * Sends a request and reads at most the first event of a stream. Throws an AssertionError if there is no answer in
 * time, if the connection breaks before it, or if it is larger than 10 MB (`mayBeLarge`: files may be).
 */
export function sendBounded(
  address: string,
  request: RawRequest,
  mayBeLarge = false,
  isAgain = false,
): Promise<RawAnswer> {
  const { hostname, port } = new URL(address);
  const what = `${request.method} ${request.path.slice(0, 200)}`;
  const began = performance.now();
  const { method, path, headers = {}, body } = request;
  return new Promise<RawAnswer>((resolve, reject) => {
    let isAnswered = false;
    const isTooLong = patience(HANGS_MS);
    const timer = setInterval(() => isTooLong() && out.destroy(new Error('no answer')), 500);
    const fail = (error: Error) => {
      clearInterval(timer);
      reject(new assert.AssertionError({ message: `${what}: ${error.message}` }));
    };
    const out = httpRequest({ agent, hostname, port, method, path, headers }, (response) => {
      isAnswered = true;
      const chunks: Buffer[] = [];
      let length = 0;
      const end = () => {
        clearInterval(timer);
        const text = Buffer.concat(chunks).toString('utf8');
        const status = response.statusCode ?? 0;
        count(status, performance.now() - began);
        const isJson = response.headers['content-type']?.startsWith('application/json') === true && text !== '';
        try {
          resolve({ status, headers: response.headers, text, body: isJson ? JSON.parse(text) : text });
        } catch (error) {
          fail(error as Error);
        }
      };
      response.on('data', (chunk: Buffer) => {
        chunks.push(chunk);
        length += chunk.length;
        if (length > ANSWER_MAX && !mayBeLarge) out.destroy(new Error('the answer is larger than 10 MB'));
        if (response.headers['content-type']?.startsWith('text/event-stream')) {
          end();
          out.destroy();
        }
      });
      response.on('error', fail);
      response.on('end', end);
    });
    // A server that refuses a body may close the connection before it has read all of it; only the answer matters.
    out.on('error', (error: NodeJS.ErrnoException) => {
      if (isAnswered && !isLimit(error)) return;
      // The service may close an idle connection at the moment when it is reused.
      if (!out.reusedSocket || error.code !== 'ECONNRESET' || isAgain) return fail(error);
      clearInterval(timer);
      sendBounded(address, request, mayBeLarge, true).then(resolve, reject);
    });
    out.end(body);
  });
}

function isLimit(error: Error): boolean {
  return error.message.includes('10 MB') || error.message.includes('no answer');
}

function count(status: number, ms: number): void {
  sent.requests += 1;
  sent.statuses[status] = (sent.statuses[status] ?? 0) + 1;
  sent.slowest_ms = Math.max(sent.slowest_ms, ms);
  if (ms > SLOW_MS) sent.slow += 1;
}

/** Formats the counts: `1234 requests (200: 800, 404: 434), 0 slower than 5 s, the slowest 812 ms`. */
export function sentText(): string {
  const statuses = Object.entries(sent.statuses).map(([status, times]) => `${status}: ${times}`);
  return `${sent.requests} requests (${statuses.join(', ')}), ${sent.slow} slower than ${SLOW_MS / 1000} s, the slowest ${Math.round(sent.slowest_ms)} ms`;
}
