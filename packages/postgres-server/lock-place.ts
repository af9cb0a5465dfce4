import { lockFolder } from './data-dir-lock.ts';
import { choosePlace, type Log, openDataDir, type Place } from './place.ts';
import { finishSwitch } from './upgrade-folders.ts';

/**
 * Opens a DATA_DIR and its cluster's place for this process alone, and completes an upgrade that was killed between its
 * renames. Adds a release function per lock to `unlocks`, even if it fails later. Throws StartError.
 */
export function lockPlace(dataDir: string, unlocks: (() => void)[], log: Log): { folder: string; place: Place } {
  const folder = openDataDir(dataDir);
  unlocks.push(lockFolder(folder));
  finishSwitch(folder);
  const place = choosePlace(folder, log);
  if (place.folder !== folder) unlocks.push(lockFolder(place.folder));
  return { folder, place };
}
