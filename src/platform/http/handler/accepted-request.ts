import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AnswerTransaction } from '../../access/answer-transaction.ts';
import { requestContext } from '../../access/caller-context.ts';
import type { Credential } from '../../access/credential.ts';
import { type AuthorizedDb, guard } from '../../access/guard.ts';
import { clientAddress } from '../../access/network.ts';
import { newId } from '../../core/ids.ts';
import { sha256 } from '../../core/secrets.ts';
import type { ContextDb } from '../../db/db.ts';
import { type Endpoint, needsPayment } from '../endpoint.ts';
import { chooseMediaType } from '../representation.ts';
import { budgetOf, openBudget } from './budget.ts';
import type { Input } from './input.ts';
import type { HandlerNeeds } from './needs.ts';

/** A request whose path, query and body match the schemas of its endpoint. All further checks need the database. */
export interface AcceptedRequest {
  request: FastifyRequest;
  credential: Credential;
  input: Input;
  new_workspace_id: string | undefined;
  /** The representation of the endpoint that the client prefers; undefined for JSON. */
  media_type: string | undefined;
  setHeaders(headers: Record<string, string>): void;
  /**
   * Returns a signal that is aborted when the client disconnects before the response, or when the time budget is used
   * up.
   */
  abandoned(): AbortSignal;
  /** The database in the context of the request. */
  db: ContextDb;
  /**
   * Opens the guard of the request; call it once per run. `answering`: the transaction of a request with an
   * Idempotency-Key.
   */
  openGuard(answering?: AnswerTransaction): AuthorizedDb;
}

export function acceptRequest(
  endpoint: Endpoint,
  { db, log, services }: HandlerNeeds,
  request: FastifyRequest,
  reply: FastifyReply,
  credential: Credential,
  input: Input,
): AcceptedRequest {
  const { access, event } = endpoint;
  const { params, query } = input;
  const secret = endpoint.invitation?.({ query, body: request.body });
  const new_workspace_id = endpoint.createsWorkspace && newId('org');
  const invitation = secret === undefined ? undefined : sha256(secret);
  const budget = openBudget(reply.raw, budgetOf(endpoint));
  const contextDb = db.in(requestContext(access, credential, params, { new_workspace_id, invitation }), budget);
  const { id: request_id } = request;
  const address = clientAddress(request);
  const onRecordUseFailed = (err: unknown) =>
    log.warn({ err, request_id }, 'the last use of a credential was not recorded');
  return {
    request,
    credential,
    input,
    new_workspace_id,
    media_type:
      endpoint.representations && chooseMediaType(request.headers.accept, Object.keys(endpoint.representations)),
    setHeaders: (headers) => void reply.headers(headers),
    abandoned: budget.abandoned,
    db: contextDb,
    openGuard: (answering) =>
      guard({
        ...{ db: contextDb, access, credential, params, event, needsPayment: needsPayment(endpoint) },
        onlyReads: endpoint.method === 'GET' && event === undefined,
        ...{ request_id, address, onRecordUseFailed, answering, auditTargets: services.auditTargets },
      }),
  };
}
