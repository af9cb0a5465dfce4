import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const run = promisify(execFile);

export interface Checkout {
  root: string;
  /** Full name of the commit, or the path of a folder. */
  commit: string;
  discard(): Promise<void>;
}

/**
 * Checks a revision out into a new folder, with the packages of its own package-lock.json; `discard` removes it. If the
 * revision is the path of a checkout with its packages, uses that folder unchanged. Throws an Error if the revision
 * does not exist, or if its packages cannot be installed.
 */
export async function checkOut(revision: string, folder: string): Promise<Checkout> {
  if (existsSync(join(revision, 'package.json'))) {
    return { root: resolve(revision), commit: revision, discard: async () => undefined };
  }
  const git = (...args: string[]) => run('git', args, { cwd: ROOT });
  const { stdout } = await git('rev-parse', '--verify', '--end-of-options', `${revision}^{commit}`);
  const commit = stdout.trim();
  await git('worktree', 'add', '--detach', folder, commit);
  const discard = async () => {
    await git('worktree', 'remove', '--force', folder);
  };
  try {
    await run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: folder });
  } catch (error) {
    await discard();
    throw error;
  }
  return { root: folder, commit, discard };
}

export const HERE = ROOT;
