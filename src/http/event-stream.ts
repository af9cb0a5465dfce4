import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { rateLimited } from '../core/errors.ts';
import { toApiError } from './to-api-error.ts';

/** Something whose states an endpoint answers as they come, until the last one. */
export interface EventSource {
  name: string;
  /** The state of the moment the request came, as the guard gave it. */
  first: object;
  /** The present state, asked of the guard anew, so that whoever lost access gets no more. */
  read(): Promise<object>;
  isLast(state: object): boolean;
  /** Calls back when there may be another state, also one that came since the first was read; answers how to stop that. */
  watch(onChange: () => void): () => void;
}

/** The reply of an endpoint that answers States, as server-sent events. */
export const EventStream = Type.Unsafe<EventSource>({ type: 'string', contentMediaType: 'text/event-stream' });

/** How often a stream asks the guard whether it still may, and says that it is there. */
const HEARTBEAT_MS = 3_000;

/** How many streams a credential may have open at one process. */
const STREAMS_MAX = 20;

/** The open streams of a server. */
export interface EventStreams {
  /**
   * Answers the present state and each that follows, each as an event whose id is a hash of it; a client that has seen
   * the present one (Last-Event-ID) is not sent it again, and is answered 204 where it was the last. Errors: 429.
   */
  send(request: FastifyRequest, reply: FastifyReply, states: EventSource, subject: string): FastifyReply;
  /** Ends all, so that the server can close: clients come again, to another process or the next one. */
  end(): void;
}

/** `onFailure` hears why a state could not be read, which ends no stream: it is read again at the next beat. */
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
  /** Sends nothing more; what was written before still goes out. */
  end(): void;
}

/** Only the newest state is sent to a client that reads slowly, and nothing is asked for it meanwhile. */
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
    clearInterval(beat);
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

  /** Rejects never, so nobody need wait for it. */
  async function look(): Promise<void> {
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
      // Whoever may no more is told nothing; a database that is away may be back at the next beat.
      if (toApiError(error).status < 500) end();
      else onFailure(error);
    } finally {
      isReading = false;
    }
  }

  const unwatch = states.watch(() => void look());
  const beat = setInterval(() => {
    if (isWanted) isWanted = readable.push(': here\n\n');
    void look();
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
