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
    /** A method that the path does not have: rate limited like an unknown route. */
    isUnmatched?: true;
  }
  interface FastifyRequest {
    /** Read before the body is; undefined where the endpoint needs none. */
    credential: Credential | undefined;
    /**
     * Whose share the request and its body take: the workspace as far as the process knows, else the caller; the address of
     * callers that are not known.
     */
    tenant: string;
    /** The credential was checked, so the answer is not 401. */
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

/** What every request passes before its body is read: answer headers, rate limits, the credential. */
export function admission({ load, bodies, db, credentials, limits, cors, publicUrl }: AdmissionNeeds) {
  return async (request: FastifyRequest, reply: FastifyReply) => {
    reply.headers(HEADERS);
    reply.header('x-request-id', request.id);
    const { endpoint, isUnmatched } = request.routeOptions.config;
    // Before anything refuses the request: its body would arrive for as long as its client likes.
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
      // Endpoints without a credential cannot answer 401 for a missing one.
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
      // Also where the client goes away while it sends its body, which no hook sees.
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

/** Whether the body is large JSON, or may be, because its length is not said. */
function isLarge({ headers }: FastifyRequest): boolean {
  if (headers['content-type']?.startsWith('multipart/')) return false;
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) >= LARGE_BYTES;
}

/** What a body counts whose length is not said. */
const UNKNOWN_BYTES = 2 ** 20;

function tenantOf(db: ServiceDb, { access }: Endpoint, request: FastifyRequest): string {
  const credential = request.credential ?? { kind: 'none' };
  const none = { invitation: undefined, new_workspace_id: undefined };
  return db.tenantOf(requestContext(access, credential, request.params as Record<string, string>, none)) ?? request.ip;
}

/** Waits for the tenant's turn before the body is read; its share is given back when the request has ended. */
async function enterLarge(bodies: LargeBodies, request: FastifyRequest, { raw }: FastifyReply): Promise<void> {
  const bytes = Number(request.headers['content-length'] ?? UNKNOWN_BYTES);
  const leave = await bodies.enter(request.tenant, bytes, openBudget(raw, undefined).abandoned());
  if (raw.destroyed) leave();
  else raw.once('close', leave).once('finish', leave);
}

/** Whether the body is read while it arrives; of the web application's forms those with files. */
function isStream({ headers, is404 }: FastifyRequest, endpoint: Endpoint | undefined): boolean {
  if (endpoint) return endpoint.consumes !== undefined;
  return !is404 && headers['content-type']?.startsWith('multipart/') === true;
}

/** RFC 9112, 3.2: without a Host, or with several, the request is 400, and its connection is closed. */
function requireOneHost({ raw }: FastifyRequest, reply: FastifyReply): void {
  const { headers, rawHeaders, httpVersion } = raw;
  // Names and values take turns in the list, and `headers` has the first Host of several.
  const hosts = rawHeaders.filter((name, i) => i % 2 === 0 && name.toLowerCase() === 'host').length;
  if (headers.host === undefined ? httpVersion !== '1.1' : hosts < 2) return;
  reply.header('connection', 'close');
  throw new ApiError('invalid_request', 'HTTP/1.1 asks for exactly one Host header.');
}
