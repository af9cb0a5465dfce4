import { Agent, request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { connect } from 'node:net';

/** A request that is sent verbatim: path and headers are not normalized. */
export interface RawRequest {
  method: string;
  path: string;
  headers?: Record<string, string | string[]>;
  body?: string | Buffer;
}

export interface RawAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  /** The body, parsed if it is JSON. */
  body: any;
}

const agent = new Agent({ keepAlive: true, maxSockets: 16 });

/** Sends one request. `fetch` would normalize paths, forbid methods and refuse a body for GET. */
export function sendRaw(address: string, { method, path, headers = {}, body }: RawRequest): Promise<RawAnswer> {
  const { hostname, port } = new URL(address);
  return new Promise((resolve, reject) => {
    let answered = false;
    const request = httpRequest({ agent, hostname, port, method, path, headers }, (response) => {
      answered = true;
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8');
        const isJson = response.headers['content-type']?.startsWith('application/json') === true && text !== '';
        const answer = { status: response.statusCode ?? 0, headers: response.headers, text };
        resolve({ ...answer, body: isJson ? JSON.parse(text) : text });
      });
    });
    // A server that refuses a body may close the connection before it has read all of it; only the answer matters.
    request.on('error', (error) => {
      if (!answered) reject(error);
    });
    request.end(body);
  });
}

/** Writes bytes to a new connection and returns everything received until the server closes it. */
export function sendBytes(address: string, bytes: string | Buffer): Promise<string> {
  const { hostname, port } = new URL(address);
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port) });
    let received = '';
    socket.setEncoding('latin1');
    socket.on('data', (chunk) => {
      received += chunk;
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ECONNRESET' && error.code !== 'EPIPE') reject(error);
    });
    socket.on('close', () => resolve(received));
    socket.write(bytes);
  });
}
