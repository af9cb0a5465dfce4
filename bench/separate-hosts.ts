import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cleanUp } from '../test/clean-up.ts';

/** A host of its own for a node: a network namespace with a cable to a switch, and a small file system. Needs root and iproute2. */
export interface Host {
  address: string;
  /** Where its file system is. */
  folder: string;
  /** What stands before a command that is to run there. */
  prefix: string[];
  /** What comes from it and goes to it is lost from now on, without a word. */
  cut(): void;
  mend(): void;
  /** Stops every process there, as a machine that swaps or whose hypervisor has paused it. */
  freeze(): void;
  thaw(): void;
  /** Takes all that is left of its file system. */
  fillDisk(): void;
  freeDisk(): void;
}

/** An initialized cluster has some 100 MB, and its write-ahead log grows to 1 GB and more while a node is away. */
const DISK_MB = 2_000;

function run(program: string, ...args: string[]): string {
  return execFileSync(program, args, { encoding: 'utf8' });
}

/** Hosts on one switch, of which this machine is the first; all are removed after the tests. `gateway`: its address there. */
export function makeHosts(names: readonly string[], folder: string, account: { uid: number; gid: number }) {
  const id = process.pid % 65_536;
  const [bridge, network] = [`ib${id}`, `10.${201 + (id >> 13)}.${id & 255}`];
  const gateway = `${network}.1`;
  run('ip', 'link', 'add', bridge, 'type', 'bridge');
  cleanUp(() => run('ip', 'link', 'del', bridge));
  run('ip', 'address', 'add', `${gateway}/24`, 'dev', bridge);
  run('ip', 'link', 'set', bridge, 'up');
  const hosts = names.map((name, i): Host => {
    const [space, cable, address] = [`${bridge}-${name}`, `${bridge}n${i}`, `${network}.${10 + i}`];
    run('ip', 'netns', 'add', space);
    cleanUp(() => run('ip', 'netns', 'del', space));
    const within = ['ip', 'netns', 'exec', space];
    const there = (...args: string[]) => run(within[0] ?? '', ...within.slice(1), ...args);
    run('ip', 'link', 'add', cable, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', space);
    run('ip', 'link', 'set', cable, 'master', bridge, 'up');
    there('ip', 'link', 'set', 'lo', 'up');
    there('ip', 'address', 'add', `${address}/24`, 'dev', 'eth0');
    there('ip', 'link', 'set', 'eth0', 'up');
    const disk = join(folder, name);
    mkdirSync(disk, { recursive: true });
    const { uid, gid } = account;
    run('mount', '-t', 'tmpfs', '-o', `size=${DISK_MB}m,uid=${uid},gid=${gid},mode=755`, 'tmpfs', disk);
    cleanUp(() => run('umount', '--lazy', disk));
    const signal = (name: NodeJS.Signals) => {
      for (const pid of run('ip', 'netns', 'pids', space).split('\n').filter(Boolean)) kill(Number(pid), name);
    };
    const filler = join(disk, 'filler');
    return {
      address,
      folder: disk,
      prefix: [...within, 'setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups'],
      cut: () => void run('ip', 'link', 'set', cable, 'down'),
      mend: () => void run('ip', 'link', 'set', cable, 'up'),
      freeze: () => signal('SIGSTOP'),
      thaw: () => signal('SIGCONT'),
      fillDisk() {
        // PostgreSQL may take some of the rest at the same time; each time it is left more.
        for (let left = 64 * 1024; ; left *= 4) {
          const { bavail, bsize } = statfsSync(disk);
          writeFileSync(filler, '');
          try {
            run('fallocate', '--length', String(Math.max(bsize, bavail * bsize - left)), filler);
            return;
          } catch (error) {
            if (left > bavail * bsize) throw error;
          }
        }
      },
      freeDisk: () => rmSync(filler, { force: true }),
    };
  });
  return { gateway, hosts };
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    // It ended meanwhile.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
