import { Socket } from 'node:net';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { TSchema } from 'typebox';
import { unsupportedMediaType } from '../core/errors.ts';
import { decodeJson, VALUES_MAX } from './body.ts';
import { LARGE_BYTES, type LargeBodies } from './load/large-bodies.ts';
import { setSending } from './load/slow-clients.ts';
import { STREAM_TYPES, typesInWords } from './stream-types.ts';

/** How long a JSON body may take to arrive, and how long an upload may pause. */
const BODY_MS = 30_000;

/** How many values a body may have that its endpoint ignores: a page that was read, with its outline, is sent back as a whole. */
const UNKNOWN_VALUES = 10_000;

const mostBySchema = new WeakMap<TSchema, number>();

/** How many values a body of this schema may have: distinct names and texts take long to decode, while other requests wait. */
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

/** Decodes JSON bodies, passes streams on to their endpoints, and reads nothing else. */
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
      // Neither a body nor a type: an error about the missing field says more than one about the type.
      if (endpoint.body && request.headers['content-length'] === '0') done(null, undefined);
      else done(unsupportedMediaType(undefined, endpoint.consumes && typesInWords(endpoint.consumes)));
      return;
    }
    // The endpoint has no body, so anything that was sent is ignored.
    payload.resume();
    done(null, undefined);
  });
}

/**
 * Ends connections that send their body too slowly: a JSON body has 30 s in all, an upload 30 s for its next bytes, and for
 * the next 16 KiB (load/slow-clients.ts).
 */
export function bodyTimeout(request: FastifyRequest, isStream: boolean): BodyWatch {
  const { raw } = request;
  const { socket } = raw;
  // A call by the web application comes on no connection, and its body is there already.
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
  // If a request is answered before its whole body has arrived, the request does not end, but its connection does.
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

/** The time that a body has to arrive. It does not pass while the service asks for no byte of it. */
export interface BodyWatch {
  pause(): void;
  restart(): void;
}

const UNWATCHED: BodyWatch = { pause: () => undefined, restart: () => undefined };
