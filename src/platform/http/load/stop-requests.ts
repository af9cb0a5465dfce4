import type { ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type ApiError, stopping } from '../../core/errors.ts';
import { abandonRequest } from '../handler/budget.ts';
import { GRACE_MS } from './close-connections.ts';

/** A queue in which requests wait for work. */
export interface RequestQueue {
  /** Fails queued work, and from now on work that would have to queue, with `stopping`. */
  refuseWaiting(): void;
  /** Fails running work with `stopping`. */
  close?(): Promise<void>;
}

/** How long requests that arrived before a stop may stay queued; then they are told to retry elsewhere. */
const DRAIN_MS = 800;

/** When running work is aborted: early enough for its responses to arrive before connections are closed. */
export const GIVE_UP_MS = GRACE_MS - 1_000;

/** When requests get an error response although their aborted work has not responded. */
const ANSWER_MS = GIVE_UP_MS + 400;

/**
 * Ends the requests in progress when the service stops, so that every client gets a response. `answer` sends an error
 * to a request without a response.
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
    /** Starts the stop; returns a function that cancels its remaining steps. */
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
