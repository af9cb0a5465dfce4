import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Credential } from '../../access/credential.ts';
import { claimsOf } from '../../access/credential-kinds.ts';
import { requireCaller } from '../../access/guard.ts';
import { readIdempotencyKey } from '../../access/idempotency.ts';
import { ApiError, forbidden, unauthorized } from '../../core/errors.ts';
import { isFromOurPages } from '../browser-cookie.ts';
import { type Endpoint, isIdempotent } from '../endpoint.ts';
import { NO_FORM } from '../multipart.ts';
import { acceptRequest } from './accepted-request.ts';
import { fingerprintOf, receiveUpload } from './files.ts';
import { type Input, inputReader } from './input.ts';
import type { HandlerNeeds } from './needs.ts';
import { sender } from './reply.ts';
import { run, runHeavy, runOnce } from './run.ts';

/**
 * Returns the handler of an endpoint: credential, input, database, reply. The order of the checks is part of the API.
 */
export function handlerOf(endpoint: Endpoint, needs: HandlerNeeds) {
  const { db, services } = needs;
  const readInput = inputReader(endpoint);
  const send = sender(endpoint, needs);
  const mayWrite = endpoint.event !== undefined || endpoint.consumes !== undefined;
  const takesKey = isIdempotent(endpoint);

  return async (request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
    const credential = credentialFor(endpoint, request);
    if (isOfAnotherWidget(endpoint, credential) || isFromElsewhere(endpoint, request, services.publicUrl)) {
      // An invalid token must yield 401 instead of 403.
      await requireCaller(db, credential);
      throw forbidden();
    }
    let input: Input;
    try {
      input = readInput(request);
    } catch (error) {
      // Do not keep an invalid body in memory during the lookup of the caller.
      request.body = null;
      await requireCaller(db, credential);
      request.callerKnown = true;
      throw error;
    }

    const accepted = acceptRequest(endpoint, needs, request, reply, credential, input);
    // From here on refusals come from the guard, which has checked the credential.
    request.callerKnown = true;
    if (mayWrite && services.diskIsFull()) {
      await accepted
        .openGuard()
        .refuse(new ApiError('storage_unavailable', 'The disk of the service is nearly full. Try again later.'));
    }
    const form = endpoint.consumes === 'multipart' ? await receiveUpload(endpoint, services, accepted) : NO_FORM;

    const key = takesKey ? readIdempotencyKey(request.headers) : undefined;
    if (endpoint.isHeavy) return send(accepted, reply, await runHeavy(endpoint, needs, accepted, form));
    if (key === undefined) return send(accepted, reply, await run(endpoint, needs, accepted, form));
    const { method, url: path } = request;
    const repeated = { key, method, path, fingerprint: fingerprintOf(accepted, form) };
    const { body, isReplayed } = await runOnce(endpoint, needs, accepted, form, repeated);
    if (isReplayed) reply.header('idempotency-replayed', 'true');
    return send(accepted, reply, body);
  };
}

/**
 * Throws 401 unless the credential fits: widget endpoints accept only widget tokens, all other endpoints only other
 * credentials.
 */
function credentialFor(endpoint: Endpoint, { credential }: FastifyRequest): Credential {
  if (!credential || (endpoint.access.on === 'widget') !== (claimsOf(credential) !== undefined)) throw unauthorized();
  return credential;
}

/**
 * Returns whether a widget token is used outside its origin. A token with an origin is accepted only from pages of that
 * origin; a token without an origin may only show its widget. Browsers send no Origin for same-origin reads, so reads
 * from this service's own pages are recognized by other headers.
 */
function isFromElsewhere({ access }: Endpoint, { credential, raw }: FastifyRequest, publicUrl: string): boolean {
  const claims = claimsOf(credential);
  if (access.on !== 'widget' || !claims) return false;
  const { origin, isOwnOrigin } = claims;
  if (origin === null) return access.instead !== undefined;
  if (raw.headers.origin !== undefined) return raw.headers.origin !== origin;
  return !(isOwnOrigin && isFromOurPages(raw, publicUrl));
}

function isOfAnotherWidget({ access }: Endpoint, credential: Credential): boolean {
  const claims = claimsOf(credential);
  return access.on === 'widget' && claims !== undefined && claims.widget !== access.widget;
}
