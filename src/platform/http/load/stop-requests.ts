import type { ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type ApiError, stopping } from '../../core/errors.ts';
import { abandonRequest } from '../handler/budget.ts';
import { GRACE_MS } from './close-connections.ts';

/** Work that requests wait for in a queue. */
export interface RequestQueue {
  /** From now on nothing waits: what has not begun fails with `stopping`, and so does what comes later and would have to wait. */
  refuseWaiting(): void;
  /** What still runs fails with `stopping`. */
  close?(): Promise<void>;
}

/** For how long requests that came before a stop may wait for their turn; after it they are told to try again elsewhere. */
const DRAIN_MS = 800;

/** When what still runs is given up: early enough that its answers arrive before connections are closed. */
export const GIVE_UP_MS = GRACE_MS - 1_000;

/** What answers nothing although it was given up is answered for. */
const ANSWER_MS = GIVE_UP_MS + 400;

/**
 * Ends the requests in progress when the service stops: no client waits for an answer that does not come. `answer`: sends an
 * error to a request that has no answer yet.
 */
export function openRequestStop(
  queues: readonly RequestQueue[],
  answer: (request: FastifyRequest, reply: FastifyReply, error: ApiError) => void,
) {
  const unanswered = new Map<ServerResponse, [FastifyRequest, FastifyReply]>();

  function giveUp(): void {
    for (const response of unanswered.keys()) abandonRequest(response, stopping());
    for (const queue of queues) void queue.close?.();
  }

  function answerAll(): void {
    for (const [response, [request, reply]] of unanswered) {
      if (!response.headersSent) answer(request, reply, stopping());
    }
  }

  return {
    watch(request: FastifyRequest, reply: FastifyReply): void {
      unanswered.set(reply.raw, [request, reply]);
      const forget = () => unanswered.delete(reply.raw);
      reply.raw.once('finish', forget).once('close', forget);
    },
    /** Begins the stop; returns how to cancel what it still would do. */
    begin(): () => void {
      const timers = [
        setTimeout(() => {
          for (const queue of queues) queue.refuseWaiting();
        }, DRAIN_MS),
        setTimeout(giveUp, GIVE_UP_MS),
        setTimeout(answerAll, ANSWER_MS),
      ];
      return () => {
        for (const timer of timers) clearTimeout(timer);
      };
    },
  };
}
