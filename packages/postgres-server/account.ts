import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  closeSync,
  fchownSync,
  lchownSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { cleanEnvironment } from './environment.ts';
import { StartError } from './start-error.ts';

/** The user that PostgreSQL runs as when Ibid is root, because it refuses to run as root. */
export interface Account {
  uid: number;
  gid: number;
}

export const isRoot = (): boolean => process.getuid?.() === 0;

function id(...args: string[]): string | undefined {
  const { status, stdout } = spawnSync('id', args, { encoding: 'utf8', env: cleanEnvironment() });
  return status === 0 ? stdout.trim() : undefined;
}

/** initdb needs an account with a name, so a bare 65534 is the last resort. */
export function unprivilegedAccount(): Account {
  for (const name of ['postgres', '_postgres', 'nobody']) {
    const uid = Number(id('-u', name) ?? 0);
    if (uid > 0) return { uid, gid: Number(id('-g', name)) };
  }
  return { uid: 65534, gid: 65534 };
}

/** Returns the system users that may connect to our PostgreSQL. They can read its files anyway. */
export function namesAllowedIn(account: Account | undefined): string[] {
  const names = ['root', id('-un'), account && id('-un', String(account.uid))];
  return [...new Set(names)].filter((name) => name !== undefined);
}

/** Tells whether the account can enter `folder`. Tries it, because mode bits do not show access control lists. */
export function canEnter(folder: string, account: Account): boolean {
  const options = { ...account, cwd: '/', env: cleanEnvironment(), stdio: 'ignore' } as const;
  const tried = spawnSync('/bin/sh', ['-c', 'cd -- "$1"', 'sh', folder], options);
  if (tried.error) {
    throw new StartError(
      `PostgreSQL cannot run as root, and this root user may not switch to user ${account.uid} (${tried.error.message}): run Ibid as an ordinary user, or set DATABASE_URL.`,
      { cause: tried.error },
    );
  }
  return tried.status === 0;
}

/**
 * Lets the account enter a folder of root that only its own mode closes: its group becomes the account's and gets
 * execute, not read permission. Folders above it are not changed.
 */
export function letEnter(folder: string, account: Account): boolean {
  if (canEnter(folder, account)) return true;
  const { uid, gid, mode } = statSync(folder);
  if (uid !== 0 || gid !== 0 || !canEnter(dirname(folder), account)) return false;
  chownSync(folder, 0, account.gid);
  chmodSync(folder, (mode & 0o7707) | 0o010);
  return canEnter(folder, account);
}

/**
 * Replaces a file in a folder of the account. Root never writes to an existing path, because another user could have
 * put a link there: it only renames over the path.
 */
export function replaceFile(path: string, content: string, account: Account | undefined): void {
  const fresh = `${path}.new`;
  rmSync(fresh, { force: true });
  const handle = openSync(fresh, 'wx', 0o600);
  writeFileSync(handle, content);
  if (account) fchownSync(handle, account.uid, account.gid);
  closeSync(handle);
  renameSync(fresh, path);
}

/** Changes the owner of a cluster that root restored from a backup. */
export function giveTree(folder: string, { uid, gid }: Account): void {
  lchownSync(folder, uid, gid);
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) giveTree(path, { uid, gid });
    else lchownSync(path, uid, gid);
  }
}
