import { chownSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Place } from './place.ts';

const NAME = 'postgres-wal';

/** Seconds after which a segment is archived even if it is not full: the most that is lost if the disk fails. */
const TIMEOUT_SECONDS = 60;

/** Returns the folder for finished WAL segments. It is next to the cluster, so base backups do not include it. */
export const walFolderOf = (cluster: string): string => join(dirname(cluster), NAME);

/** Creates the WAL folder for PostgreSQL's account. Waiting segments stay, even if a later run does not archive WAL. */
export function makeWalFolder({ cluster, account }: Place): void {
  const folder = walFolderOf(cluster);
  if (mkdirSync(folder, { recursive: true, mode: 0o700 }) && account) chownSync(folder, account.uid, account.gid);
}

/**
 * PostgreSQL runs the command in its cluster and repeats it until it succeeds. It copies a segment under a temporary
 * name, flushes the copy to disk, and renames it. Existing segments are not replaced. A `sync` that takes no file names
 * flushes everything. Labels of base backups and the torn last segment of a timeline are skipped.
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
