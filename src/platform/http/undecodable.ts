import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type ErrorCode, STATUS_OF } from '../core/errors.ts';
import { newId } from '../core/ids.ts';
import { HEADERS, requestId } from './answer-headers.ts';

/** Sends the API's error envelope to requests that never reach a route, and closes their connections. */
export function refuseUnroutable(server: Server): void {
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    const { status, headers, body } = refusal(
      'expectation_failed',
      'Only "Expect: 100-continue" is understood.',
      requestId(request),
    );
    response.writeHead(status, headers).end(body);
  });
  server.on('connect', (_request: IncomingMessage, socket: Duplex) => {
    write(socket, 'Bad Request', 'invalid_request', 'This service is not a proxy and does not support CONNECT.');
  });
}

/** Responds to requests that Node's parser refuses. */
export function refuseUndecodable(error: Error & { code?: string }, socket: Socket): void {
  if (socket.destroyed || !socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  switch (error.code) {
    case 'HPE_HEADER_OVERFLOW':
      return write(socket, 'Request Header Fields Too Large', 'headers_too_large', 'The headers are too large.');
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return write(socket, 'Request Timeout', 'request_timeout', 'The request took too long to arrive.');
    default:
      return write(socket, 'Bad Request', 'invalid_request', 'The request is not valid HTTP/1.1.');
  }
}

function write(socket: Duplex, reason: string, code: ErrorCode, message: string): void {
  const { status, headers, body } = refusal(code, message, newId('req'));
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${reason}\r\n${lines.join('')}\r\n${body}`);
}

function refusal(code: ErrorCode, message: string, request_id: string) {
  const body = JSON.stringify({ error: code, message, request_id });
  const headers = {
    ...HEADERS,
    'x-request-id': request_id,
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    connection: 'close',
  };
  return { status: STATUS_OF[code], headers, body };
}
