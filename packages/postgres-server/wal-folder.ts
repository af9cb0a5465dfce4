import { chownSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Place } from './place.ts';

const NAME = 'postgres-wal';

/** How long what was committed may wait for its segment to be full, in seconds: a crash of the disk loses no more. */
const TIMEOUT_SECONDS = 60;

/** Where PostgreSQL copies finished segments of WAL, beside its cluster, so that base backups do not have them. */
export const walFolderOf = (cluster: string): string => join(dirname(cluster), NAME);

/** Makes the folder for PostgreSQL's account. What waits there stays, also while a command runs without the option. */
export function makeWalFolder({ cluster, account }: Place): void {
  const folder = walFolderOf(cluster);
  if (mkdirSync(folder, { recursive: true, mode: 0o700 }) && account) chownSync(folder, account.uid, account.gid);
}

/**
 * PostgreSQL runs the command in its cluster and repeats it until it succeeds. It copies a segment under another name, has it
 * on disk, and renames it; what is there already is not replaced. A `sync` that takes no names writes everything. Labels of
 * base backups and the torn last segment of a timeline are not needed.
 */
const COMMAND = [
  `d=../${NAME}`,
  'case %f in *.backup|*.partial) exit 0;; esac',
  'if [ -e $d/%f ]; then cmp -s %p $d/%f; exit; fi',
  'cp -p %p $d/%f.copy && sync $d/%f.copy && mv $d/%f.copy $d/%f && sync $d',
].join('; ');

export const ARCHIVE_SETTINGS = `
# Finished segments of WAL are copied to the folder from which the service stores them (BACKUP_WAL).
archive_mode = on
archive_timeout = ${TIMEOUT_SECONDS}s
archive_command = '${COMMAND}'
`;
