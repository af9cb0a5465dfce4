import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Frame, frameHead, framesOf } from './frames.ts';

export interface ProcessLimits {
  /** CPU time for one document where the system reports it (Linux), else elapsed time. */
  cpuTimeLimitMs: number;
  /** The V8 heap. The process may use half as much again outside it, plus its own code. */
  memoryMb: number;
  /** The maximum output for one document. */
  maxOutputBytes: number;
}

/** Why a document failed: the process ended, or a limit was exceeded. */
export type ProcessFailure = 'crashed' | 'too_slow' | 'out_of_memory' | 'too_long';

/** What to do with a file. */
export type Task = 'read' | 'unpack';

export interface ConfinedProcess {
  /**
   * Takes one document at a time. The response comes from a process that parsed a hostile file and must be validated.
   * Throws the errors of the document's stream, and ENOENT if the stream is shorter than `byte_size`; the process has
   * ended then.
   */
  ask(task: Task, document: Readable, byte_size: number): Promise<Frame | ProcessFailure>;
  /** The next frame of the same response. */
  next(): Promise<Frame | ProcessFailure>;
  /** The number of documents sent so far. */
  readonly documentsSent: number;
  end(): Promise<void>;
}

const POLL_MS = 50;

/** Added to the nice value: page reads have priority over uploads. */
const NICE = 15;

/** The limit of elapsed time, as a multiple of the CPU time limit. */
const ELAPSED_TIME_FACTOR = 10;
const PROGRAM_MB = 150;

/** The CPU time limit of the whole process: 100 documents at their limit. */
const CPU_TIME_LIMIT_SECONDS = 2_600;
const START_TIMEOUT_MS = 20_000;
const NODE_MAJOR = Number(process.versions.node.split('.')[0]);
const SOURCE = fileURLToPath(new URL('..', import.meta.url));
/**
 * `node_modules`, and the folder that contains the packages: the first may be a symbolic link, or the packages may be
 * hoisted.
 */
const PACKAGES = fileURLToPath(new URL('../../node_modules', import.meta.url));
const PACKAGES_TARGET = /^.*?\/node_modules(?=\/)/.exec(fileURLToPath(import.meta.resolve('unpdf')))?.[0] ?? PACKAGES;

/**
 * The command that starts a confined process. It can read only this program and its packages: no other files, child
 * processes, worker threads, code generation from strings or environment. It has no network: the Linux kernel enforces
 * that where unprivileged user namespaces are allowed, elsewhere only JavaScript does (`no-network.ts`).
 */
export async function confinedCommand(program: URL, memoryMb: number): Promise<[command: string, ...args: string[]]> {
  const node: [string, ...string[]] = [
    process.execPath,
    '--permission',
    `--allow-fs-read=${SOURCE}*`,
    ...[...new Set([PACKAGES, PACKAGES_TARGET])].map((folder) => `--allow-fs-read=${folder}*`),
    `--allow-fs-read=${fileURLToPath(new URL('../../package.json', import.meta.url))}`,
    '--disallow-code-generation-from-strings',
    `--max-old-space-size=${memoryMb}`,
    // Objects of one page of a document are garbage after that page; a larger young generation is collected less often.
    '--min-semi-space-size=16',
    // The process is too short-lived for TurboFan to pay off. Maglev, the compiler before it, is available from Node 24
    // on.
    ...(NODE_MAJOR >= 24 ? ['--no-turbofan'] : []),
    '--no-warnings',
    fileURLToPath(program),
  ];
  if (!(await canUnshare())) return node;
  // The service kills the process in time; the ulimit ends it if the service itself is killed.
  return [
    'sh',
    '-c',
    `ulimit -t ${CPU_TIME_LIMIT_SECONDS}; exec "$@"`,
    'sh',
    'unshare',
    '--user',
    '--net',
    '--map-root-user',
    ...node,
  ];
}

