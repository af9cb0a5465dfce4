import { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { subjectOf } from '../../access/credential.ts';
import { Bytes, Download, type StoredFile, sendBytes, sendDownload } from '../bytes.ts';
import { type Endpoint, JsonText, Moved, NotModified } from '../endpoint.ts';
import { type EventSource, EventStream } from '../event-stream.ts';
import { listPaging } from '../list-paging.ts';
import { entityTag, isKnown } from '../representation.ts';
import type { AcceptedRequest } from './accepted-request.ts';
import type { Input } from './input.ts';
import type { HandlerNeeds } from './needs.ts';

/**
 * Returns a function that sends an endpoint's reply: as events, bytes, JSON, or the representation that the client
 * accepts.
 */
export function sender(endpoint: Endpoint, { services, streams, log }: HandlerNeeds) {
  const status = endpoint.status ?? 200;
  const { nextLink } = listPaging(endpoint);

  return ({ request, credential, input, media_type }: AcceptedRequest, reply: FastifyReply, result: unknown) => {
    if (endpoint.reply === EventStream) {
      return streams.send(request, reply, result as EventSource, subjectOf(credential).join(' '));
    }
    if (endpoint.reply === Bytes) return sendBytes(request, reply, services.blobs, result as StoredFile);
    if (endpoint.reply === Download) {
      return sendDownload(request, reply, result as Download, (err) =>
        log.warn({ err, request_id: request.id }, 'a download ended before it was complete'),
      );
    }
    if (endpoint.representations) reply.header('vary', 'authorization, accept');
    if (result instanceof NotModified) return reply.code(304).send();
    reply.code(status);
    if (endpoint.headers) reply.headers(endpoint.headers(result));
    if (status === 204) return reply.send();
    const link = nextLink(request.url, input.query, result);
    if (link) reply.header('link', link);
    if (!endpoint.representations) return sendJson(endpoint, request, reply, result);
    return sendRepresentation(endpoint, request, reply, input, result, media_type);
  };
}

function sendRepresentation(
  endpoint: Endpoint,
  request: FastifyRequest,
  reply: FastifyReply,
  { params }: Input,
  result: unknown,
  type: string | undefined,
) {
  const { representations = {} } = endpoint;
  const represent = type === undefined ? undefined : representations[type];
  if (!represent) return sendJson(endpoint, request, reply, result);
  const text = represent(result, params);
  if (text instanceof Moved) return reply.redirect(text.to, 308);
  reply.type(`${type}; charset=utf-8`);
  return sendText(endpoint, request, reply, result, text);
}

function sendJson(endpoint: Endpoint, request: FastifyRequest, reply: FastifyReply, result: unknown) {
  if (result instanceof JsonText) return sendPieces(reply, result);
  if (!endpoint.etag) return reply.send(result);
  reply.type('application/json; charset=utf-8');
  const text = reply.serialize(result as Record<string, unknown>);
  return sendText(endpoint, request, reply, result, String(text));
}

function sendPieces(reply: FastifyReply, { pieces }: JsonText) {
  reply.type('application/json; charset=utf-8');
  reply.header(
    'content-length',
    pieces.reduce((sum, piece) => sum + piece.length, 0),
  );
  return reply.send(Readable.from(eachInItsTurn(pieces), { highWaterMark: 1 }));
}

/** Yields each piece in its own turn of the event loop. */
async function* eachInItsTurn(pieces: readonly Buffer[]): AsyncGenerator<Buffer> {
  for (const piece of pieces) {
    yield piece;
    await nextTurn();
  }
}

function sendText(endpoint: Endpoint, request: FastifyRequest, reply: FastifyReply, result: unknown, text: string) {
  if (endpoint.etag && !reply.hasHeader('etag')) {
    const etag = entityTag(endpoint.etag(result), text);
    reply.header('etag', etag);
    if (isKnown(request.headers['if-none-match'], etag)) return reply.code(304).send();
  }
  return reply.serializer(String).send(text);
}
