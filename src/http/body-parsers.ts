import type { FastifyInstance, FastifyRequest } from 'fastify';
import { decodeJson } from './body.ts';
import type { Endpoint } from './endpoint.ts';
import { unsupportedMediaType } from './errors.ts';

/** How long a JSON body may take to arrive, and how long an upload may pause. */
const BODY_MS = 30_000;

/** JSON is decoded here; multipart is handed on as a stream to the endpoints that take it; nothing else is read. */
export function registerBodyParsers(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    async (request: FastifyRequest, bytes: Buffer) => {
      if (request.routeOptions.config.endpoint?.takes === 'multipart')
        throw unsupportedMediaType(undefined, 'multipart/form-data');
      return decodeJson(bytes);
    },
  );
  app.addContentTypeParser('multipart/form-data', (request, payload, done) => {
    if (request.routeOptions.config.endpoint?.takes === 'multipart') done(null, payload);
    else done(unsupportedMediaType());
  });
  app.addContentTypeParser('*', (request, payload, done) => {
    const endpoint = request.routeOptions.config.endpoint;
    if (endpoint?.body || endpoint?.takes) {
      // Neither a body nor a type: the field that is missing says more than the type.
      if (endpoint.body && request.headers['content-length'] === '0') done(null, undefined);
      else done(unsupportedMediaType(undefined, endpoint.takes ? 'multipart/form-data' : undefined));
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
  if (endpoint.takes === 'multipart') {
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
