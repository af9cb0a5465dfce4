import { METHODS } from 'node:http';
import { Readable } from 'node:stream';
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify';
import type { Logger } from 'pino';
import { bearerToken, type Credential, type CredentialReader } from '../access/credential.ts';
import { requireCaller } from '../access/guard.ts';
import { isAnonymous, type RateLimits } from '../access/rate-limits.ts';
import { ApiError, notFound, unauthorized } from '../core/errors.ts';
import type { ServiceDb } from '../db/db.ts';
import { HEADERS, requestId } from './answer-headers.ts';
import { bodyTimeout, registerBodyParsers } from './body-parsers.ts';
import { browserToken } from './browser-cookie.ts';
import { Bytes } from './bytes.ts';
import type { Endpoint } from './endpoint.ts';
import { EventStream, openEventStreams } from './event-stream.ts';
import { handlerOf } from './handler/handler.ts';
import type { Limits, Services } from './services.ts';
import { toApiError } from './to-api-error.ts';
import { refuseUndecodable, refuseWhatIsNoRequest } from './undecodable.ts';
import { openWidgetCors } from './widget-cors.ts';

interface ServerOptions {
  endpoints: readonly Endpoint[];
  db: ServiceDb;
  credentials: CredentialReader;
  services: Services;
  /** undefined: nothing is limited. */
  limits: RateLimits | undefined;
  /** Addresses and networks whose X-Forwarded-For is believed. */
  trustedProxies: readonly string[];
  log: Logger;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    endpoint?: Endpoint;
    /** A method that the path does not have: counted like an unknown route. */
    isStray?: true;
  }
  interface FastifyRequest {
    /** Read before the body is; undefined where the endpoint needs none. */
    credential: Credential | undefined;
    /** The credential was looked at, so 401 is out of the question. */
    callerKnown: boolean;
  }
}

/** The HTTP server made of the list of endpoints. */
export function makeServer(options: ServerOptions): FastifyInstance {
  const { db, credentials, services, limits, trustedProxies, log } = options;
  const app = Fastify({
    loggerInstance: log as FastifyBaseLogger,
    // A child logger for each request would cost more than the request; lines carry request_id themselves.
    childLoggerFactory: (logger) => logger,
    logController: new LogController({ disableRequestLogging: true }),
    requestIdHeader: false,
    trustProxy: trustedProxies.length > 0 && [...trustedProxies],
    genReqId: requestId,
    // Node would answer a missing Host by itself, in words that are not ours.
    http: { requireHostHeader: false },
    bodyLimit: services.limits.json_bytes,
    routerOptions: { maxParamLength: 4_096 },
    // The time for a body is kept by bodyTimeout: 30 s for JSON; a large upload may take longer while bytes arrive.
    requestTimeout: 0,
    keepAliveTimeout: 72_000,
    forceCloseConnections: 'idle',
    // What arrives while the service stops is still answered, in our own words.
    return503OnClosing: false,
    frameworkErrors: (error, request, reply) => sendError(request, reply as FastifyReply, toApiError(error), log),
    clientErrorHandler: refuseUndecodable,
  });
  const { server } = app;
  server.headersTimeout = 15_000;
  refuseWhatIsNoRequest(server);

  for (const method of METHODS) {
    if (!app.supportedMethods.includes(method) && method !== 'CONNECT') app.addHttpMethod(method, { hasBody: true });
  }
  app.decorateRequest('callerKnown', false);
  app.decorateRequest('credential', undefined);
  registerBodyParsers(app);
  const cors = openWidgetCors(db);

  app.addHook('onRequest', async (request, reply) => {
    reply.headers(HEADERS);
    reply.header('x-request-id', request.id);
    if (request.headers.host === undefined && request.raw.httpVersion === '1.1') {
      reply.header('connection', 'close');
      throw new ApiError('invalid_request', 'HTTP/1.1 asks for a Host header.');
    }
    if (request.is404) {
      await limits?.limitUnmatched(request, reply);
      throw new ApiError('not_found', 'There is no such route.', { detail: 'Not Found' });
    }
    const { endpoint, isStray } = request.routeOptions.config;
    if (isStray) await limits?.limitUnmatched(request, reply);
    if (isStray && cors.isPreflight(request)) {
      await cors.answerPreflight(request, reply);
      return reply.send();
    }
    if (!endpoint) return;
    if (endpoint.responseHeaders) reply.headers(endpoint.responseHeaders);
    if (isAnonymous(endpoint)) {
      await limits?.limitAnonymous(request, reply);
      // Who needs no credential cannot be refused for want of one.
      request.callerKnown = true;
      request.credential = { kind: 'none' };
    } else {
      const bearer = bearerToken(request.raw);
      const cookie = bearer === undefined ? browserToken(request.raw, services.publicUrl) : undefined;
      await limits?.limitToken(request, reply, bearer ?? cookie);
      if (bearer === undefined && cookie === undefined) throw unauthorized();
      const credential = cookie === undefined ? await credentials.read(bearer ?? '') : credentials.readCookie(cookie);
      await limits?.limitCredential(request, reply, endpoint, credential);
      request.credential = credential;
    }
    const { headers } = request.raw;
    if (!endpoint.body && !endpoint.consumes && headers['content-type'] !== undefined) delete headers['content-type'];
    bodyTimeout(request, endpoint);
  });
  if (limits) {
    app.decorateRequest('admitted', undefined);
    app.addHook('onSend', (request, reply, payload, done) => {
      limits.settle(request, reply);
      done(null, payload);
    });
  }

  const streams = openEventStreams((err) => log.warn({ err }, 'a state could not be read for a stream of events'));
  app.addHook('preClose', async () => streams.end());
  app.setErrorHandler(async (error, request, reply) => {
    const answer = await afterCallerCheck(toApiError(error), request, db);
    return sendError(request, reply, answer, log, await actorOf(answer, request, db));
  });
  app.setNotFoundHandler(() => {
    throw notFound('route');
  });

  for (const endpoint of options.endpoints) {
    app.route({
      method: endpoint.method,
      url: endpoint.path.replace(/\*[a-z_]+$/, '*'),
      config: { endpoint },
      ...(endpoint.status !== 204 &&
        endpoint.reply !== Bytes &&
        endpoint.reply !== EventStream && { schema: { response: { [endpoint.status ?? 200]: endpoint.reply } } }),
      bodyLimit: bodyLimit(endpoint, services.limits),
      ...(endpoint.access.on === 'widget' && {
        onSend: async (request: FastifyRequest, reply: FastifyReply) => {
          // Without a word of this, a browser shows the answer to nobody else's page.
          await cors
            .mark(request, reply)
            .catch((err) => log.warn({ err, request_id: request.id }, 'no origin was looked up'));
        },
      }),
      handler: handlerOf(endpoint, { db, services, log, streams }),
    });
  }
  refuseOtherMethods(app, options.endpoints, { isStray: true });
  return app;
}

