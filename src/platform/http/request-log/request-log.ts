import type { FastifyReply, FastifyRequest } from 'fastify';
import { requestPath } from '../../access/caller-context.ts';
import { kindOf } from '../../access/credential-kinds.ts';
import { databaseTime } from '../../core/clock.ts';
import { newId } from '../../core/ids.ts';
import type { ServiceDb } from '../../db/db.ts';
import { SERVICE } from '../../db/request-context.ts';
import { sql } from '../../db/sql.ts';
import { openCallBuffer } from './call-buffer.ts';
import { loggedPath } from './logged-path.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The code of the error response; "" if there was no error. */
    errorCode: string;
    /** The credential came in the Authorization header, as programs send it; browsers send a cookie. */
    isByToken: boolean;
  }
}

/** Calls that read the request log are not logged: they would soon fill it. */
export const REQUEST_LOG_PATH = '/v1/workspaces/:workspace_id/request-log';

/** How long calls are collected before a statement writes them. */
const WRITE_MS = 2_000;

export interface RequestLog {
  /** Logs an answered call without waiting for the database. */
  add(request: FastifyRequest, reply: FastifyReply): void;
  /** Writes the buffered calls. */
  close(): Promise<void>;
}

/** A call in the format of the database function `log_requests`. */
type Call = Record<string, string | number | undefined>;

/**
 * Logs the latest calls of programs in each workspace: calls with an API key or an access token. Requests of web pages
 * and widgets are not logged. Calls are buffered in memory and written in batches, so a call costs no statement.
 * `size`: calls to keep per workspace; 0 disables the log.
 */
export function openRequestLog(db: ServiceDb, size: number, onFailed: (error: unknown) => void): RequestLog {
  const buffer = openCallBuffer<Call>(size);
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();

  async function write(): Promise<void> {
    timer = undefined;
    const calls = buffer.take().map((call) => ({ ...call, call_id: newId('req') }));
    if (calls.length === 0) return;
    try {
      await db.in(SERVICE).write(sql`select log_requests(${JSON.stringify(calls)}::jsonb, ${size})`);
    } catch (error) {
      onFailed(error);
    }
  }

  function writeLater(): void {
    timer ??= setTimeout(() => {
      writing = writing.then(write);
    }, WRITE_MS).unref();
  }

  return {
    add(request, reply) {
      const { credential, params } = request;
      const { endpoint } = request.routeOptions.config;
      if (size === 0 || !endpoint || endpoint.path === REQUEST_LOG_PATH || !credential || !request.isByToken) return;
      // An unverified credential may belong to another workspace.
      if (reply.statusCode === 401) return;
      const named = kindOf(credential).inRequestLog?.(credential);
      if (named === undefined) return;
      const ids = params as Record<string, string>;
      const place = requestPath(endpoint.access, credential, ids);
      buffer.add(request.tenant, {
        ...named,
        ...place,
        request_id: request.id,
        method: request.method,
        path: loggedPath(endpoint.path, ids),
        status: reply.statusCode,
        error: request.errorCode,
        duration_ms: Math.round(reply.elapsedTime),
        created_at: new Date(databaseTime() - reply.elapsedTime).toISOString(),
      });
      writeLater();
    },
    async close() {
      clearTimeout(timer);
      writing = writing.then(write);
      await writing;
    },
  };
}
