import { createHash } from 'node:crypto';
import {
  accessSync,
  chmodSync,
  constants,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { type Account, canEnter, giveTree, isRoot, letEnter, unprivilegedAccount } from './account.ts';
import { StartError } from './start-error.ts';

export type Log = (level: 'info' | 'warn' | 'error', message: string, details?: object) => void;

/** The location of PostgreSQL's files, and their owner. */
export interface Place {
  /** Contains the cluster and, if needed, a copy of the binaries: DATA_DIR, or the folder that it links to. */
  folder: string;
  /** PostgreSQL's own data directory, `<folder>/postgres`. */
  cluster: string;
  /** Set when Ibid is root. */
  account: Account | undefined;
}

const SHARED_PARENT = '/var/lib/ibid';

/** Creates DATA_DIR if it is missing. Returns its real path. */
export function openDataDir(dataDir: string): string {
  const folder = resolve(dataDir);
  mkdirSync(dirname(folder), { recursive: true });
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  return realpathSync(folder);
}

/**
 * Finds the cluster of a DATA_DIR, or chooses the place of a new one: `<dataDir>/postgres`. If Ibid is root and other
 * users cannot enter DATA_DIR (below /root, for example), it gets a link there to /var/lib/ibid/<hash of the
 * path>/postgres instead; later starts follow the link.
 */
export function choosePlace(dataDir: string, log: Log): Place {
  const cluster = join(dataDir, 'postgres');
  const kind = lstatSync(cluster, { throwIfNoEntry: false });
  if (kind) return existingPlace(cluster);
  if (!isRoot()) return { folder: dataDir, cluster, account: undefined };

  const account = unprivilegedAccount();
  if (letEnter(dataDir, account)) return { folder: dataDir, cluster, account };
  return sharedPlace(dataDir, account, log);
}

function existingPlace(pointer: string): Place {
  const owner = statSync(pointer, { throwIfNoEntry: false });
  if (!owner) {
    throw new StartError(
      `${pointer} points to ${readlinkSync(pointer)}, which is missing: restore it, or remove the link to start with an empty database.`,
    );
  }
  const cluster = realpathSync(pointer);
  const folder = dirname(cluster);
  if (!isRoot()) {
    if (owner.uid === process.getuid?.()) return { folder, cluster, account: undefined };
    throw new StartError(`${pointer} belongs to user ${owner.uid}: run Ibid as that user or as root, or set DATA_DIR.`);
  }
  const account = owner.uid === 0 ? unprivilegedAccount() : { uid: owner.uid, gid: owner.gid };
  if (owner.uid === 0) giveTree(cluster, account);
  if (letEnter(folder, account)) return { folder, cluster, account };
  throw new StartError(
    `${cluster} is not accessible to user ${account.uid}, which runs PostgreSQL: give others execute permission on the folders above it (chmod o+x), or move DATA_DIR.`,
  );
}

function sharedPlace(dataDir: string, account: Account, log: Log): Place {
  const folder = join(SHARED_PARENT, createHash('sha256').update(dataDir).digest('hex').slice(0, 16));
  for (const path of [SHARED_PARENT, folder]) {
    // The mode is set separately, because a umask may have narrowed it.
    if (mkdirSync(path, { recursive: true })) chmodSync(path, 0o755);
    const { uid, mode } = lstatSync(path);
    if (uid !== 0 || mode & 0o022)
      throw new StartError(`${path} must be owned by root and writable only by root: use chown and chmod.`);
  }
  const cluster = join(folder, 'postgres');
  const closed = `DATA_DIR ${dataDir} is not accessible to user ${account.uid}, which runs PostgreSQL`;
  if (isMade(cluster)) {
    log('warn', `${closed}: using its existing database in ${folder}`);
    return existingPlace(cluster);
  }
  log('warn', `${closed}: storing its files in ${folder}`);
  if (canEnter(folder, account)) return { folder, cluster, account };
  throw new StartError(
    `${closed}, and neither is ${folder}: give others execute permission (chmod o+x), or set DATA_DIR or DATABASE_URL.`,
  );
}

/** A cluster gets its name only when it is complete, so a folder with content is a whole cluster. */
export function isMade(cluster: string): boolean {
  try {
    const content = readdirSync(cluster);
    if (content.length === 0 || content.includes('PG_VERSION')) return content.length > 0;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
  throw new StartError(
    `${cluster} is not a PostgreSQL data directory: move it away, or set DATA_DIR to another folder.`,
  );
}

/** Creates the link in DATA_DIR through which later starts find a cluster elsewhere. */
export function pointTo(cluster: string, dataDir: string): void {
  const pointer = join(dataDir, 'postgres');
  if (!lstatSync(pointer, { throwIfNoEntry: false })) symlinkSync(cluster, pointer);
}
