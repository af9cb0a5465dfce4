import { setTimeout as pause } from 'node:timers/promises';
import type { Db, Query } from '../db/db.ts';
import { sql } from '../db/sql.ts';
import { type IdempotentRequest, inProgress, isAnswered, storeAnswer } from './idempotency.ts';

/**
 * The transaction in which a request with an Idempotency-Key writes and stores its answer. It begins with the first
 * write and ends with the reply, so work before the write (rendering, receiving files) holds no connection, and after a
 * crash either both exist or neither. Between the write and the reply an endpoint calls only the database.
 */
export interface AnswerTransaction {
  /** Sends a statement in the transaction, or on its own before the transaction begins. */
  query: Query;
  /**
   * Runs `work` in the transaction and begins it if necessary. If this call began it and `hasWritten` returns false,
   * ends it again. Waits while another request with the key, in any process, is writing. Rethrows errors of `work`
   * after rolling back everything. Throws 409 `idempotency_in_progress` if the other request has stored its answer or
   * does not finish in time.
   */
  write<T>(work: (query: Query) => Promise<T>, hasWritten: (result: T) => boolean): Promise<T>;
  /** Stores the answer and commits it together with the writes. Rolls back everything if `storeAnswer` throws. */
  commit(answer: unknown): Promise<void>;
  /** Rolls back the writes, if any. */
  rollback(): Promise<void>;
}

/** Maximum time to wait for another request with the same key. The request may write for as long afterwards. */
const WAIT_MS = 10_000;
const POLL_MS = 25;

export function openAnswerTransaction(db: Db, id: Buffer, request: IdempotentRequest): AnswerTransaction {
  let open: OpenTransaction | undefined;

  async function end(how: 'commit' | 'rollback'): Promise<void> {
    const ending = open;
    open = undefined;
    await ending?.[how]();
  }

  /** Begins a transaction once no other request with the key is writing. Holds no connection while waiting. */
  async function beginAlone(): Promise<OpenTransaction> {
    const waitsUntil = performance.now() + WAIT_MS;
    for (let hasWaited = false; ; hasWaited = true) {
      // Assigned to `open` first, so that an error below rolls the transaction back.
      const begun = (open = await begin(db));
      const [lock] = await begun.query<{ free: boolean }>(sql`
        select pg_try_advisory_xact_lock(${id.readBigInt64BE(0).toString()}::bigint) as free`);
      // The other request may have been refused, or have stored the answer to this one.
      if (lock?.free && !(hasWaited && (await isAnswered(begun.query, id)))) return begun;
      await end('rollback');
      if (lock?.free || performance.now() > waitsUntil) throw inProgress();
      await pause(POLL_MS);
    }
  }

  return {
    query: (statement) => (open ?? db).query(statement),
    async write(work, hasWritten) {
      const isFirst = open === undefined;
      try {
        const { query } = open ?? (await beginAlone());
        const result = await work(query);
        if (isFirst && !hasWritten(result)) await end('commit');
        return result;
      } catch (error) {
        await end('rollback');
        throw error;
      }
    },
    async commit(answer) {
      await storeAnswer((open ?? db).query, id, request, answer);
      await end('commit');
    },
    rollback: () => end('rollback'),
  };
}

interface OpenTransaction {
  query: Query;
  commit(): Promise<void>;
  rollback(): Promise<void>;
}

/** Begins a transaction that its caller ends. */
async function begin(db: Db): Promise<OpenTransaction> {
  const begun = Promise.withResolvers<Query>();
  const decided = Promise.withResolvers<void>();
  const ended = db.transaction(async (query) => {
    begun.resolve(query);
    await decided.promise;
  });
  ended.catch(begun.reject);
  return {
    query: await begun.promise,
    commit() {
      decided.resolve();
      return ended;
    },
    async rollback() {
      decided.reject(new Error('rolled back'));
      await ended.catch(() => undefined);
    },
  };
}
