import { readFileSync } from 'node:fs';

/** Returns the resident memory in MiB; 0 where the system does not report it, so that only the heap limit applies. */
export function residentMemoryMb(pid: number | undefined): number {
  const [, pages = '0'] = readProcFile(pid, 'statm')?.split(' ') ?? [];
  return (Number(pages) * 4_096) / 2 ** 20;
}

/** Returns the CPU time used so far in milliseconds; undefined where the system does not report it. */
export function cpuTimeMs(pid: number | undefined): number | undefined {
  const stat = readProcFile(pid, 'stat');
  if (stat === undefined) return undefined;
  // The process name may contain spaces and parentheses. utime and stime follow it, in ticks of 10 ms (proc(5)).
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return 10 * (Number(fields[11]) + Number(fields[12]));
}

/**
 * Reads a file of /proc. Returns undefined if the process has ended, and on systems without /proc. procfs is in memory,
 * so a synchronous read does not block.
 */
function readProcFile(pid: number | undefined, file: 'stat' | 'statm'): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1');
  } catch {
    return undefined;
  }
}
