import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { rateLimited } from '../core/errors.ts';
import { toApiError } from './to-api-error.ts';

/** A resource whose states an endpoint streams as they change, until the last one. */
export interface EventSource {
  name: string;
  /** The state at the time of the request, as the guard returned it. */
  first: object;
  /** The current state, read through the guard again, so that a caller who lost access gets no more. */
  read(): Promise<object>;
  isLast(state: object): boolean;
  /**
   * Calls back when there may be another state, including one since the first was read; returns how to stop watching.
   */
  watch(onChange: () => void): () => void;
}

/** The reply of an endpoint that answers an EventSource, as server-sent events. */
export const EventStream = Type.Unsafe<EventSource>({ type: 'string', contentMediaType: 'text/event-stream' });

/** How often a stream checks access again and sends a heartbeat. */
const HEARTBEAT_MS = 3_000;

/** Maximum number of open streams of a credential in one process. */
const STREAMS_MAX = 20;

/** The open streams of a server. */
export interface EventStreams {
  /**
   * Sends the current state and each following one as events whose ids are hashes of the states. A client that has the
   * current state (Last-Event-ID) does not get it again, and gets 204 if it was the last one. Errors: 429.
   */
  send(request: FastifyRequest, reply: FastifyReply, states: EventSource, subject: string): FastifyReply;
  /** Ends all streams, so that the server can close; clients reconnect, to another process or the next one. */
  end(): void;
}

/**
 * `onFailure` gets the error when a state could not be read; the stream stays open and reads again at the next
 * heartbeat.
 */
export function openEventStreams(onFailure: (error: unknown) => void): EventStreams {
  const open = new Map<string, Set<Stream>>();

  return {
    send(request, reply, states, subject) {
      const seen = request.headers['last-event-id'];
      const isOver = states.isLast(states.first);
      if (isOver && seen === idOf(states.first)) return reply.code(204).send();
      reply.headers({ 'content-type': 'text/event-stream; charset=utf-8', 'x-accel-buffering': 'no' });
      if (request.method === 'HEAD') return reply.send(Readable.from([]));
      if (isOver) return reply.send(Readable.from([eventOf(states.name, states.first)]));
      const others = open.get(subject) ?? new Set();
      if (others.size >= STREAMS_MAX) throw rateLimited(HEARTBEAT_MS / 1000, 'open streams');
      const stream = streamOf(states, typeof seen === 'string' ? seen : undefined, onFailure);
      open.set(subject, others.add(stream));
      stream.readable.once('close', () => {
        others.delete(stream);
        if (others.size === 0) open.delete(subject);
      });
      return reply.send(stream.readable);
    },
    end() {
      for (const streams of open.values()) for (const stream of streams) stream.end();
    },
  };
}

interface Stream {
  readable: Readable;
  /** Stops sending; what was written before is still delivered. */
  end(): void;
}

/** A client that reads slowly gets only the newest state, and no states are read for it in the meantime. */
function streamOf(states: EventSource, seen: string | undefined, onFailure: (error: unknown) => void): Stream {
  let last = seen;
  let isReading = false;
  let mayHaveChanged = false;
  let isWanted = false;
  let isOver = false;
  const readable = new Readable({
    read() {
      isWanted = true;
    },
    destroy(error, done) {
      stop();
      done(error);
    },
  });

  function stop(): void {
    if (isOver) return;
    isOver = true;
    clearInterval(heartbeat);
    unwatch();
  }

  function end(): void {
    if (isOver) return;
    stop();
    readable.push(null);
  }

  function write(state: object): void {
    const id = idOf(state);
    if (id !== last) {
      last = id;
      isWanted = readable.push(eventOf(states.name, state));
    }
    if (states.isLast(state)) end();
  }

  /** Never rejects, so it need not be awaited. */
  async function readNext(): Promise<void> {
    mayHaveChanged = true;
    if (isReading || !isWanted) return;
    isReading = true;
    try {
      while (mayHaveChanged && !isOver) {
        mayHaveChanged = false;
        const state = await states.read();
        if (!isOver) write(state);
      }
    } catch (error) {
      // A caller who lost access gets nothing more; an unavailable database may be back at the next heartbeat.
      if (toApiError(error).status < 500) end();
      else onFailure(error);
    } finally {
      isReading = false;
    }
  }

  const unwatch = states.watch(() => void readNext());
  const heartbeat = setInterval(() => {
    if (isWanted) isWanted = readable.push(': here\n\n');
    void readNext();
  }, HEARTBEAT_MS);
  readable.push('retry: 2000\n\n');
  write(states.first);
  return { readable, end };
}

function eventOf(name: string, state: object): string {
  return `id: ${idOf(state)}\nevent: ${name}\ndata: ${JSON.stringify(state)}\n\n`;
}

function idOf(state: object): string {
  return createHash('sha1').update(JSON.stringify(state)).digest('base64url').slice(0, 16);
}
