import { mapAtOnce } from '../../../platform/providers/storage/blobs.ts';
import type { BackupStore } from '../backup-store.ts';
import { readFile } from '../copy-file.ts';
import type { BaseBackup, Manifest } from '../manifest.ts';
import { chainOf } from './chain-of.ts';
import { openWalStore } from './wal-store.ts';

export interface VerifiedWal {
  segments: number;
  /** Moments up to this time can be recovered; undefined if none can. */
  stored_until: string | undefined;
}

/**
 * Reads the WAL that follows a base backup and the files listed with it, and reports segments missing before a later
 * one. `check` runs the check of a named object.
 */
export async function verifyWal(
  store: BackupStore,
  { made_at }: Manifest,
  base: BaseBackup,
  check: <T>(name: string, work: () => Promise<T>) => Promise<T | undefined>,
): Promise<VerifiedWal> {
  const wal = openWalStore(store, base.system_identifier);
  const chain = await check(`wal/${base.system_identifier}`, () => chainOf(store, base));
  let stored_until: string | undefined;
  for (const name of chain?.segments ?? []) {
    const read = await check(wal.nameOf(name), () => wal.read(name));
    stored_until = read?.written_at ?? stored_until;
  }
  // Reading a missing segment reports it as missing.
  for (const name of chain?.missing ?? []) await check(wal.nameOf(name), () => wal.read(name));
  for (const time of (await wal.list()).lists.filter((each) => each >= made_at)) {
    const sha256s = await check(wal.listName(time), () => wal.readList(time));
    await mapAtOnce(sha256s ?? [], (sha256) =>
      check(store.fileName(sha256), async () => {
        for await (const _ of readFile(store, sha256));
      }),
    );
  }
  return { segments: chain?.segments.length ?? 0, stored_until };
}
