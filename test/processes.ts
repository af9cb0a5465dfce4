import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

/** Returns the processes of this machine: the pid and the command line, each argument followed by a space. */
export function commandLines(): Promise<[pid: number, line: string][]> {
  return process.platform === 'linux' ? commandLinesOfLinux() : commandLinesOfPs();
}

async function commandLinesOfLinux(): Promise<[number, string][]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  return Promise.all(
    pids.map(async (pid) => {
      // The process may have ended since it was listed.
      const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
      return [Number(pid), line.replaceAll('\0', ' ')] as [number, string];
    }),
  );
}

async function commandLinesOfPs(): Promise<[number, string][]> {
  const { stdout } = await promisify(execFile)('ps', ['-axww', '-o', 'pid=,command=']);
  return [...stdout.matchAll(/^ *(\d+) (.*)$/gm)].map(([, pid, line]) => [Number(pid), `${line} `]);
}

/** Returns the parent of each running process of this machine. */
export async function parentPids(): Promise<Map<number, number>> {
  const { stdout } = await promisify(execFile)('ps', ['-axo', 'pid=,ppid=,stat=']);
  const rows = stdout.matchAll(/^ *(\d+) +(\d+) +([^Z].*)$/gm);
  return new Map(Array.from(rows, ([, pid, parent]) => [Number(pid), Number(parent)]));
}

/** Sends a signal to a process. Ignores that it may have ended since it was listed. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
