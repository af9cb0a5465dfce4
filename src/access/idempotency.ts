import type { IncomingHttpHeaders } from 'node:http';
import { ApiError, validationError } from '../core/errors.ts';
import { seal, unseal } from '../core/sealed.ts';
import { sha256 } from '../core/secrets.ts';
import type { Query } from '../db/db.ts';
import { sql } from '../db/sql.ts';

/**
 * An answer may hold a secret that is shown once (a new API key), so it is kept under a key that only the client has.
 */
const PURPOSE = 'ibid idempotent answer';

/**
 * Who asks, as the guard answers it. A session stays the same caller when its access token is renewed between a request
 * and its repetition.
 */
export interface Caller {
  user_id: string;
  credential_id: string;
  bound_workspace_id: string | null;
}

/** A request that may be sent again without happening again. */
export interface IdempotentRequest {
  /** As the client chose it. */
  key: string;
  caller: Caller | undefined;
  method: string;
  path: string;
  /** SHA-256 of what was sent. */
  fingerprint: Buffer;
}

/** 1 to 255 printable ASCII characters; 400 otherwise. undefined where the client sent none. */
export function readIdempotencyKey(headers: IncomingHttpHeaders): string | undefined {
  const key = headers['idempotency-key'];
  if (key === undefined) return undefined;
  if (typeof key === 'string' && /^[\x21-\x7e]{1,255}$/.test(key)) return key;
  throw new ApiError('invalid_request', 'Idempotency-Key is 1 to 255 printable ASCII characters, for example a UUID.');
}

/**
 * Takes the key for this transaction, or answers what the first request with it was answered, for 24 hours. Errors: 409
 * `idempotency_in_progress` while another request with it is under way (on any process: the lock is the database's), 422
 * where it was used for something else. The answer is stored by `keepAnswer` in the same transaction as the write, so
 * that a crash between commit and answer loses neither.
 */
export async function claimKey(query: Query, request: IdempotentRequest): Promise<{ body: unknown } | undefined> {
  const id = idOf(request);
  const [lock] = await query<{ free: boolean }>(sql`
    select pg_try_advisory_xact_lock(${id.readBigInt64BE(0).toString()}::bigint) as free`);
  if (!lock?.free) {
    throw new ApiError(
      'idempotency_in_progress',
      'A request with this Idempotency-Key is under way. Try again in a moment.',
    );
  }
  await query(sql`
    delete from idempotency_keys where id in (
      select id from idempotency_keys where created_at < now() - interval '24 hours' order by created_at limit 100)`);
  const [known] = await query<{ fingerprint: Buffer; answer: Buffer }>(sql`
    select fingerprint, answer from idempotency_keys where id = ${id} and created_at > now() - interval '24 hours'`);
  if (!known) return undefined;
  if (!known.fingerprint.equals(request.fingerprint)) {
    throw validationError([
      {
        type: 'value_error',
        loc: ['header', 'idempotency-key'],
        msg: 'Value error, this key was used for another request. Use a new key for each request.',
        input: request.key.slice(0, 64),
      },
    ]);
  }
  return { body: JSON.parse(unseal(PURPOSE, request.key, known.answer)) };
}

export async function storeAnswer(query: Query, request: IdempotentRequest, body: unknown): Promise<void> {
  await query(sql`
    insert into idempotency_keys (id, fingerprint, answer)
    values (${idOf(request)}, ${request.fingerprint}, ${seal(PURPOSE, request.key, JSON.stringify(body ?? null))})
    on conflict (id) do update set fingerprint = excluded.fingerprint, answer = excluded.answer, created_at = now()`);
}

/** A key counts for one caller and one endpoint. */
function idOf({ key, caller, method, path }: IdempotentRequest): Buffer {
  const who = [caller?.user_id, caller?.credential_id, caller?.bound_workspace_id];
  return sha256(JSON.stringify([who, method, path, key]));
}
