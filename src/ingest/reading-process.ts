import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { constants, setPriority } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Frame, framesOf } from './frames.ts';

export interface ReadingBounds {
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

export interface ReadingProcess {
  /** One document at a time. What it answers comes from a process that read a hostile file: nothing of it is believed. */
  ask(task: Task, document: Readable, byte_size: number): Promise<Frame | Broken>;
  /** What it answers further. */
  next(): Promise<Frame | Broken>;
  /** How many documents it was asked for. */
  readonly asked: number;
  end(): Promise<void>;
}

const POLL_MS = 50;

/** A machine that is this much busier than a process alone would make it is beyond being waited for. */
const WAITING_MAX = 10;
const PROGRAM_MB = 150;

/** All that a process may compute: a hundred documents at their bound. */
const COMPUTING_S = 2_600;
const STARTING_MS = 20_000;
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
export async function startReadingProcess(bounds: ReadingBounds): Promise<ReadingProcess> {
  const [program, ...args] = await confined(new URL('./reading.process.ts', import.meta.url), bounds.memory_mb);
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
  // Whoever reads pages comes before whoever waits for an upload.
  if (pid !== undefined) setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL);
  // A process that ended does not read any more; that it ended is told by its output.
  stdin.on('error', () => undefined);
  const frames = framesOf(stdout, bounds.output_bytes);
  let asked = 0;

  async function end(): Promise<void> {
    child.kill('SIGKILL');
    await ended;
  }

  async function bounded(send: () => Promise<unknown>, ms: number): Promise<Frame | Broken> {
    let broken: Broken | undefined;
    const give_up = (why: Broken) => {
      broken ??= why;
      child.kill('SIGKILL');
    };
    const began = await computedMs(pid);
    // What the rest of the machine does is not held against a document, but nobody waits for ever.
    const clock = setTimeout(() => give_up('too_slow'), began === undefined ? ms : WAITING_MAX * ms);
    const poll = setInterval(async () => {
      if ((await residentMb(pid)) > PROGRAM_MB + 1.5 * bounds.memory_mb) give_up('out_of_memory');
      if (((await computedMs(pid)) ?? 0) - (began ?? 0) > ms) give_up('too_slow');
    }, POLL_MS);
    try {
      const [next] = await Promise.all([frames.next(), send().catch(() => undefined)]);
      if (!next.done) return next.value;
    } catch {
      // A frame that is too long, or is none.
      broken ??= 'too_long';
    } finally {
      clearTimeout(clock);
      clearInterval(poll);
    }
    await end();
    // V8 aborts when its heap is full.
    return broken ?? (child.signalCode === 'SIGABRT' || child.exitCode === 134 ? 'out_of_memory' : 'crashed');
  }

  const ready = await bounded(() => Promise.resolve(), STARTING_MS);
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
      return bounded(() => send({ stdin, ended }, task, document, byte_size), bounds.document_ms);
    },
    next: () => bounded(() => Promise.resolve(), bounds.document_ms),
  };
}

function drained(stream: Writable): Promise<void> {
  return new Promise((resolve) => stream.once('drain', () => resolve()));
}

async function send(
  { stdin, ended }: { stdin: Writable; ended: Promise<void> },
  task: Task,
  document: Readable,
  byte_size: number,
): Promise<void> {
  const header = Buffer.from(JSON.stringify({ task }));
  const lengths = Buffer.alloc(8);
  lengths.writeUInt32LE(header.length, 0);
  lengths.writeUInt32LE(byte_size, 4);
  stdin.write(Buffer.concat([lengths, header]));
  for await (const chunk of document) {
    if (stdin.destroyed) return;
    if (!stdin.write(chunk)) await Promise.race([drained(stdin), ended]);
  }
}

/** What a process holds of the machine's memory; 0 where the system does not tell, and the bound of its heap has to do. */
async function residentMb(pid: number | undefined): Promise<number> {
  try {
    const [, pages = '0'] = (await readFile(`/proc/${pid}/statm`, 'latin1')).split(' ');
    return (Number(pages) * 4_096) / 2 ** 20;
  } catch {
    // Ended, or no Linux.
    return 0;
  }
}

/** What a process has computed so far; undefined where the system does not tell. */
async function computedMs(pid: number | undefined): Promise<number | undefined> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'latin1');
    // Behind the name, which may hold anything: the 12th and the 13th are times in hundredths of a second.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return 10 * (Number(fields[11]) + Number(fields[12]));
  } catch {
    // Ended, or no Linux.
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
