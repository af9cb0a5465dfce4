import { readdirSync, readFileSync } from 'node:fs';

/** The unit of times in Linux's /proc/<pid>/stat (USER_HZ). */
const TICK_MS = 10;

export interface Cpu {
  /** CPU time of the process itself. */
  own_ms: number;
  /** CPU time of all its descendants, including ended ones. */
  children_ms: number;
}

/**
 * Returns the CPU time of a process and its descendants, from utime and stime of /proc/<pid>/stat. Throws an Error if
 * the process has ended.
 */
export function cpuOf(pid: number): Cpu {
  const processes = new Map(listProcesses().map((process) => [process.pid, process]));
  const root = processes.get(pid);
  if (!root) throw new Error(`process ${pid} is gone: its log says why`);
  let children_ms = root.ended_ms;
  for (const process of descendants(pid, [...processes.values()])) children_ms += process.own_ms + process.ended_ms;
  return { own_ms: root.own_ms, children_ms };
}

/**
 * Returns the CPU time in ms of a process and its descendants by program: the service, postgres, rendering… Ended
 * processes are not counted.
 */
export function cpuByProgram(pid: number): Map<string, number> {
  const all = listProcesses();
  const sums = new Map<string, number>();
  for (const process of all.filter((each) => each.pid === pid).concat(descendants(pid, all))) {
    const name = process.pid === pid ? 'service' : programOf(process.pid);
    sums.set(name, (sums.get(name) ?? 0) + process.own_ms);
  }
  return sums;
}

export interface Memory {
  /** Proportional set size: memory shared by several processes is divided among them. */
  pss_mb: number;
  /** Resident set size: memory shared by several processes counts for each. */
  rss_mb: number;
  /** The process's own part of pss_mb, without its descendants. */
  own_pss_mb: number;
  processes: number;
  /** pss_mb by program, largest first. */
  programs: [name: string, pss_mb: number][];
}

/** Returns the resident memory of a process and its descendants, from /proc/<pid>/smaps_rollup. */
export function memoryOf(pid: number): Memory {
  const pids = [pid, ...descendants(pid, listProcesses()).map((process) => process.pid)];
  const memory: Memory = { pss_mb: 0, rss_mb: 0, own_pss_mb: 0, processes: 0, programs: [] };
  const programs = new Map<string, number>();
  for (const one of pids) {
    const text = readOf(one, 'smaps_rollup');
    if (text === undefined) continue;
    const pss = field(text, 'Pss');
    memory.pss_mb += pss;
    memory.rss_mb += field(text, 'Rss');
    memory.processes += 1;
    if (one === pid) memory.own_pss_mb = pss;
    const name = one === pid ? 'service' : programOf(one);
    programs.set(name, (programs.get(name) ?? 0) + pss);
  }
  memory.programs = [...programs].sort(([, one], [, other]) => other - one);
  return memory;
}

/** Returns "postgres", or the name of the file that a Node runs without its version, such as "rendering". */
function programOf(pid: number): string {
  const words = (readOf(pid, 'cmdline') ?? '').split('\0').join(' ');
  if (words.startsWith('postgres')) return 'postgres';
  return /([a-z]+)[^/ ]*\.[cm]?[jt]s\b/.exec(words)?.[1] ?? words.split(' ', 1)[0] ?? '';
}

function field(text: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? 0) / 1024;
}

interface Process {
  pid: number;
  parent: number;
  own_ms: number;
  /** CPU time of its ended children. */
  ended_ms: number;
}

function listProcesses(): Process[] {
  const processes: Process[] = [];
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const stat = readOf(Number(name), 'stat');
    if (stat === undefined) continue;
    // The second field is the name in parentheses and may contain anything; the fields after it are plain.
    const fields = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    const [utime = 0, stime = 0, cutime = 0, cstime = 0] = fields.slice(11, 15);
    processes.push({
      pid: Number(name),
      parent: fields[1] ?? 0,
      own_ms: (utime + stime) * TICK_MS,
      ended_ms: (cutime + cstime) * TICK_MS,
    });
  }
  return processes;
}

/** Returns the current descendants of a process. */
export function pidsBelow(pid: number): number[] {
  return descendants(pid, listProcesses()).map((process) => process.pid);
}

function descendants(pid: number, all: readonly Process[]): Process[] {
  const children = all.filter((process) => process.parent === pid);
  return children.flatMap((child) => [child, ...descendants(child.pid, all)]);
}

/** Returns a file of /proc; undefined if the process has ended since it was listed. */
function readOf(pid: number, file: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch (error) {
    if (/^(ENOENT|ESRCH)$/.test((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
}
