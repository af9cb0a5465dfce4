import { existsSync, lstatSync, readdirSync, readlinkSync, renameSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { syncFolder } from './cluster.ts';
import type { Log, Place } from './place.ts';
import { stopOrphan } from './processes.ts';
import { StartError } from './start-error.ts';

/** Names of the new cluster while rows are copied, and once it has all of them. */
const COPYING = 'postgres-upgrading';
const COMPLETE = 'postgres-upgraded';
/** Prefix of the folders with fetched programs of earlier major versions. */
export const PROGRAMS = 'postgres-programs-';

/** Returns the place in which an upgrade makes its new cluster. */
export const upgradePlace = (place: Place): Place => ({ ...place, cluster: join(place.folder, COPYING) });

/**
 * Returns the folder in which the old cluster is kept. Throws StartError if the folder exists, because an earlier
 * upgrade left it.
 */
export function keptPlace({ folder }: Place, major: number): string {
  const kept = join(folder, `postgres-${major}`);
  if (!existsSync(kept)) return kept;
  throw new StartError(`${kept} is left from an earlier upgrade: remove it, or move it away.`);
}

/**
 * Replaces the old cluster by the new one, which must be complete and stopped, and keeps the old one. If the process is
 * killed between the last two renames, no cluster has the final name until `finishSwitch` completes the switch.
 */
export function switchClusters(place: Place, kept: string): void {
  for (const [from, to] of switchRenames(place, kept)) {
    renameSync(from, to);
    syncFolder(place.folder);
  }
}

/** Returns the renames of a switch, in order. */
export function switchRenames(place: Place, kept: string): [from: string, to: string][] {
  const complete = join(place.folder, COMPLETE);
  return [
    [upgradePlace(place).cluster, complete],
    [place.cluster, kept],
    [complete, place.cluster],
  ];
}

/** Tells whether an upgrade in this folder was killed between its renames. */
export function isSwitching(folder: string): boolean {
  return existsSync(join(folder, COMPLETE));
}

/** Completes the last rename of an upgrade that was killed before it. The caller holds the lock on `dataDir`. */
export function finishSwitch(dataDir: string): void {
  const pointer = join(dataDir, 'postgres');
  const isLink = lstatSync(pointer, { throwIfNoEntry: false })?.isSymbolicLink();
  const cluster = isLink ? resolve(dataDir, readlinkSync(pointer)) : pointer;
  const complete = join(dirname(cluster), COMPLETE);
  if (existsSync(cluster) || !existsSync(complete)) return;
  renameSync(complete, cluster);
  syncFolder(dirname(cluster));
}

/** Removes the leftovers of a killed upgrade, whose old cluster stayed in use. */
export async function removeUnfinishedUpgrade(place: Place, log: Log): Promise<void> {
  for (const name of readdirSync(place.folder)) {
    const path = join(place.folder, name);
    if (name === COPYING) await stopOrphan({ ...place, cluster: path }, log);
    else if (name !== COMPLETE && !name.startsWith(PROGRAMS)) continue;
    await rm(path, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
  }
}
