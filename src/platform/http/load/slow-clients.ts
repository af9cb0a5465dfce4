import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** How slow a client may be, and how many unsent bytes all clients together may cause. */
interface SlowClientLimits {
  sweep_ms: number;
  /** A client with unsent bytes must read `progress_bytes` within this time. */
  answer_ms: number;
  /** A client that sends files must send `progress_bytes` within this time. */
  body_ms: number;
  progress_bytes: number;
  /**
   * Limit of the unsent bytes of all responses. Above it, clients that have read nothing since the last sweep are
   * disconnected.
   */
  unsent_bytes_max: number;
}

const LIMITS: SlowClientLimits = {
  sweep_ms: 5_000,
  answer_ms: 120_000,
  body_ms: 30_000,
  progress_bytes: 16_384,
  unsent_bytes_max: 2 ** 28,
};

/** Bytes that a client had sent and read, and when it last made progress. */
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
 * Disconnects clients that read a response or send files slower than `progress_bytes` per time. Inactivity timeouts do
 * not notice them, because a byte per second is activity. One timer serves all connections. Event streams have no
 * unsent bytes and stay open.
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

/** Marks that the client is sending files, or has finished. */
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
