import { Socket } from 'node:net';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { TSchema } from 'typebox';
import { unsupportedMediaType } from '../core/errors.ts';
import { decodeJson, VALUES_MAX } from './body.ts';
import { LARGE_BYTES, type LargeBodies } from './load/large-bodies.ts';
import { setSending } from './load/slow-clients.ts';
import { STREAM_TYPES, typesInWords } from './stream-types.ts';

/** Timeout of a JSON body, and of a pause in an upload. */
const BODY_MS = 30_000;

/** Values in a body that its endpoint may ignore: clients send back a whole page, with its outline. */
const UNKNOWN_VALUES = 10_000;

const mostBySchema = new WeakMap<TSchema, number>();

/**
 * Returns how many values a body of this schema may have. Limited because many distinct names and texts take long to
 * decode and block other requests.
 */
function valuesFor(schema: TSchema): number {
  const most = mostBySchema.get(schema) ?? Math.min(VALUES_MAX, UNKNOWN_VALUES + mostValues(schema));
  mostBySchema.set(schema, most);
  return most;
}

function mostValues(schema: TSchema): number {
  const {
    properties,
    items,
    maxItems = VALUES_MAX,
    anyOf,
  } = schema as Partial<{
    properties: Record<string, TSchema>;
    items: TSchema;
    maxItems: number;
    anyOf: TSchema[];
  }>;
  if (anyOf) return Math.max(...anyOf.map(mostValues));
  if (items) return 1 + maxItems * mostValues(items);
  return Object.values(properties ?? {}).reduce((sum: number, property) => sum + mostValues(property), 1);
}

/** Registers the parsers: JSON is decoded, streams are passed to their endpoints, and no other body is read. */
export function registerBodyParsers(app: FastifyInstance, bodies: LargeBodies): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    async (request: FastifyRequest, bytes: Buffer) => {
      const endpoint = request.routeOptions.config.endpoint;
      if (endpoint?.consumes && !endpoint.body) throw unsupportedMediaType(undefined, typesInWords(endpoint.consumes));
      if (endpoint?.signedBody) return bytes;
      const most = endpoint?.body ? valuesFor(endpoint.body) : UNKNOWN_VALUES;
      if (bytes.length < LARGE_BYTES) return decodeJson(bytes, most);
      return bodies.inTurn(request.tenant, () => decodeJson(bytes, most));
    },
  );
  for (const [takes, types] of Object.entries(STREAM_TYPES)) {
    app.addContentTypeParser([...types], (request, payload, done) => {
      const endpoint = request.routeOptions.config.endpoint;
      if (endpoint?.consumes === takes) done(null, payload);
      else done(unsupportedMediaType(undefined, endpoint?.consumes && typesInWords(endpoint.consumes)));
    });
  }
  app.addContentTypeParser('*', (request, payload, done) => {
    const endpoint = request.routeOptions.config.endpoint;
    if (endpoint?.body || endpoint?.consumes) {
      // Without body and type, an error about the missing field is more helpful than an error about the type.
      if (endpoint.body && request.headers['content-length'] === '0') done(null, undefined);
      else done(unsupportedMediaType(undefined, endpoint.consumes && typesInWords(endpoint.consumes)));
      return;
    }
    // The endpoint takes no body, so ignore it.
    payload.resume();
    done(null, undefined);
  });
}

/**
 * Closes connections that send their body too slowly. A JSON body has 30 s in total. An upload has 30 s for its next
 * bytes, and for each 16 KiB (load/slow-clients.ts).
 */
export function bodyTimeout(request: FastifyRequest, isStream: boolean): BodyWatch {
  const { raw } = request;
  const { socket } = raw;
  // In-process calls of the web application have no connection, and their body is complete.
  if (!(socket instanceof Socket)) return UNWATCHED;
  if (raw.headers['content-length'] === undefined && raw.headers['transfer-encoding'] === undefined) return UNWATCHED;
  const cut = () => socket.destroy();
  if (isStream) {
    raw.setTimeout(BODY_MS, cut);
    setSending(socket, true);
    raw.once('end', () => {
      raw.setTimeout(0);
      setSending(socket, false);
    });
    return UNWATCHED;
  }
  let isOver = false;
  let timer = setTimeout(cut, BODY_MS);
  // If a request is answered before its body is complete, it never emits `end`, but its connection closes.
  const stop = () => {
    isOver = true;
    clearTimeout(timer);
    socket.off('close', stop);
  };
  raw.once('end', stop);
  socket.once('close', stop);
  return {
    pause: () => clearTimeout(timer),
    restart() {
      clearTimeout(timer);
      if (!isOver) timer = setTimeout(cut, BODY_MS);
    },
  };
}

/** The timeout of a body. Pause it while the service does not read from the connection. */
export interface BodyWatch {
  pause(): void;
  restart(): void;
}

const UNWATCHED: BodyWatch = { pause: () => undefined, restart: () => undefined };