/** Starts a process that reads documents. Throws if it cannot be started. */
export async function startConfinedProcess(limits: ProcessLimits): Promise<ConfinedProcess> {
  const [program, ...args] = await confinedCommand(new URL('./document.process.ts', import.meta.url), limits.memoryMb);
  const child = spawn(program, args, {
    env: { PATH: process.env.PATH },
    cwd: PACKAGES_TARGET,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const { stdin, stdout, pid } = child as ChildProcess & { stdin: Writable; stdout: Readable };
  const ended = new Promise<void>((resolve) => {
    child.once('close', () => resolve());
    child.once('error', () => resolve());
  });
  if (pid !== undefined) setPriority(pid, Math.min(getPriority() + NICE, 19));
  // Writing to a process that has ended fails with EPIPE; the end is detected by its output.
  stdin.on('error', () => undefined);
  const frames = framesOf(stdout, limits.maxOutputBytes);
  let documentsSent = 0;

  async function end(): Promise<void> {
    child.kill('SIGKILL');
    // A stream with unread data never emits `close`.
    stdout.destroy();
    await ended;
  }

  /**
   * Returns the response after `send` has completed, or why the process failed. `send` calls `onBytes` for every chunk
   * that it sends.
   */
  async function withLimits(ms: number, send: (onBytes: () => void) => Promise<void>): Promise<Frame | ProcessFailure> {
    let failure: ProcessFailure | undefined;
    let sendError: { error: unknown } | undefined;
    const giveUp = (why: ProcessFailure) => {
      failure ??= why;
      child.kill('SIGKILL');
    };
    const startMs = cpuTimeMs(pid);
    // CPU time is the limit; elapsed time only limits the wait on a busy machine.
    const clock = setTimeout(() => giveUp('too_slow'), startMs === undefined ? ms : ELAPSED_TIME_FACTOR * ms);
    const poll = setInterval(() => {
      if (residentMemoryMb(pid) > PROGRAM_MB + 1.5 * limits.memoryMb) giveUp('out_of_memory');
      if ((cpuTimeMs(pid) ?? 0) - (startMs ?? 0) > ms) giveUp('too_slow');
    }, POLL_MS);
    // Time spent on the file store does not count: it has its own timeouts.
    const sent = send(() => clock.refresh()).catch((error: unknown) => {
      sendError = { error };
      child.kill('SIGKILL');
    });
    try {
      const [next] = await Promise.all([frames.next(), sent]);
      if (!next.done && !sendError) return next.value;
    } catch {
      // The frame is too long or malformed.
      failure ??= 'too_long';
    } finally {
      clearTimeout(clock);
      clearInterval(poll);
    }
    await end();
    if (sendError) throw sendError.error;
    // V8 aborts when its heap is full.
    return failure ?? (child.signalCode === 'SIGABRT' || child.exitCode === 134 ? 'out_of_memory' : 'crashed');
  }

  const ready = await withLimits(START_TIMEOUT_MS, sendNothing);
  if (typeof ready === 'string') {
    throw new Error(`no process for reading documents could be started (${ready}): ${program} ${args.join(' ')}`);
  }
  return {
    end,
    get documentsSent() {
      return documentsSent;
    },
    ask(task, document, byte_size) {
      documentsSent += 1;
      return withLimits(limits.cpuTimeLimitMs, (onBytes) => send({ stdin, ended }, task, document, byte_size, onBytes));
    },
    next: () => withLimits(limits.cpuTimeLimitMs, sendNothing),
  };
}

async function sendNothing(): Promise<void> {}

function drained(stream: Writable): Promise<void> {
  return new Promise((resolve) => stream.once('drain', () => resolve()));
}

async function send(
  { stdin, ended }: { stdin: Writable; ended: Promise<void> },
  task: Task,
  document: Readable,
  byte_size: number,
  onBytes: () => void,
): Promise<void> {
  stdin.write(frameHead({ task }, byte_size));
  let missing = byte_size;
  for await (const chunk of document) {
    if (stdin.destroyed) return;
    missing -= chunk.length;
    onBytes();
    if (!stdin.write(chunk)) await Promise.race([drained(stdin), ended]);
  }
  // The process would wait for the rest, or take the next frame for it.
  if (missing !== 0) throw Object.assign(new Error(`${missing} bytes of a stored file are gone`), { code: 'ENOENT' });
}

/** Resident memory in MiB; 0 where the system does not report it, and only the heap limit applies. */
function residentMemoryMb(pid: number | undefined): number {
  const [, pages = '0'] = readProcFile(pid, 'statm')?.split(' ') ?? [];
  return (Number(pages) * 4_096) / 2 ** 20;
}

/** CPU time used so far; undefined where the system does not report it. */
function cpuTimeMs(pid: number | undefined): number | undefined {
  const stat = readProcFile(pid, 'stat');
  if (stat === undefined) return undefined;
  // The process name may contain spaces and parentheses. utime and stime follow it, in ticks of 10 ms (proc(5)).
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return 10 * (Number(fields[11]) + Number(fields[12]));
}

/**
 * A file of /proc; undefined if the process has ended, and on systems without /proc. procfs is in memory, so a
 * synchronous read does not block.
 */
function readProcFile(pid: number | undefined, file: 'stat' | 'statm'): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1');
  } catch {
    return undefined;
  }
}

let unshareCheck: Promise<boolean> | undefined;

/** Whether this user may create user and network namespaces; checked once. */
export function canUnshare(): Promise<boolean> {
  unshareCheck ??= promisify(execFile)('unshare', ['--user', '--net', '--map-root-user', 'true']).then(
    () => true,
    () => false,
  );
  return unshareCheck;
}
