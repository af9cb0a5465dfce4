import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** What a confined process runs, and its limits for the whole of its life. */
export interface Program {
  /** The path of its JavaScript or TypeScript. */
  file: string;
  /** The folders that it can read. */
  folders: readonly string[];
  /** The V8 heap. The process may use half as much again outside it, plus its own code. */
  memoryMb: number;
  /** The CPU time of the whole process; the service replaces it long before. */
  cpuTimeSeconds: number;
  /** Options of V8 for this kind of work. */
  v8: readonly string[];
}

/**
 * The command that starts a confined process. It can read only its folders: no other files, child
 * processes, worker threads, code generation from strings or environment. It has no network: the Linux kernel enforces
 * that where unprivileged user namespaces are allowed, elsewhere only JavaScript does (`no-network.ts`).
 */
export async function confinedCommand({
  file,
  folders,
  memoryMb,
  cpuTimeSeconds,
  v8,
}: Program): Promise<[command: string, ...args: string[]]> {
  const node: [string, ...string[]] = [
    process.execPath,
    '--permission',
    ...folders.map((folder) => `--allow-fs-read=${folder}/*`),
    '--disallow-code-generation-from-strings',
    `--max-old-space-size=${memoryMb}`,
    // Most objects are garbage after a page; a larger young generation is collected less often.
    '--min-semi-space-size=16',
    ...v8,
    '--no-warnings',
    file,
  ];
  if (!(await canUnshare())) return node;
  // The service kills the process in time; the ulimit ends it if the service itself is killed.
  return [
    'sh',
    '-c',
    `ulimit -t ${cpuTimeSeconds}; exec "$@"`,
    'sh',
    'unshare',
    '--user',
    '--net',
    '--map-root-user',
    ...node,
  ];
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
