import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { rateLimited, toApiError } from './errors.ts';

/** Something whose states an endpoint answers as they come, until the last one. */
export interface States {
  name: string;
  /** The state of the moment the request came, as the door gave it. */
  first: object;
  /** The present state, asked of the door anew, so that whoever lost access gets no more. */
  read(): Promise<object>;
  isLast(state: object): boolean;
  /** Calls back when there may be another state; answers how to stop that. */
  watch(onChange: () => void): () => void;
}

/** The reply of an endpoint that answers States, as server-sent events. */
export const Events = Type.Unsafe<States>({ type: 'string', contentMediaType: 'text/event-stream' });

/** How often a stream asks the door whether it still may, and says that it is there. */
const BEAT_MS = 3_000;

/** How many streams a credential may have open at one process. */
const STREAMS_MAX = 20;

/** The open streams of a server. */
export interface EventStreams {
  /**
   * Answers the present state and each that follows, each as an event whose id is a hash of it; a client that has seen
   * the present one (Last-Event-ID) is not sent it again, and is answered 204 where it was the last. Errors: 429.
   */
  send(request: FastifyRequest, reply: FastifyReply, states: States, subject: string): FastifyReply;
  /** Ends all, so that the server can close: clients come again, to another process or the next one. */
  end(): void;
}

export function openEventStreams(): EventStreams {
  const open = new Map<string, Set<Readable>>();

  return {
    send(request, reply, states, subject) {
      const seen = request.headers['last-event-id'];
      const isOver = states.isLast(states.first);
      if (isOver && seen === idOf(states.first)) return reply.code(204).send();
      reply.headers({ 'content-type': 'text/event-stream; charset=utf-8', 'x-accel-buffering': 'no' });
      if (request.method === 'HEAD') return reply.send(Readable.from([]));
      if (isOver) return reply.send(Readable.from([eventOf(states.name, states.first)]));
      const others = open.get(subject) ?? new Set();
      if (others.size >= STREAMS_MAX) throw rateLimited(BEAT_MS / 1000, 'open streams');
      const stream = streamOf(states, typeof seen === 'string' ? seen : undefined);
      open.set(subject, others.add(stream));
      stream.once('close', () => {
        others.delete(stream);
        if (others.size === 0) open.delete(subject);
      });
      return reply.send(stream);
    },
    end() {
      for (const streams of open.values()) for (const stream of streams) stream.push(null);
    },
  };
}

/** Only the newest state is sent to a client that reads slowly, and nothing is asked for it meanwhile. */
function streamOf(states: States, seen: string | undefined): Readable {
  let last = seen;
  let isReading = false;
  let mayHaveChanged = false;
  let isWanted = false;
  const stream = new Readable({
    read() {
      isWanted = true;
    },
    destroy(error, done) {
      clearInterval(beat);
      unwatch();
      done(error);
    },
  });

  function write(state: object): void {
    const id = idOf(state);
    if (id !== last) {
      last = id;
      isWanted = stream.push(eventOf(states.name, state));
    }
    if (states.isLast(state)) stream.push(null);
  }

  async function look(): Promise<void> {
    mayHaveChanged = true;
    if (isReading || !isWanted) return;
    isReading = true;
    while (mayHaveChanged && !stream.destroyed && !stream.readableEnded) {
      mayHaveChanged = false;
      try {
        write(await states.read());
      } catch (error) {
        // Whoever may no more is told nothing; a database that is away may be back at the next beat.
        if (toApiError(error).status < 500) stream.push(null);
        break;
      }
    }
    isReading = false;
  }

  const unwatch = states.watch(() => void look());
  const beat = setInterval(() => {
    if (isWanted) isWanted = stream.push(': here\n\n');
    void look();
  }, BEAT_MS);
  stream.push('retry: 2000\n\n');
  write(states.first);
  // It may have changed between the door's answer and the watch.
  void look();
  return stream;
}

function eventOf(name: string, state: object): string {
  return `id: ${idOf(state)}\nevent: ${name}\ndata: ${JSON.stringify(state)}\n\n`;
}

function idOf(state: object): string {
  return createHash('sha1').update(JSON.stringify(state)).digest('base64url').slice(0, 16);
}
