import type { ServerResponse } from 'node:http';
import { ApiError } from '../../core/errors.ts';
import type { Budget } from '../../db/db.ts';
import { Bytes, Download } from '../bytes.ts';
import type { Endpoint } from '../endpoint.ts';
import { EventStream } from '../event-stream.ts';

/** How long a request may take from when its body was read until its answer is sent: one that reads, and one that writes. */
export const BUDGETS_MS = { read: 10_000, write: 30_000 };

/**
 * The budget in milliseconds of a request to the endpoint. Uploads and streams have none: they go on as long as they get on,
 * and each of their statements has its own limit.
 */
export function budgetOf({ method, consumes, reply }: Endpoint): number | undefined {
  if (consumes || reply === EventStream || reply === Bytes || reply === Download) return undefined;
  return method === 'GET' ? BUDGETS_MS.read : BUDGETS_MS.write;
}

/**
 * Begins a request's budget. Its signal is aborted when the budget is used up (503 `time_limit_exceeded`), and when the client
 * goes away before it was answered. It is made when it is first asked for: most requests end sooner than anything could be
 * stopped.
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
      made.abort(new ApiError('request_timeout', 'The client went away before it was answered.'));
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
    `The request took longer than ${ms / 1_000} s. Try again later, or ask for less at once.`,
  );
}
