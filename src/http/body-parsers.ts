import type { FastifyInstance, FastifyRequest } from 'fastify';
import { unsupportedMediaType } from '../core/errors.ts';
import { decodeJson } from './body.ts';
import type { Endpoint } from './endpoint.ts';

/** How long a JSON body may take to arrive, and how long an upload may pause. */
const BODY_MS = 30_000;

/** The media types of bodies that are streams. */
export const TYPE_OF = { multipart: 'multipart/form-data', bytes: 'application/offset+octet-stream' };

/** JSON is decoded here; what endpoints take as a stream is handed on as one; nothing else is read. */
export function registerBodyParsers(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    async (request: FastifyRequest, bytes: Buffer) => {
      const endpoint = request.routeOptions.config.endpoint;
      if (endpoint?.consumes && !endpoint.body) throw unsupportedMediaType(undefined, TYPE_OF[endpoint.consumes]);
      return decodeJson(bytes);
    },
  );
  for (const [takes, type] of Object.entries(TYPE_OF)) {
    app.addContentTypeParser(type, (request, payload, done) => {
      const endpoint = request.routeOptions.config.endpoint;
      if (endpoint?.consumes === takes) done(null, payload);
      else done(unsupportedMediaType(undefined, endpoint?.consumes && TYPE_OF[endpoint.consumes]));
    });
  }
  app.addContentTypeParser('*', (request, payload, done) => {
    const endpoint = request.routeOptions.config.endpoint;
    if (endpoint?.body || endpoint?.consumes) {
      // Neither a body nor a type: the field that is missing says more than the type.
      if (endpoint.body && request.headers['content-length'] === '0') done(null, undefined);
      else done(unsupportedMediaType(undefined, endpoint.consumes && TYPE_OF[endpoint.consumes]));
      return;
    }
    // The endpoint has no body, so whatever was sent is passed over.
    payload.resume();
    done(null, undefined);
  });
}

/** Ends connections that send their body too slowly: a JSON body has 30 s in all, an upload 30 s for its next bytes. */
export function bodyTimeout(request: FastifyRequest, endpoint: Endpoint): void {
  const { raw } = request;
  const { socket } = raw;
  if (raw.headers['content-length'] === undefined && raw.headers['transfer-encoding'] === undefined) return;
  const cut = () => socket.destroy();
  if (endpoint.consumes) {
    raw.setTimeout(BODY_MS, cut);
    raw.once('end', () => raw.setTimeout(0));
    return;
  }
  const timer = setTimeout(cut, BODY_MS);
  // A request that was answered before all of its body came never ends; then its connection does.
  const stop = () => {
    clearTimeout(timer);
    socket.off('close', stop);
  };
  raw.once('end', stop);
  socket.once('close', stop);
}
