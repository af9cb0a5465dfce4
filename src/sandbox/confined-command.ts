import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** What a confined process runs, and its limits for the whole of its life. */
export interface Program {
  file: URL;
  /** The V8 heap. The process may use half as much again outside it, plus its own code. */
  memoryMb: number;
  /** The CPU time of the whole process; the service replaces it long before. */
  cpuTimeSeconds: number;
  /** Options of V8 for this kind of work. */
  v8: readonly string[];
}

const SOURCE = fileURLToPath(new URL('..', import.meta.url));
/**
 * `node_modules`, and the folder that contains the packages: the first may be a symbolic link, or the packages may be
 * hoisted.
 */
const PACKAGES = fileURLToPath(new URL('../../node_modules', import.meta.url));
export const PACKAGES_TARGET =
  /^.*?\/node_modules(?=\/)/.exec(fileURLToPath(import.meta.resolve('unpdf')))?.[0] ?? PACKAGES;

/**
 * The command that starts a confined process. It can read only this program and its packages: no other files, child
 * processes, worker threads, code generation from strings or environment. It has no network: the Linux kernel enforces
 * that where unprivileged user namespaces are allowed, elsewhere only JavaScript does (`no-network.ts`).
 */
export async function confinedCommand({
  file,
  memoryMb,
  cpuTimeSeconds,
  v8,
}: Program): Promise<[command: string, ...args: string[]]> {
  const node: [string, ...string[]] = [
    process.execPath,
    '--permission',
    `--allow-fs-read=${SOURCE}*`,
    ...[...new Set([PACKAGES, PACKAGES_TARGET])].map((folder) => `--allow-fs-read=${folder}*`),
    `--allow-fs-read=${fileURLToPath(new URL('../../package.json', import.meta.url))}`,
    '--disallow-code-generation-from-strings',
    `--max-old-space-size=${memoryMb}`,
    // Most objects are garbage after a page; a larger young generation is collected less often.
    '--min-semi-space-size=16',
    ...v8,
    '--no-warnings',
    fileURLToPath(file),
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
