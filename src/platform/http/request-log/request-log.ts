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
    /** The code of the error that was answered; "" for none. */
    errorCode: string;
    /** The credential came in the header for programs; browsers send a cookie. */
    isByToken: boolean;
  }
}

/** Calls of the log are not in it: those would soon be all that it has. */
export const REQUEST_LOG_PATH = '/v1/workspaces/:workspace_id/request-log';

/** How long calls are collected before one statement writes them. */
const WRITE_MS = 2_000;

export interface RequestLog {
  /** Notes a call that was answered, without waiting for anything. */
  add(request: FastifyRequest, reply: FastifyReply): void;
  /** Writes what is not written yet. */
  close(): Promise<void>;
}

/** A call as the database function `log_requests` takes it. */
type Call = Record<string, string | number | undefined>;

/**
 * The last calls of programs in each workspace: those with a key or an access token. What people do in the pages of the
 * service, or in a widget, is not in it. They are kept in memory and written together, so a call costs no statement.
 * `size`: how many of each workspace are kept; 0 for none.
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
      // The credential may be anybody's.
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
