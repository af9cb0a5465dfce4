import type { FastifyReply, FastifyRequest } from 'fastify';
import { bearerToken, type Credential, type CredentialReader } from '../access/credential.ts';
import { isAnonymous } from '../access/rate-limit-policies.ts';
import type { RateLimits } from '../access/rate-limits.ts';
import { ApiError, unauthorized } from '../core/errors.ts';
import { HEADERS } from './answer-headers.ts';
import { bodyTimeout } from './body-parsers.ts';
import { browserToken } from './browser-cookie.ts';
import type { Endpoint } from './endpoint.ts';
import { EventStream } from './event-stream.ts';
import type { LoadShedding } from './load-shedding.ts';
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
    /** Counted in as one that is worked on. */
    isCounted: boolean;
    /** The credential was checked, so the answer is not 401. */
    callerKnown: boolean;
  }
}

interface AdmissionNeeds {
  load: LoadShedding;
  credentials: CredentialReader;
  limits: RateLimits | undefined;
  cors: WidgetCors;
  publicUrl: string;
}

/** What every request passes before its body is read: answer headers, rate limits, the credential. */
export function admission({ load, credentials, limits, cors, publicUrl }: AdmissionNeeds) {
  return async (request: FastifyRequest, reply: FastifyReply) => {
    reply.headers(HEADERS);
    reply.header('x-request-id', request.id);
    requireHost(request, reply);
    if (request.is404) {
      await limits?.limitUnmatched(request, reply);
      throw new ApiError('not_found', 'There is no such route.', { detail: 'Not Found' });
    }
    const { endpoint, isUnmatched } = request.routeOptions.config;
    if (isUnmatched) await limits?.limitUnmatched(request, reply);
    if (isUnmatched && cors.isPreflight(request)) {
      await cors.answerPreflight(request, reply);
      return reply.send();
    }
    if (!endpoint) {
      // A form of the web application, or what is read by nothing.
      bodyTimeout(request, request.headers['content-type']?.startsWith('multipart/') === true);
      return;
    }
    if (endpoint.responseHeaders) reply.headers(endpoint.responseHeaders);
    if (isAnonymous(endpoint)) {
      await limits?.limitAnonymous(request, reply);
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
    }
    if (!endpoint.consumes && endpoint.reply !== EventStream) {
      load.enter(endpoint.canWait === true);
      request.isCounted = true;
    }
    const { headers } = request.raw;
    if (!endpoint.body && !endpoint.consumes && headers['content-type'] !== undefined) delete headers['content-type'];
    bodyTimeout(request, endpoint.consumes !== undefined);
  };
}

/** RFC 9112, 3.2: without a Host the request is 400, and its connection is closed. */
function requireHost(request: FastifyRequest, reply: FastifyReply): void {
  if (request.headers.host !== undefined || request.raw.httpVersion !== '1.1') return;
  reply.header('connection', 'close');
  throw new ApiError('invalid_request', 'HTTP/1.1 asks for a Host header.');
}
