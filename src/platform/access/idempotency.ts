import type { IncomingHttpHeaders } from 'node:http';
import { ApiError, notFound, validationError } from '../core/errors.ts';
import { seal, unseal } from '../core/sealed.ts';
import type { Query } from '../db/db.ts';
import { raw, type Sql, sql } from '../db/sql.ts';

/**
 * Purpose of the encryption key. An answer may contain a secret that is shown once (a new API key), so it is encrypted
 * with a key that only the client has.
 */
const PURPOSE = 'ibid idempotent answer';

const RETENTION = raw(`interval '24 hours'`);

/** Maximum number of keys that one statement prunes. */
const PRUNE_BATCH_SIZE = 1_000;

/** A request that can be repeated without a second effect. */
export interface IdempotentRequest {
  key: string;
  method: string;
  /** Including the query. */
  path: string;
  /** SHA-256 of the request's content. */
  fingerprint: Buffer;
}

export interface KnownRequest {
  /** SHA-256 of caller, endpoint and key, under which the answer is stored. */
  id: Buffer;
  /** The stored answer; undefined if this is the first request. */
  answer: { body: unknown } | undefined;
}

/** The part of a request's guard used here. */
interface Guard {
  maybeOne<T>(work: Sql): Promise<T | undefined>;
}

/** Returns 1 to 255 printable ASCII characters, or undefined without the header. Throws 400 for anything else. */
export function readIdempotencyKey(headers: IncomingHttpHeaders): string | undefined {
  const key = headers['idempotency-key'];
  if (key === undefined) return undefined;
  if (typeof key === 'string' && /^[\x21-\x7e]{1,255}$/.test(key)) return key;
  throw new ApiError(
    'invalid_request',
    'Idempotency-Key must be 1 to 255 printable ASCII characters, for example a UUID.',
  );
}

/**
 * Finds the answer that the request got in the last 24 hours. Runs the guard first, so a caller who lost access gets no
 * stored answer, and 404 replaces the answer about a page that is hidden by now. A key belongs to one caller and one
 * endpoint; a session stays the same caller when its access token is refreshed. Throws the errors of the guard; 422 if the
 * key was used for another request.
 */
export async function findAnswer(guard: Guard, request: IdempotentRequest): Promise<KnownRequest> {
  const { key, method, path, fingerprint } = request;
  // The JSON text [[user, credential, workspace], method, path, key].
  const rest = `,${JSON.stringify([method, path, key]).slice(1)}`;
  const known = await guard.maybeOne<{
    id: Buffer;
    fingerprint: Buffer | null;
    answer: Buffer | null;
    /** Whether pages can be hidden from the caller. */
    is_restricted: boolean | null;
  }>(sql`
    select r.id, k.fingerprint, k.answer, restricts() as is_restricted
    from (
      select sha256(convert_to('[[' || to_json(user_id) || ',' || to_json(credential_id) || ','
        || coalesce(to_json(bound_workspace_id)::text, 'null') || ']' || ${rest}::text, 'UTF8')) as id
      from access offset 0
    ) r
    left join idempotency_keys k on k.id = r.id and k.created_at > now() - ${RETENTION}`);
  if (!known) throw new Error('an endpoint without a caller does not support Idempotency-Key');
  if (!known.fingerprint || !known.answer) return { id: known.id, answer: undefined };
  if (!known.fingerprint.equals(fingerprint)) throw keyReused(key);
  const body = JSON.parse(unseal(PURPOSE, key, known.answer)) as { page_id?: unknown } | null;
  if (known.is_restricted && typeof body?.page_id === 'string') {
    const hidden = await guard.maybeOne(sql`select from hidden_pages h where h.page_id = ${body.page_id}`);
    if (hidden) throw notFound();
  }
  return { id: known.id, answer: { body } };
}

/**
 * Stores the answer for 24 hours. Throws 409 `idempotency_in_progress` if the same request was answered in the
 * meantime; the caller must roll back its transaction.
 */
export async function storeAnswer(
  query: Query,
  id: Buffer,
  { key, fingerprint }: IdempotentRequest,
  body: unknown,
): Promise<void> {
  const stored = await query(sql`
    insert into idempotency_keys as k (id, fingerprint, answer)
    values (${id}, ${fingerprint}, ${seal(PURPOSE, key, JSON.stringify(body ?? null))})
    on conflict (id) do update set fingerprint = excluded.fingerprint, answer = excluded.answer, created_at = now()
    where k.created_at <= now() - ${RETENTION}
    returning 1`);
  if (stored.length === 0) throw inProgress();
}

/** Returns whether an answer is stored under the id. */
export async function isAnswered(query: Query, id: Buffer): Promise<boolean> {
  const stored = await query(sql`
    select 1 from idempotency_keys where id = ${id} and created_at > now() - ${RETENTION}`);
  return stored.length > 0;
}

/** 409 for a request while another one with its key is about to write or has just written. */
export function inProgress(): ApiError {
  return new ApiError(
    'idempotency_in_progress',
    'A request with this Idempotency-Key is still running. Try again in a moment.',
  );
}

/** Deletes expired keys, one batch per statement, and returns their number. No request waits for it. */
export async function pruneIdempotencyKeys(query: Query): Promise<number> {
  let pruned = 0;
  for (;;) {
    const batch = await query(sql`
      delete from idempotency_keys where id in (
        select id from idempotency_keys where created_at <= now() - ${RETENTION}
        order by created_at limit ${PRUNE_BATCH_SIZE}::int for update skip locked)
      returning 1`);
    pruned += batch.length;
    if (batch.length < PRUNE_BATCH_SIZE) return pruned;
  }
}

function keyReused(key: string): ApiError {
  return validationError([
    {
      type: 'value_error',
      loc: ['header', 'idempotency-key'],
      msg: 'Value error, this key was used for another request. Use a new key for each request.',
      input: key.slice(0, 64),
    },
  ]);
}
