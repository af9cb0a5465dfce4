import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { ApiError, rateLimited } from '../core/errors.ts';
import { toApiError } from './to-api-error.ts';

/** A resource whose states an endpoint streams until the last one. */
export interface EventSource {
  name: string;
  /** The user and workspace whose open streams are limited. */
  reader: { user_id: string; workspace_id: string };
  /** The state at the time of the request, as the guard returned it. */
  first: object;
  /** Reads the current state through the guard, so that a caller who has lost access gets no more. */
  read(): Promise<object>;
  isLast(state: object): boolean;
  /**
   * Calls back when there may be a new state, including changes since `first` was read. Returns a function that stops
   * watching.
   */
  watch(onChange: () => void): () => void;
}

/** Reply of an endpoint that sends an EventSource as server-sent events. */
export const EventStream = Type.Unsafe<EventSource>({ type: 'string', contentMediaType: 'text/event-stream' });

/** Interval of heartbeats and of access checks. */
const HEARTBEAT_MS = 3_000;

/** Maximum number of open streams per user, per workspace and in total, in one process. */
const USER_STREAMS_MAX = 20;
const WORKSPACE_STREAMS_MAX = 200;
const STREAMS_MAX = 5_000;

/** Access checks that run at once. */
const CHECKS_AT_ONCE = 4;

/** The open streams of a server. */
export interface EventStreams {
  /**
   * Sends the current state and all following states as events; the ID of an event is a hash of the state. A client
   * that has the current state (Last-Event-ID) does not get it again, and gets 204 if it was the last. `subject`: the
   * credential. Throws 429 for a user or a workspace with too many open streams, 503 for a process with too many.
   */
  send(request: FastifyRequest, reply: FastifyReply, states: EventSource, subject: string): FastifyReply;
  /** Ends all streams, so that the server can close; clients reconnect to another or the next process. */
  end(): void;
}

/**
 * Opens the streams of a server. `onFailure` gets the error when a state cannot be read; the stream stays open and
 * retries at the next heartbeat. All streams share one timer. All streams of a credential in one workspace share one
 * access check.
 */
export function openEventStreams(onFailure: (error: unknown) => void): EventStreams {
  const open = new Set<Stream>();
  let timer: NodeJS.Timeout | undefined;
  let isChecking = false;

  function requireRoom({ user_id, workspace_id }: EventSource['reader']): void {
    if (open.size >= STREAMS_MAX) {
      throw new ApiError('overloaded', 'The service has too many open streams. Try again in a moment.');
    }
    let ofUser = 0;
    let ofWorkspace = 0;
    for (const { reader } of open) {
      if (reader.user_id === user_id) ofUser += 1;
      if (reader.workspace_id === workspace_id) ofWorkspace += 1;
    }
    if (ofUser >= USER_STREAMS_MAX || ofWorkspace >= WORKSPACE_STREAMS_MAX) {
      throw rateLimited(HEARTBEAT_MS / 1000, 'open streams');
    }
  }

  async function checkAccess(): Promise<void> {
    if (isChecking) return;
    isChecking = true;
    const groups = [...Map.groupBy(open, ({ group }) => group).values()];
    const next = async () => {
      for (let group = groups.pop(); group; group = groups.pop()) {
        // Clients that are not reading receive nothing, so their access need not be checked.
        const checked = group.find(({ isWanted }) => isWanted());
        if (checked && !(await checked.check())) for (const stream of group) stream.end();
      }
    };
    await Promise.all(Array.from({ length: CHECKS_AT_ONCE }, next));
    isChecking = false;
  }

  function heartbeat(): void {
    for (const stream of open) stream.beat();
    void checkAccess();
  }

  function keep(stream: Stream): void {
    open.add(stream);
    timer ??= setInterval(heartbeat, HEARTBEAT_MS);
    stream.readable.once('close', () => {
      open.delete(stream);
      if (open.size > 0) return;
      clearInterval(timer);
      timer = undefined;
    });
  }

  return {
    send(request, reply, states, subject) {
      const seen = request.headers['last-event-id'];
      const isOver = states.isLast(states.first);
      if (isOver && seen === idOf(states.first)) return reply.code(204).send();
      reply.headers({ 'content-type': 'text/event-stream; charset=utf-8', 'x-accel-buffering': 'no' });
      if (request.method === 'HEAD') return reply.send(Readable.from([]));
      if (isOver) return reply.send(Readable.from([eventOf(states.name, states.first)]));
      requireRoom(states.reader);
      const stream = streamOf(states, subject, typeof seen === 'string' ? seen : undefined, onFailure);
      keep(stream);
      return reply.send(stream.readable);
    },
    end() {
      for (const stream of open) stream.end();
    },
  };
}

interface Stream {
  readable: Readable;
  reader: EventSource['reader'];
  /** Streams of the same credential in the same workspace, which share an access check. */
  group: string;
  /** Whether the client has read all data so far. */
  isWanted(): boolean;
  /** Sends a heartbeat, and a state that could not be read or sent before. */
  beat(): void;
  /** Reads the state through the guard. Returns false if the credential no longer has access to the workspace. */
  check(): Promise<boolean>;
  /** Stops sending; data that is already written is still delivered. */
  end(): void;
}

/**
 * Streams the states to one client. A slow client gets only the newest state, and no states are read for it until it
 * catches up.
 */
function streamOf(
  states: EventSource,
  subject: string,
  seen: string | undefined,
  onFailure: (error: unknown) => void,
): Stream {
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

  /** Never rejects, so it need not be awaited. Returns the status of a refusal. */
  async function readNext(): Promise<number | undefined> {
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
      const { status } = toApiError(error);
      // Retry at the next heartbeat: the database may be back, or the caller's other reads may be done.
      if (status === 429 || status >= 500) {
        mayHaveChanged = true;
        onFailure(error);
        return;
      }
      // A caller who has lost access gets nothing more.
      end();
      return status;
    } finally {
      isReading = false;
    }
  }

  const unwatch = states.watch(() => void readNext());
  readable.push('retry: 2000\n\n');
  write(states.first);
  return {
    readable,
    reader: states.reader,
    group: `${states.reader.workspace_id} ${subject}`,
    isWanted: () => isWanted,
    beat() {
      if (isWanted) isWanted = readable.push(': here\n\n');
      if (mayHaveChanged) void readNext();
    },
    async check() {
      const status = await readNext();
      return status !== 401 && status !== 403;
    },
    end,
  };
}

function eventOf(name: string, state: object): string {
  return `id: ${idOf(state)}\nevent: ${name}\ndata: ${JSON.stringify(state)}\n\n`;
}

function idOf(state: object): string {
  return createHash('sha1').update(JSON.stringify(state)).digest('base64url').slice(0, 16);
}
