import { stat, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { MIN_FREE_BYTES } from '@ibid/postgres-server/postgres.ts';
import { byteAmount } from '../../../platform/core/quotas.ts';
import { type Finding, ok, problem, type Subject, warning } from './finding.ts';

/** The threshold of the alert IbidDiskLow. */
const LOW_SHARE = 0.1;
const FEW_INODES = 1_000;

/** Checks the free space and inodes of the disks that the service writes to. */
export async function checkDisks({ config: { DATA_DIR, BACKUP_URL } }: Subject): Promise<Finding[]> {
  const folders = { DATA_DIR, ...(BACKUP_URL?.startsWith('file:') && { BACKUP_URL: fileURLToPath(BACKUP_URL) }) };
  return Promise.all(Object.entries(folders).map(([name, folder]) => checkDisk(name, folder)));
}

async function checkDisk(name: string, folder: string): Promise<Finding> {
  const { bavail, blocks, bsize, files, ffree } = await statfs(await existingPart(folder));
  const [free, all] = [bavail * bsize, blocks * bsize];
  const seen = `${name} ${folder}: ${byteAmount(free)} of ${byteAmount(all)} free`;
  const advice = `free some space or set ${name} to another disk; "ibid workspace list" shows which workspaces store the most`;
  if (files > 0 && ffree < FEW_INODES) return problem(`${seen}, and room for ${ffree} files`, advice);
  if (free < MIN_FREE_BYTES) return problem(seen, advice);
  return free < LOW_SHARE * all ? warning(seen, advice) : ok(seen);
}

/** Returns the folder, or its nearest existing ancestor. */
export async function existingPart(folder: string): Promise<string> {
  for (let part = folder; ; part = dirname(part)) {
    const found = await stat(part).catch(() => undefined);
    if (found || part === dirname(part)) return part;
  }
}
