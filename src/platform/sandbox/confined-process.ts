import { type ChildProcess, spawn } from 'node:child_process';
import { dirname } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { BUILT } from '../core/package/package-files.ts';
import { confinedCommand, type Program } from './confined-command.ts';
import { type Frame, frameHead, framesOf } from './frames.ts';
import { lowerPriority } from './priority.ts';
import { cpuTimeMs, residentMemoryMb } from './process-usage.ts';

export interface ConfinedProgram extends Omit<Program, 'file' | 'folders'> {
  /** A name in `CONFINED` of build/programs.ts. */
  name: string;
  /** One of `NICE`. */
  nice: number;
  /** Maximum output for one request. */
  maxOutputBytes: number;
  /** Limit of elapsed time as a multiple of the CPU time limit. It only bounds the wait on a busy machine. */
  elapsedTimeFactor: number;
}

/** Why a request failed: the process ended, or it exceeded a limit. */
export type ProcessFailure = 'crashed' | 'too_slow' | 'out_of_memory' | 'too_long';

/** The bytes of a request, as a stream or in memory. */
export interface Body {
  byte_size: number;
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
}

export interface ConfinedProcess {
  /**
   * Sends one request with a limit of CPU time in milliseconds; call it again only after the response. The response
   * comes from a process that parsed hostile text and must be validated. Throws the errors of the body's stream, and
   * ENOENT if the body is shorter than `byte_size`; in both cases, as after a failure, the process has ended.
   */
  ask(header: object, body: Body, cpuTimeLimitMs: number): Promise<Frame | ProcessFailure>;
  /** Reads the next frame of the same response. */
  next(cpuTimeLimitMs: number): Promise<Frame | ProcessFailure>;
  readonly requestsSent: number;
  /** CPU time used so far, in milliseconds. Where the system does not report it, the time spent in requests. */
  usedMs(): number;
  /** Resident memory in MiB, which V8 rarely returns; 0 where the system does not report it. */
  memoryMb(): number;
  isAlive(): boolean;
  /** Ends the process; its running request fails. */
  end(): Promise<void>;
}

/** Data of PDF.js for Chinese, Japanese and Korean fonts, for the program that reads documents. */
const CHARACTER_MAPS = fileURLToPath(new URL('assets/pdfjs/cmaps/', BUILT));
const POLL_MS = 50;
const PROGRAM_MB = 150;
const START_TIMEOUT_MS = 20_000;

/** Starts a process. Throws if it fails to start. */
export async function startConfinedProcess(program: ConfinedProgram): Promise<ConfinedProcess> {
  const file = fileURLToPath(new URL(`${program.name}.mjs`, BUILT));
  const folders = [dirname(file)];
  const [command, ...args] = await confinedCommand({ ...program, file, folders });
  const child = spawn(command, args, {
    env: { PATH: process.env.PATH, CHARACTER_MAPS },
    cwd: fileURLToPath(BUILT),
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const { stdin, stdout, pid } = child as ChildProcess & { stdin: Writable; stdout: Readable };
  const ended = new Promise<void>((resolve) => {
    child.once('close', () => resolve());
    child.once('error', () => resolve());
  });
  // Writing to a process that has ended fails with EPIPE; its output reports the end.
  stdin.on('error', () => undefined);
  const frames = framesOf(stdout, program.maxOutputBytes);
  let requestsSent = 0;
  let isEnding = false;
  let usedMs = 0;
  const hasCpuTime = cpuTimeMs(pid) !== undefined;

  function measure(): number {
    usedMs = Math.max(usedMs, cpuTimeMs(pid) ?? 0);
    return usedMs;
  }

  async function end(): Promise<void> {
    isEnding = true;
    measure();
    child.kill('SIGKILL');
    // A stream with unread data never emits `close`.
    stdout.destroy();
    await ended;
  }

  /**
   * Runs `send` and returns the response, or the reason why the process failed. `send` calls `onBytes` for every chunk
   * that it sends.
   */
  async function withLimits(ms: number, send: (onBytes: () => void) => Promise<void>): Promise<Frame | ProcessFailure> {
    let failure: ProcessFailure | undefined;
    let sendError: { error: unknown } | undefined;
    const giveUp = (why: ProcessFailure) => {
      failure ??= why;
      measure();
      child.kill('SIGKILL');
    };
    const startMs = measure();
    const start = performance.now();
    const clock = setTimeout(() => giveUp('too_slow'), hasCpuTime ? program.elapsedTimeFactor * ms : ms);
    const poll = setInterval(() => {
      if (residentMemoryMb(pid) > PROGRAM_MB + 1.5 * program.memoryMb) giveUp('out_of_memory');
      if (measure() - startMs > ms) giveUp('too_slow');
    }, POLL_MS);
    // Time spent waiting for the file store does not count: the store has timeouts of its own.
    const sent = send(() => clock.refresh()).catch((error: unknown) => {
      sendError = { error };
      child.kill('SIGKILL');
    });
    try {
      const [next] = await Promise.all([frames.next(), sent]);
      // A process killed for its CPU time may have answered just before. Its answer would be the last one.
      if (!next.done && !sendError && !failure) return next.value;
    } catch {
      // The frame is too long or malformed.
      failure ??= 'too_long';
    } finally {
      clearTimeout(clock);
      clearInterval(poll);
      if (!hasCpuTime) usedMs += performance.now() - start;
    }
    await end();
    if (sendError) throw sendError.error;
    // V8 aborts when its heap is full.
    return failure ?? (child.signalCode === 'SIGABRT' || child.exitCode === 134 ? 'out_of_memory' : 'crashed');
  }

  const ready = await withLimits(START_TIMEOUT_MS, sendNothing);
  if (typeof ready === 'string') {
    throw new Error(`no confined process could be started (${ready}): ${command} ${args.join(' ')}`);
  }
  // Startup runs at normal priority to be quick, because a request may wait for it.
  if (pid !== undefined) lowerPriority(pid, program.nice);
  return {
    end,
    usedMs: measure,
    memoryMb: () => residentMemoryMb(pid),
    isAlive: () => !isEnding && child.exitCode === null && child.signalCode === null,
    get requestsSent() {
      return requestsSent;
    },
    ask(header, body, cpuTimeLimitMs) {
      requestsSent += 1;
      return withLimits(cpuTimeLimitMs, (onBytes) => send({ stdin, ended }, header, body, onBytes));
    },
    next: (cpuTimeLimitMs) => withLimits(cpuTimeLimitMs, sendNothing),
  };
}

async function sendNothing(): Promise<void> {}

function drained(stream: Writable): Promise<void> {
  return new Promise((resolve) => stream.once('drain', () => resolve()));
}

async function send(
  { stdin, ended }: { stdin: Writable; ended: Promise<void> },
  header: object,
  { byte_size, chunks }: Body,
  onBytes: () => void,
): Promise<void> {
  stdin.cork();
  stdin.write(frameHead(header, byte_size));
  process.nextTick(() => stdin.uncork());
  let missing = byte_size;
  for await (const chunk of chunks) {
    if (stdin.destroyed) return;
    missing -= chunk.length;
    onBytes();
    if (!stdin.write(chunk)) await Promise.race([drained(stdin), ended]);
  }
  // Without the missing bytes the process would block, or read the next frame as the rest of this one.
  if (missing !== 0)
    throw Object.assign(new Error(`${missing} bytes of a stored file are missing`), { code: 'ENOENT' });
}
