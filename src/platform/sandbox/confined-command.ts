import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** The program of a confined process, and the limits for its lifetime. */
export interface Program {
  /** Path of the JavaScript or TypeScript file. */
  file: string;
  /** Folders that the process may read. */
  folders: readonly string[];
  /** Heap limit of V8. Outside the heap the process may use half as much again, plus its own code. */
  memoryMb: number;
  /** CPU time of the process over its lifetime; the service replaces it long before. */
  cpuTimeSeconds: number;
  /** Options of V8 for this kind of work. */
  v8: readonly string[];
}

/**
 * Returns the command that starts a confined process. The process can read only its folders, gets none of the service's
 * environment, and cannot start child processes or worker threads or generate code from strings. It has no network: the
 * Linux kernel enforces that where unprivileged user namespaces are allowed, elsewhere only JavaScript does
 * (`no-network.ts`).
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
    // Most objects are garbage after a page, and a larger young generation is collected less often.
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

/** Returns whether this user may create user and network namespaces. The result is cached. */
export function canUnshare(): Promise<boolean> {
  unshareCheck ??= promisify(execFile)('unshare', ['--user', '--net', '--map-root-user', 'true']).then(
    () => true,
    () => false,
  );
  return unshareCheck;
}
