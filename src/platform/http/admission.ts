import type { FastifyReply, FastifyRequest } from 'fastify';
import { requestContext } from '../access/caller-context.ts';
import { bearerToken, type Credential, type CredentialReader } from '../access/credential.ts';
import { isAnonymous } from '../access/limits/rate-limit-policies.ts';
import type { RateLimits } from '../access/limits/rate-limits.ts';
import { ApiError, unauthorized } from '../core/errors.ts';
import type { ServiceDb } from '../db/db.ts';
import { HEADERS } from './answer-headers.ts';
import { bodyTimeout } from './body-parsers.ts';
import { browserToken } from './browser-cookie.ts';
import type { Endpoint } from './endpoint.ts';
import { EventStream } from './event-stream.ts';
import { openBudget } from './handler/budget.ts';
import { LARGE_BYTES, type LargeBodies } from './load/large-bodies.ts';
import type { LoadShedding } from './load/load-shedding.ts';
import type { WidgetCors } from './widget-cors.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    endpoint?: Endpoint;
    /** A method that the path does not have. Rate limited like an unknown route. */
    isUnmatched?: true;
  }
  interface FastifyRequest {
    /** Read before the body; undefined if the endpoint needs no credential. */
    credential: Credential | undefined;
    /**
     * The key for fair sharing: the workspace if the process knows it, otherwise the caller, or the address of an
     * unknown caller.
     */
    tenant: string;
    /** The credential was checked, so the response is not 401. */
    callerKnown: boolean;
  }
}

interface AdmissionNeeds {
  load: LoadShedding;
  bodies: LargeBodies;
  db: ServiceDb;
  credentials: CredentialReader;
  limits: RateLimits | undefined;
  cors: WidgetCors;
  publicUrl: string;
}

/** Returns the hook that runs before the body is read: response headers, rate limits, credential, load shedding. */
export function admission({ load, bodies, db, credentials, limits, cors, publicUrl }: AdmissionNeeds) {
  return async (request: FastifyRequest, reply: FastifyReply) => {
    reply.headers(HEADERS);
    reply.header('x-request-id', request.id);
    const { endpoint, isUnmatched } = request.routeOptions.config;
    // Start the timeout before the request can be refused; otherwise its body could arrive forever.
    const watch = bodyTimeout(request, isStream(request, endpoint));
    requireOneHost(request, reply);
    if (request.is404) {
      await limits?.limitUnmatched(request, reply);
      request.server.knownPaths.refuse(request.raw.url ?? '', reply);
      throw new ApiError('not_found', 'There is no such route.', { detail: 'Not Found' });
    }
    if (isUnmatched) await limits?.limitUnmatched(request, reply);
    if (isUnmatched && cors.isPreflight(request)) {
      await cors.answerPreflight(request, reply);
      return reply.send();
    }
    if (!endpoint) return;
    if (endpoint.responseHeaders) reply.headers(endpoint.responseHeaders);
    if (isAnonymous(endpoint)) {
      await limits?.limitAnonymous(request, reply, endpoint);
      // These endpoints never answer 401 for a missing credential.
      request.callerKnown = true;
      request.credential = { kind: 'none' };
    } else {
      const bearer = bearerToken(request.raw);
      const cookie = bearer === undefined ? browserToken(request.raw, publicUrl) : undefined;
      await limits?.limitToken(request, reply, bearer ?? cookie);
      if (bearer === undefined && cookie === undefined) throw unauthorized();
      const credential = cookie === undefined ? await credentials.read(bearer ?? '') : credentials.readCookie(cookie);
      await limits?.limitCredential(request, reply, endpoint, credential);
      request.credential = credential;
      request.isByToken = bearer !== undefined;
    }
    request.tenant = tenantOf(db, endpoint, request);
    if (!endpoint.consumes && endpoint.reply !== EventStream) {
      const leave = load.enter(request.tenant, endpoint.canWait === true);
      // `close` also fires if the client disconnects while sending its body; no Fastify hook does.
      if (reply.raw.closed) leave();
      else reply.raw.once('close', leave);
    }
    if (endpoint.body && isLarge(request)) {
      watch.pause();
      await enterLarge(bodies, request, reply).finally(watch.restart);
    }
    const { headers } = request.raw;
    const readsBody = endpoint.body || endpoint.consumes || endpoint.signedBody;
    if (!readsBody && headers['content-type'] !== undefined) delete headers['content-type'];
  };
}

/** Returns whether the body is large JSON, or could be because its length is unknown. */
function isLarge({ headers }: FastifyRequest): boolean {
  if (headers['content-type']?.startsWith('multipart/')) return false;
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) >= LARGE_BYTES;
}

/** Assumed size of a body of unknown length. */
const UNKNOWN_BYTES = 2 ** 20;

function tenantOf(db: ServiceDb, { access }: Endpoint, request: FastifyRequest): string {
  const credential = request.credential ?? { kind: 'none' };
  const none = { invitation: undefined, new_workspace_id: undefined };
  return db.tenantOf(requestContext(access, credential, request.params as Record<string, string>, none)) ?? request.ip;
}

/** Waits for the tenant's turn before the body is read. Its share is returned when the request has ended. */
async function enterLarge(bodies: LargeBodies, request: FastifyRequest, { raw }: FastifyReply): Promise<void> {
  const bytes = Number(request.headers['content-length'] ?? UNKNOWN_BYTES);
  const leave = await bodies.enter(request.tenant, bytes, openBudget(raw, undefined).abandoned());
  if (raw.destroyed) leave();
  else raw.once('close', leave).once('finish', leave);
}

/**
 * Returns whether the body is read while it arrives. Forms of the web application are streams only if they have files.
 */
function isStream({ headers, is404 }: FastifyRequest, endpoint: Endpoint | undefined): boolean {
  if (endpoint) return endpoint.consumes !== undefined;
  return !is404 && headers['content-type']?.startsWith('multipart/') === true;
}

/** Throws 400 and closes the connection of a request without a Host header or with several (RFC 9112, 3.2). */
function requireOneHost({ raw }: FastifyRequest, reply: FastifyReply): void {
  const { headers, rawHeaders, httpVersion } = raw;
  // `rawHeaders` alternates names and values; `headers` has only the first of several Hosts.
  const hosts = rawHeaders.filter((name, i) => i % 2 === 0 && name.toLowerCase() === 'host').length;
  if (headers.host === undefined ? httpVersion !== '1.1' : hosts < 2) return;
  reply.header('connection', 'close');
  throw new ApiError('invalid_request', 'An HTTP/1.1 request needs exactly one Host header.');
}
