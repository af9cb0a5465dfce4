import { lockFolder } from './data-dir-lock.ts';
import { choosePlace, type Log, openDataDir, type Place } from './place.ts';
import { finishSwitch } from './upgrade-folders.ts';

/**
 * Opens a DATA_DIR and the place of its cluster for this process alone, and completes an upgrade that was killed between its
 * renames. `unlocks` gets what releases the locks, also where this fails. Errors: StartError.
 */
export function lockPlace(dataDir: string, unlocks: (() => void)[], log: Log): { folder: string; place: Place } {
  const folder = openDataDir(dataDir);
  unlocks.push(lockFolder(folder));
  finishSwitch(folder);
  const place = choosePlace(folder, log);
  if (place.folder !== folder) unlocks.push(lockFolder(place.folder));
  return { folder, place };
}
