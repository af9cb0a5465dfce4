import { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import { type AnswerTransaction, openAnswerTransaction } from '../../access/answer-transaction.ts';
import { findAnswer, type IdempotentRequest } from '../../access/idempotency.ts';
import { clientAddress } from '../../access/network.ts';
import { ApiError } from '../../core/errors.ts';
import type { Turn } from '../../core/queue/fair-queue.ts';
import type { Endpoint } from '../endpoint.ts';
import type { ListPage } from '../list-paging.ts';
import type { ReceivedForm } from '../multipart.ts';
import { tagsIn } from '../representation.ts';
import type { AcceptedRequest } from './accepted-request.ts';
import { streamOf } from './input.ts';
import type { HandlerNeeds } from './needs.ts';

/**
 * Runs the endpoint and returns its reply after its writes are committed; then wakes workers for the jobs that it
 * enqueued. `answering`: the transaction of a request with an Idempotency-Key, which commits the reply together with
 * the write.
 */
export async function run(
  endpoint: Endpoint,
  { services, log }: HandlerNeeds,
  { request, credential, input, new_workspace_id = '', media_type, setHeaders, abandoned, openGuard }: AcceptedRequest,
  form: ReceivedForm,
  answering?: AnswerTransaction,
): Promise<unknown> {
  const db = openGuard(answering);
  const { params, query, paging } = input;
  if (paging instanceof ApiError) return db.refuse(paging);
  const result = await endpoint.run({
    ...db,
    params,
    query,
    // Undefined if the endpoint is not a list; such an endpoint fails on the first use of it.
    paging: paging as ListPage,
    body: request.body,
    ...form,
    // Computed on demand, because most endpoints use neither.
    get bytes() {
      return streamOf(request) ?? Readable.from([]);
    },
    get origin() {
      return { address: clientAddress(request), user_agent: userAgent(request) };
    },
    header: (name) => headerOf(request, name),
    credential,
    if_match: request.headers['if-match'],
    known_tags: tagsIn(request.headers['if-none-match']),
    media_type,
    services,
    setHeaders,
    abandoned,
    new_workspace_id,
  });
  if (!db.wasChecked()) throw new Error(`${endpoint.method} ${endpoint.path} responded without asking the guard`);
  if (answering) await answering.commit(result);
  if (db.hasEnqueued()) services.wakeWorker();
  if (endpoint.event && db.hasWritten()) log.info({ request_id: request.id, event: endpoint.event }, endpoint.event);
  return result;
}

/** Runs a heavy endpoint when it is its tenant's turn. */
export async function runHeavy(
  endpoint: Endpoint,
  needs: HandlerNeeds,
  accepted: AcceptedRequest,
  form: ReceivedForm,
): Promise<unknown> {
  let turn: Turn;
  try {
    turn = await needs.heavy.enter(accepted.request.tenant, accepted.abandoned);
  } catch (error) {
    // Check the credential before refusing.
    if (error instanceof ApiError && error.status === 429) return accepted.openGuard().refuse(error);
    throw error;
  }
  try {
    return await run(endpoint, needs, accepted, form);
  } finally {
    needs.heavy.leave(turn);
  }
}

interface Answer {
  body: unknown;
  /** Whether this is the stored response to an earlier request. */
  isReplayed: boolean;
}

/**
 * Runs the endpoint unless the same request was answered before. Of two concurrent requests both may run, but only one
 * writes; the other waits for it and gets its response. Throws the errors of the endpoint; 409
 * `idempotency_in_progress` if the first request has no response after ten seconds; 422 if the key was used for a
 * different request.
 */
export async function runOnce(
  endpoint: Endpoint,
  needs: HandlerNeeds,
  accepted: AcceptedRequest,
  form: ReceivedForm,
  repeated: IdempotentRequest,
): Promise<Answer> {
  const { id, answer } = await findAnswer(accepted.openGuard(), repeated);
  if (answer) return { ...answer, isReplayed: true };
  const answering = openAnswerTransaction(accepted.db, id, repeated);
  try {
    return { body: await run(endpoint, needs, accepted, form, answering), isReplayed: false };
  } catch (error) {
    await answering.rollback();
    const { answer } = await findAnswer(accepted.openGuard(), repeated).catch((refusal: unknown) => {
      // The committed write may have removed the caller's access, so throw the original error instead of this refusal.
      throw isRefusal(refusal) ? error : refusal;
    });
    if (!answer) throw error;
    return { ...answer, isReplayed: true };
  }
}

function isRefusal(error: unknown): boolean {
  return error instanceof ApiError && [401, 403, 404].includes(error.status);
}

function headerOf(request: FastifyRequest, name: string): string | undefined {
  const value = request.headers[name.toLowerCase()];
  return Array.isArray(value) ? value.join(', ') : value;
}

function userAgent(request: FastifyRequest): string {
  const text = request.headers['user-agent'] ?? '';
  return text.replace(/[^\x20-\x7e]+/g, ' ').slice(0, 256);
}
