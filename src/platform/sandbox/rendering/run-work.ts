import type { PlainReason } from '@ibid/markdown/plain-text.ts';
import type { ConfinedProcess, ProcessFailure } from '../confined-process.ts';
import type { Lease, ProcessPool } from '../process-pool.ts';
import { requestOf, type Surroundings, type Work } from './messages.ts';
import { type ReceivedResponse, readResponse } from './responses.ts';

/** Maximum number of progress messages per file: splitting sends one for each window of 32 KiB, of 8 MiB at most. */
const MAX_PROGRESS = 2_000;

export interface WorkOptions {
  /** CPU time to extract the text of a file. */
  extractMs: number;
  /** CPU time to render a short text; the limit grows with the length of the text. */
  renderMs: number;
  /** Called with an unexpected error of rendering. */
  onError(error: Error): void;
}

/** The result of rendering or compiling, or the reason why even plain text failed. */
export type Result = Exclude<ReceivedResponse, { is: 'progress' | 'error' }> | Exclude<PlainReason, '' | 'too_complex'>;

/** A text of 1 MiB that consists only of lists takes eight seconds. No text may delay the others for longer. */
function renderTimeLimitMs(renderMs: number, length: number): number {
  return Math.min(renderMs * (1 + length / 2 ** 17), 10 * renderMs);
}

const REASONS: Record<ProcessFailure, Exclude<PlainReason, '' | 'too_complex'>> = {
  crashed: 'failed',
  too_long: 'out_of_memory',
  out_of_memory: 'out_of_memory',
  too_slow: 'too_slow',
};

/**
 * Runs work in the process of a lease. If that fails, shows the text as plain text; if that fails too, returns the
 * reason.
 */
export type RunWork = (lease: Lease, work: Work, signal?: AbortSignal) => Promise<Result>;

export function openWork({ assertOpen }: ProcessPool, { renderMs, extractMs, onError }: WorkOptions): RunWork {
  const sent = new WeakMap<ConfinedProcess, Surroundings>();

  async function ask(
    lease: Lease,
    work: Work,
    plain: Exclude<PlainReason, 'too_complex'>,
    signal?: AbortSignal,
  ): Promise<Result> {
    const process = await lease.process();
    signal?.throwIfAborted();
    const { header, body } = requestOf(work, plain, sent.get(process));
    if ('file' in work) sent.set(process, work.surroundings);
    let limitMs = 'page' in work ? renderTimeLimitMs(renderMs, work.page.markdown.length) : extractMs;
    let answer = await process.ask(header, body, limitMs);
    for (let progress = 0; ; progress += 1) {
      const response = typeof answer === 'string' ? undefined : readResponse(answer);
      if (response?.is === 'progress' && progress < MAX_PROGRESS) {
        limitMs = renderTimeLimitMs(renderMs, response.length);
        answer = await process.next(limitMs);
        continue;
      }
      if (response && response.is !== 'error' && response.is !== 'progress') return response;
      if (response?.is === 'error' && plain === '') onError(response.error);
      await lease.discard();
      return typeof answer === 'string' ? REASONS[answer] : 'failed';
    }
  }

  return async (lease, work, signal) => {
    const first = await ask(lease, work, '', signal);
    if (typeof first !== 'string') return first;
    assertOpen();
    return ask(lease, work, first, signal);
  };
}
