import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Frame, frameHead, framesOf } from './frames.ts';

export interface ProcessBounds {
  /** For one document: what the process computes, where the system tells (Linux); else by the clock. */
  document_ms: number;
  /** Of JavaScript's objects; of bytes besides them half as much, and what the program itself takes. */
  memory_mb: number;
  /** What one document may come to. */
  output_bytes: number;
}

/** Why a document was given up: the process ended, or a bound was broken. */
export type Broken = 'crashed' | 'too_slow' | 'out_of_memory' | 'too_long';

/** What it is asked to do with a file. */
export type Task = 'read' | 'unpack';

export interface ConfinedProcess {
  /**
   * One document at a time. What it answers comes from a process that read a hostile file: nothing of it is believed.
   * Throws what the document's stream does, and ENOENT for one that is shorter than `byte_size`; the process has then ended.
   */
  ask(task: Task, document: Readable, byte_size: number): Promise<Frame | Broken>;
  /** What it answers further. */
  next(): Promise<Frame | Broken>;
  /** How many documents it was asked for. */
  readonly asked: number;
  end(): Promise<void>;
}

const POLL_MS = 50;

/** How much less urgent than the service it is: whoever reads pages comes before whoever waits for an upload. */
const BEHIND = 15;

/** A machine that is this much busier than a process alone would make it is beyond being waited for. */
const WAITING_MAX = 10;
const PROGRAM_MB = 150;

/** All that a process may compute: a hundred documents at their bound. */
const COMPUTING_S = 2_600;
const STARTING_MS = 20_000;
const NODE_MAJOR = Number(process.versions.node.split('.')[0]);
const SOURCE = fileURLToPath(new URL('..', import.meta.url));
/** Where they are, and where one of them really is: the folder may be a link, or belong to what this was installed into. */
const PACKAGES = fileURLToPath(new URL('../../node_modules', import.meta.url));
const PACKAGES_LINKED = /^.*?\/node_modules(?=\/)/.exec(fileURLToPath(import.meta.resolve('unpdf')))?.[0] ?? PACKAGES;

/**
 * How a process is started that may read this program and its packages, and nothing else: no other file, no other process,
 * no thread, no code made of text, no environment; and no network, which Linux sees to where it lets users have
 * namespaces, and else only JavaScript does (`no-network.ts`).
 */
export async function confined(program: URL, memory_mb: number): Promise<[command: string, ...args: string[]]> {
  const node: [string, ...string[]] = [
    process.execPath,
    '--permission',
    `--allow-fs-read=${SOURCE}*`,
    ...[...new Set([PACKAGES, PACKAGES_LINKED])].map((folder) => `--allow-fs-read=${folder}*`),
    `--allow-fs-read=${fileURLToPath(new URL('../../package.json', import.meta.url))}`,
    '--disallow-code-generation-from-strings',
    `--max-old-space-size=${memory_mb}`,
    // What a page of a document is made of is garbage with the next page: it is collected less often.
    '--min-semi-space-size=16',
    // It does not live long enough for the last compiler to be worth its work; the one before is there from Node 24 on.
    ...(NODE_MAJOR >= 24 ? ['--no-turbofan'] : []),
    '--no-warnings',
    fileURLToPath(program),
  ];
  if (!(await canUnshare())) return node;
  // Whoever starts it kills it in time; if that one is killed itself, the process has an end all the same.
  return [
    'sh',
    '-c',
    `ulimit -t ${COMPUTING_S}; exec "$@"`,
    'sh',
    'unshare',
    '--user',
    '--net',
    '--map-root-user',
    ...node,
  ];
}

