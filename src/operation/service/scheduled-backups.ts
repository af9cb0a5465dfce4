import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { PACKAGE } from '../../platform/core/package/package-files.ts';
import type { Backups } from '../../platform/jobs/define-job.ts';
import type { Config } from '../config.ts';

const IBID = fileURLToPath(new URL('bin/ibid', PACKAGE));

/** Maximum length of the command's output that is kept for an error. */
const OUTPUT_MAX = 2_000;

/** Returns how to run backups, in a process with its own memory and CPU priority; undefined without BACKUP_SCHEDULE. */
export function scheduledBackups({ BACKUP_SCHEDULE: schedule, BACKUP_WAL }: Config): Backups | undefined {
  if (!schedule) return undefined;
  return { schedule, hasWal: BACKUP_WAL !== undefined, make: run };
}

/** The child inherits the environment, and thereby the options. */
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
    // Safe to kill at any moment: the next backup removes unfinished objects.
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
