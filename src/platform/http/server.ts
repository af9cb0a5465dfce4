import { METHODS } from 'node:http';
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
  type RouteOptions,
} from 'fastify';
import type { Logger } from 'pino';
import type { CredentialReader } from '../access/credential.ts';
import type { RateLimits } from '../access/limits/rate-limits.ts';
import { notFound } from '../core/errors.ts';
import type { ServiceDb } from '../db/db.ts';
import { admission } from './admission.ts';
import { requestId } from './answer-headers.ts';
import { registerBodyParsers } from './body-parsers.ts';
import { Bytes, Download } from './bytes.ts';
import type { Endpoint } from './endpoint.ts';
import { actorOf, afterCallerCheck, sendError, sendErrorInstead } from './error-reply.ts';
import { EventStream, openEventStreams } from './event-stream.ts';
import { handlerOf } from './handler/handler.ts';
import type { HandlerNeeds } from './handler/needs.ts';
import { replySchema, serializedOnce } from './handler/reply-schema.ts';
import { connectionCloser } from './load/close-connections.ts';
import { openHeavyRequests } from './load/heavy-requests.ts';
import { idleConnections } from './load/idle-connections.ts';
import { openLargeBodies } from './load/large-bodies.ts';
import { limitConnections } from './load/limit-connections.ts';
import { openLoadShedding } from './load/load-shedding.ts';
import type { RequestStats } from './load/request-stats.ts';
import { disconnectSlowClients } from './load/slow-clients.ts';
import { openRequestStop, type RequestQueue } from './load/stop-requests.ts';
import { openKnownPaths, refuseOtherMethods } from './other-methods.ts';
import { openRequestLog } from './request-log/request-log.ts';
import type { Limits, Services } from './services.ts';
import { toApiError } from './to-api-error.ts';
import { traceRequests } from './trace-requests.ts';
import { refuseUndecodable, refuseUnroutable } from './undecodable.ts';
import { openWidgetCors, type WidgetCors } from './widget-cors.ts';

interface ServerOptions {
  endpoints: readonly Endpoint[];
  db: ServiceDb;
  credentials: CredentialReader;
  services: Services;
  stats: RequestStats;
  /** Undefined if rate limits are disabled. */
  limits: RateLimits | undefined;
  /** Addresses and networks whose X-Forwarded-For is trusted. */
  trustedProxies: readonly string[];
  /** Calls per workspace that the request log keeps. */
  requestLogSize: number;
  log: Logger;
  /** Queues of requests other than the queues of the server and the database. */
  queues: readonly RequestQueue[];
}

/** Maximum number of open connections of a process. */
const CONNECTIONS_MAX = 8_000;

/** Maximum length of a path segment in characters. */
const PARAM_LENGTH_MAX = 4_096;

/** Builds the HTTP server from the list of endpoints. */
export function makeServer(options: ServerOptions): FastifyInstance {
  const { endpoints, db, credentials, services, limits, log } = options;
  const app = newServer(options);
  traceRequests(app);
  app.decorate('knownPaths', openKnownPaths(PARAM_LENGTH_MAX));
  const cors = openWidgetCors(db);
  app.decorateRequest('callerKnown', false);
  app.decorateRequest('credential', undefined);
  const bodies = openLargeBodies();
  app.decorateRequest('tenant', '');
  registerBodyParsers(app, bodies);
  app.decorateRequest('isByToken', false);
  app.decorateRequest('errorCode', '');
  const requestLog = openRequestLog(db, options.requestLogSize, (err) =>
    log.warn({ err }, 'failed to write calls to the request log'),
  );
  app.addHook('onClose', requestLog.close);
  const load = openLoadShedding();
  app.addHook('onClose', async () => load.stop());
  app.addHook('onResponse', (request, reply, done) => {
    const { endpoint } = request.routeOptions.config;
    if (endpoint) options.stats.add(endpoint, reply.statusCode, reply.elapsedTime);
    requestLog.add(request, reply);
    done();
  });
  const heavy = openHeavyRequests();
  const queues = [{ refuseWaiting: db.refuseWaiting }, heavy, bodies, ...options.queues];
  const requestStop = openRequestStop(queues, (...refused) => sendErrorInstead(...refused, log));
  app.addHook('onRequest', (request, reply, done) => {
    requestStop.watch(request, reply);
    done();
  });
  app.addHook('onRequest', admission({ load, bodies, db, credentials, limits, cors, publicUrl: services.publicUrl }));
  if (limits) {
    app.decorateRequest('admitted', undefined);
    app.addHook('onSend', (request, reply, payload, done) => {
      limits.recordOutcome(request, reply);
      done(null, payload);
    });
  }
  const streams = openEventStreams((err) => log.warn({ err }, 'failed to read a state for an event stream'));
  const idle = idleConnections(app.server);
  limitConnections(app.server, CONNECTIONS_MAX, idle);
  const closeConnections = connectionCloser(app.server, idle);
  app.addHook('preClose', async () => {
    streams.end();
    app.server.once('close', requestStop.begin());
    await closeConnections();
  });
  app.setErrorHandler(async (error, request, reply) => {
    const answer = await afterCallerCheck(toApiError(error), request, db);
    return sendError(request, reply, answer, log, await actorOf(answer, request, db));
  });
  app.setNotFoundHandler(() => {
    throw notFound('route');
  });
  const needs = { db, services, log, streams, heavy };
  for (const endpoint of endpoints) app.route(routeOf(endpoint, needs, cors));
  refuseOtherMethods(app, endpoints, { isUnmatched: true });
  return app;
}

