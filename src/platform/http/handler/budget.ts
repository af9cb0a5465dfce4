import type { ServerResponse } from 'node:http';
import { ApiError } from '../../core/errors.ts';
import type { Budget } from '../../db/db.ts';
import { Bytes, Download } from '../bytes.ts';
import type { Endpoint } from '../endpoint.ts';
import { EventStream } from '../event-stream.ts';

/** Time budget of requests that read and of requests that write, from the end of the request body to the response. */
export const BUDGETS_MS = { read: 10_000, write: 30_000 };

/**
 * Returns the time budget of requests to the endpoint in milliseconds. Uploads and streams have no budget: they may
 * take as long as they make progress, and each of their statements has its own timeout.
 */
export function budgetOf({ method, consumes, reply }: Endpoint): number | undefined {
  if (consumes || reply === EventStream || reply === Bytes || reply === Download) return undefined;
  return method === 'GET' ? BUDGETS_MS.read : BUDGETS_MS.write;
}

/**
 * Starts a request's time budget. Its signal is aborted when the budget is used up (503 `time_limit_exceeded`), and
 * when the client disconnects before the response. The signal is created on demand, because most requests end before
 * anything could be aborted.
 */
export function openBudget(response: ServerResponse, ms: number | undefined): Budget {
  const began = performance.now();
  let controller: AbortController | undefined;
  const left = () => (ms === undefined ? undefined : began + ms - performance.now());

  function watch(made: AbortController): void {
    const timer =
      ms === undefined ? undefined : setTimeout(() => made.abort(tooLong(ms)), Math.max(0, left() ?? 0)).unref();
    const abandon = () => {
      clearTimeout(timer);
      if (response.writableFinished) return;
      made.abort(new ApiError('request_timeout', 'The client disconnected before the response.'));
    };
    if (response.destroyed) abandon();
    else response.once('close', abandon).once(GIVEN_UP, (reason: ApiError) => made.abort(reason));
  }

  return {
    left,
    abandoned() {
      if (!controller) watch((controller = new AbortController()));
      return controller.signal;
    },
  };
}

const GIVEN_UP = Symbol('given up');

/** Aborts the signal of a request's budget with this reason. */
export function abandonRequest(response: ServerResponse, reason: ApiError): void {
  response.emit(GIVEN_UP, reason);
}

function tooLong(ms: number): ApiError {
  return new ApiError(
    'time_limit_exceeded',
    `The request took longer than ${ms / 1_000} s. Try again later, or request less at once.`,
  );
}
