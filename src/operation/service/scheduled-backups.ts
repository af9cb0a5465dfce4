import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { PACKAGE } from '../../platform/core/package/package-files.ts';
import type { Backups } from '../../platform/jobs/define-job.ts';
import type { Config } from '../config.ts';

const IBID = fileURLToPath(new URL('bin/ibid', PACKAGE));

/** How much of what the command writes is kept for an error. */
const OUTPUT_MAX = 2_000;

/** Makes backups in a process of their own, whose memory and CPU priority are not those of requests. */
export function scheduledBackups({ BACKUP_SCHEDULE: schedule, BACKUP_WAL }: Config): Backups | undefined {
  if (!schedule) return undefined;
  return { schedule, hasWal: BACKUP_WAL !== undefined, make: run };
}

/** With the environment of this process, so with the same options. */
function run(signal: AbortSignal): ReturnType<Backups['make']> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['--no-warnings', IBID, 'backup'], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        output = (output + text).slice(-OUTPUT_MAX);
      });
    }
    // It may be killed at any moment: what it leaves is removed by the next.
    const kill = () => void child.kill('SIGKILL');
    if (signal.aborted) kill();
    signal.addEventListener('abort', kill);
    child.once('error', reject);
    child.once('close', (code) => {
      signal.removeEventListener('abort', kill);
      resolve({ code, output: output.trim() });
    });
  });
}