/** Creates a Fastify instance that uses the API's error envelope for all its own responses. */
function newServer({ services, trustedProxies, log }: ServerOptions): FastifyInstance {
  const app = Fastify({
    loggerInstance: log as FastifyBaseLogger,
    // A child logger per request would cost more than the request; log lines contain request_id themselves.
    childLoggerFactory: (logger) => logger,
    logController: new LogController({ disableRequestLogging: true }),
    requestIdHeader: false,
    trustProxy: trustedProxies.length > 0 && [...trustedProxies],
    genReqId: requestId,
    http: {
      // Node's own response to a missing Host would lack the error envelope.
      requireHostHeader: false,
      // Interval at which Node checks connections for headers that exceed headersTimeout.
      connectionsCheckingInterval: 5_000,
    },
    bodyLimit: services.limits.json_bytes,
    routerOptions: { maxParamLength: PARAM_LENGTH_MAX },
    // bodyTimeout limits the time for a body: 30 s for JSON; a large upload may take longer while bytes arrive.
    requestTimeout: 0,
    keepAliveTimeout: 72_000,
    forceCloseConnections: 'idle',
    // Requests that arrive while the service stops still get a response with the error envelope.
    return503OnClosing: false,
    frameworkErrors: (error, request, reply) => sendError(request, reply as FastifyReply, toApiError(error), log),
    clientErrorHandler: refuseUndecodable,
  });
  app.server.headersTimeout = 15_000;
  disconnectSlowClients(app.server);
  refuseUnroutable(app.server);
  for (const method of METHODS) {
    if (!app.supportedMethods.includes(method) && method !== 'CONNECT') app.addHttpMethod(method, { hasBody: true });
  }
  return app;
}

function routeOf(endpoint: Endpoint, needs: HandlerNeeds, cors: WidgetCors): RouteOptions {
  const { method, path, access, reply, status = 200 } = endpoint;
  const isJson = status !== 204 && reply !== Bytes && reply !== Download && reply !== EventStream;
  return {
    method,
    url: path.replace(/\*[a-z_]+$/, '*'),
    config: { endpoint },
    ...(isJson && { schema: { response: { [status]: replySchema(reply) } }, serializerCompiler: serializedOnce }),
    bodyLimit: bodyLimit(endpoint, needs.services.limits),
    ...(access.on === 'widget' && {
      onSend: async (request: FastifyRequest, reply: FastifyReply) => {
        // The CORS headers must be set first; without them browsers withhold the response from pages of other sites.
        await cors
          .setHeaders(request, reply)
          .catch((err) => needs.log.warn({ err, request_id: request.id }, 'failed to look up a CORS origin'));
      },
    }),
    handler: handlerOf(endpoint, needs),
  };
}

/**
 * Returns the maximum size of the body. JSON may encode a character in up to three times its bytes (`\\u044f` for я);
 * only control characters take more.
 */
function bodyLimit({ consumes, body, bodyLimit }: Endpoint, limits: Limits): number {
  // Endpoints that consume streams count the bytes themselves.
  if (consumes && !body) return limits.upload_bytes;
  return bodyLimit === 'markdown' ? limits.json_bytes + 3 * limits.markdown_bytes : limits.json_bytes;
}