/** Starts a process that reads documents. Throws where none can be started. */
export async function startConfinedProcess(bounds: ProcessBounds): Promise<ConfinedProcess> {
  const [program, ...args] = await confined(new URL('./document.process.ts', import.meta.url), bounds.memory_mb);
  const child = spawn(program, args, {
    env: { PATH: process.env.PATH },
    cwd: PACKAGES_LINKED,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const { stdin, stdout, pid } = child as ChildProcess & { stdin: Writable; stdout: Readable };
  const ended = new Promise<void>((resolve) => {
    child.once('close', () => resolve());
    child.once('error', () => resolve());
  });
  if (pid !== undefined) setPriority(pid, Math.min(getPriority() + BEHIND, 19));
  // A process that ended does not read any more; that it ended is told by its output.
  stdin.on('error', () => undefined);
  const frames = framesOf(stdout, bounds.output_bytes);
  let asked = 0;

  async function end(): Promise<void> {
    child.kill('SIGKILL');
    // What it still had to say nobody reads, and a stream with something unread never closes.
    stdout.destroy();
    await ended;
  }

  /** What the process answers once all is sent, or which bound it broke; `onBytes` is told of every piece that was there to send. */
  async function bounded(ms: number, send: (onBytes: () => void) => Promise<void>): Promise<Frame | Broken> {
    let broken: Broken | undefined;
    let unsent: { error: unknown } | undefined;
    const giveUp = (why: Broken) => {
      broken ??= why;
      child.kill('SIGKILL');
    };
    const began = computedMs(pid);
    // What the rest of the machine does is not held against a document, but nobody waits for ever.
    const clock = setTimeout(() => giveUp('too_slow'), began === undefined ? ms : WAITING_MAX * ms);
    const poll = setInterval(() => {
      if (residentMb(pid) > PROGRAM_MB + 1.5 * bounds.memory_mb) giveUp('out_of_memory');
      if ((computedMs(pid) ?? 0) - (began ?? 0) > ms) giveUp('too_slow');
    }, POLL_MS);
    // Nor is what the file store takes, which has bounds of its own.
    const sent = send(() => clock.refresh()).catch((error: unknown) => {
      unsent = { error };
      child.kill('SIGKILL');
    });
    try {
      const [next] = await Promise.all([frames.next(), sent]);
      if (!next.done && !unsent) return next.value;
    } catch {
      // A frame that is too long, or is none.
      broken ??= 'too_long';
    } finally {
      clearTimeout(clock);
      clearInterval(poll);
    }
    await end();
    if (unsent) throw unsent.error;
    // V8 aborts when its heap is full.
    return broken ?? (child.signalCode === 'SIGABRT' || child.exitCode === 134 ? 'out_of_memory' : 'crashed');
  }

  const ready = await bounded(STARTING_MS, nothing);
  if (typeof ready === 'string') {
    throw new Error(`no process for reading documents could be started (${ready}): ${program} ${args.join(' ')}`);
  }
  return {
    end,
    get asked() {
      return asked;
    },
    ask(task, document, byte_size) {
      asked += 1;
      return bounded(bounds.document_ms, (onBytes) => send({ stdin, ended }, task, document, byte_size, onBytes));
    },
    next: () => bounded(bounds.document_ms, nothing),
  };
}

async function nothing(): Promise<void> {}

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
  // The process would wait for the rest, or take what follows for it.
  if (missing !== 0) throw Object.assign(new Error(`${missing} bytes of a stored file are gone`), { code: 'ENOENT' });
}

/** What a process holds of the machine's memory; 0 where the system does not tell, and the bound of its heap has to do. */
function residentMb(pid: number | undefined): number {
  const [, pages = '0'] = readProcess(pid, 'statm')?.split(' ') ?? [];
  return (Number(pages) * 4_096) / 2 ** 20;
}

/** What a process has computed so far; undefined where the system does not tell. */
function computedMs(pid: number | undefined): number | undefined {
  const stat = readProcess(pid, 'stat');
  if (stat === undefined) return undefined;
  // Behind the name, which may hold anything: the 12th and the 13th are times in hundredths of a second.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return 10 * (Number(fields[11]) + Number(fields[12]));
}

/** What Linux tells of a process; undefined for one that has ended, and elsewhere. No disk is waited for, so it is read at once. */
function readProcess(pid: number | undefined, file: 'stat' | 'statm'): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1');
  } catch {
    return undefined;
  }
}

let unshares: Promise<boolean> | undefined;

/** Whether this user may start a process in a network of its own; asked once. */
export function canUnshare(): Promise<boolean> {
  unshares ??= promisify(execFile)('unshare', ['--user', '--net', '--map-root-user', 'true']).then(
    () => true,
    () => false,
  );
  return unshares;
}