/** JSON may write a character of a text in up to three times its bytes (`\\u044f` for я); only control characters take more. */
function bodyLimit({ consumes, body, bodyLimit }: Endpoint, limits: Limits): number {
  // What comes as a stream is counted by who reads it.
  if (consumes && !body) return limits.upload_bytes;
  return bodyLimit === 'markdown' ? limits.json_bytes + 3 * limits.markdown_bytes : limits.json_bytes;
}

/** 405 with `Allow` for every method that a known path does not have. */
export function refuseOtherMethods(
  app: FastifyInstance,
  routes: readonly { method: string; path: string }[],
  config: { isStray?: true } = {},
): void {
  const methodsOf = new Map<string, string[]>();
  for (const { method, path } of routes) {
    const url = path.replace(/\*[a-z_]+$/, '*');
    methodsOf.set(url, [...(methodsOf.get(url) ?? []), method, ...(method === 'GET' ? ['HEAD'] : [])]);
  }
  for (const [url, methods] of methodsOf) {
    const refuse = async (_request: FastifyRequest, reply: FastifyReply) => {
      reply.header('allow', methods.join(', '));
      const message = `This path answers ${methods.join(', ')}.`;
      throw new ApiError('method_not_allowed', message, { detail: 'Method Not Allowed' });
    };
    const others = app.supportedMethods.filter((method) => !methods.includes(method));
    app.route({ method: others, url, config, onRequest: refuse, handler: refuse });
  }
}

/**
 * A body or query that is refused is refused after the credential: whoever has none learns nothing else. This is the
 * one more statement of the failing path.
 */
async function afterCallerCheck(error: ApiError, request: FastifyRequest, db: ServiceDb): Promise<ApiError> {
  const isOfBody = error.status === 400 || error.status === 413 || error.status === 415 || error.status === 422;
  if (!isOfBody || request.callerKnown || !request.routeOptions.config.endpoint) return error;
  if (!request.credential) return error;
  try {
    await requireCaller(db, request.credential);
    return error;
  } catch (refusal) {
    return toApiError(refusal);
  }
}

/** Who was refused, for the log. It is asked for when somebody is, so that what succeeds need not carry it. */
async function actorOf({ status }: ApiError, request: FastifyRequest, db: ServiceDb): Promise<object> {
  if (!request.credential || (status !== 403 && status !== 404)) return {};
  try {
    const caller = await requireCaller(db, request.credential);
    if (!caller) return {};
    return { actor_id: caller.user_id, credential_kind: request.credential.kind, credential_id: caller.credential_id };
  } catch {
    // Who it was only adds to the line: the refusal itself is answered and logged all the same.
    return {};
  }
}

/** How much of the request's body may still come. */
function unreadBytes({ body, headers }: FastifyRequest): number {
  if (body !== undefined && !(body instanceof Readable && !body.readableEnded)) return 0;
  return Number(headers['content-length'] ?? (headers['transfer-encoding'] === undefined ? 0 : Infinity));
}

function sendError(request: FastifyRequest, reply: FastifyReply, error: ApiError, log: Logger, actor: object = {}) {
  const { code, message, detail, status, retry_after } = error;
  const request_id = request.id;
  // The path as the list of endpoints has it: what a client wrote into the address is not for a log.
  const endpoint = `${request.method} ${request.routeOptions?.url ?? ''}`.trimEnd();
  const line = { request_id, endpoint, status, code, address: request.ip, ...actor };
  if (status >= 500) log.error({ ...line, err: error.cause ?? error }, message);
  else if (status === 401 || status === 403) log.warn(line, message);
  else log.info(line, message);
  if (!reply.hasHeader('x-request-id')) reply.headers(HEADERS).header('x-request-id', request_id);
  if (status === 401) reply.header('www-authenticate', 'Bearer');
  if (retry_after !== undefined) reply.header('retry-after', retry_after);
  // What is left of a refused body is not read: the connection ends with the answer.
  if (status === 413 || unreadBytes(request) > 65_536) {
    reply.header('connection', 'close');
  }
  const body = { ...(detail !== undefined && { detail }), error: code, message, request_id };
  return reply.code(status).type('application/json; charset=utf-8').serializer(JSON.stringify).send(body);
}
