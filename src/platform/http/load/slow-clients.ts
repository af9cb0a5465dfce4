import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** How slow a client may be, and how much may be kept for clients together. */
interface SlowClientLimits {
  sweep_ms: number;
  /** A client that has unsent bytes of an answer for this long must have taken `progress_bytes` meanwhile. */
  answer_ms: number;
  /** A client that sends files must have sent `progress_bytes` in this time. */
  body_ms: number;
  progress_bytes: number;
  /** Unsent bytes of all answers; above it, clients that took nothing since the last sweep are disconnected. */
  unsent_bytes_max: number;
}

const LIMITS: SlowClientLimits = {
  sweep_ms: 5_000,
  answer_ms: 120_000,
  body_ms: 30_000,
  progress_bytes: 16_384,
  unsent_bytes_max: 2 ** 28,
};

/** What a connection had sent and taken, and since when it did not get on. */
interface Progress {
  taken: number;
  takenAtSweep: number;
  takenSince: number;
  sent: number;
  sentSince: number;
  isSending: boolean;
}

const progressOf = new WeakMap<Socket, Progress>();

/**
 * Disconnects clients that read an answer or send files slower than `progress_bytes` per time, which inactivity timeouts do
 * not notice: a byte a second is activity. One timer serves all connections. Streams of events, of which nothing is unsent,
 * stay open.
 */
export function disconnectSlowClients(server: Server, limits: SlowClientLimits = LIMITS): void {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    const now = performance.now();
    progressOf.set(socket, { taken: 0, takenAtSweep: 0, takenSince: now, sent: 0, sentSince: now, isSending: false });
    socket.once('close', () => sockets.delete(socket));
  });
  const timer = setInterval(() => sweep(sockets, limits), limits.sweep_ms);
  timer.unref();
  server.once('close', () => clearInterval(timer));
}

/** Says that the client sends files now, or no longer. */
export function setSending(socket: Socket, isSending: boolean): void {
  const progress = progressOf.get(socket);
  if (!progress) return;
  progress.isSending = isSending;
  progress.sent = socket.bytesRead;
  progress.sentSince = performance.now();
}

function sweep(sockets: ReadonlySet<Socket>, limits: SlowClientLimits): void {
  const now = performance.now();
  let unsent = 0;
  for (const socket of sockets) unsent += socket.writableLength;
  for (const socket of sockets) {
    const progress = progressOf.get(socket);
    if (!progress) continue;
    const taken = socket.bytesWritten - socket.writableLength;
    const isStuck = socket.writableLength > 0 && taken === progress.takenAtSweep;
    progress.takenAtSweep = taken;
    if (socket.writableLength === 0 || taken - progress.taken >= limits.progress_bytes) {
      progress.taken = taken;
      progress.takenSince = now;
    }
    if (!progress.isSending || socket.bytesRead - progress.sent >= limits.progress_bytes) {
      progress.sent = socket.bytesRead;
      progress.sentSince = now;
    }
    const isSlow = now - progress.takenSince > limits.answer_ms || now - progress.sentSince > limits.body_ms;
    if (isSlow || (isStuck && unsent > limits.unsent_bytes_max)) socket.destroy();
  }
}
