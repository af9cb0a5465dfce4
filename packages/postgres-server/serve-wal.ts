import { chownSync, rmSync, writeFileSync } from 'node:fs';
import { chmod, chown, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Account } from './account.ts';

/** Returns a WAL file by name; undefined if the file does not exist. */
export type Supply = (name: string) => Promise<Uint8Array | undefined>;

const LOOK_MS = 5;
/** Requests of a recovery: WAL segments and timeline histories. */
const WANTED = /^([0-9A-F]{24}|[0-9A-F]{8}\.history)\.wanted$/;
/** Exists while files are served. Without it, a server must not take missing files for the end of the WAL. */
const OPEN = 'open';

/**
 * Returns the restore_command. PostgreSQL requests a file in a folder next to its cluster: it creates NAME.wanted and
 * waits for NAME or NAME.absent. A status above 125 ends the server.
 */
export function restoreCommand(folder: string): string {
  return [
    `d=../${folder}`,
    ': > $d/%f.wanted || exit 126',
    'until [ -e $d/%f ]; do if [ -e $d/%f.absent ]; then rm $d/%f.absent; exit 1; fi',
    `[ -e $d/${OPEN} ] || exit 126`,
    'sleep 0.02; done',
    'mv $d/%f %p',
  ].join('; ');
}

/** Serves the files that a recovery requests in a folder, until it is stopped or `supply` fails. */
export function serveWal(folder: string, account: Account | undefined, supply: Supply) {
  let isStopped = false;
  let failure: Error | undefined;
  const open = join(folder, OPEN);
  writeFileSync(open, '');
  if (account) chownSync(open, account.uid, account.gid);

  async function answer(name: string): Promise<void> {
    const content = await supply(name);
    const path = join(folder, content ? name : `${name}.absent`);
    const whole = `${path}.new`;
    await writeFile(whole, content ?? '');
    await chmod(whole, 0o600);
    if (account) await chown(whole, account.uid, account.gid);
    await rm(join(folder, `${name}.wanted`));
    await rename(whole, path);
  }

  async function serve(): Promise<void> {
    while (!isStopped) {
      const wanted = (await readdir(folder)).map((name) => WANTED.exec(name)?.[1]).filter((name) => name !== undefined);
      for (const name of wanted) await answer(name);
      if (wanted.length === 0) await delay(LOOK_MS);
    }
  }

  const serving = serve().catch((error: Error) => {
    failure = error;
    rmSync(open, { force: true });
  });
  return {
    /** The error that ended the service, if any. */
    failure: () => failure,
    async stop(): Promise<void> {
      isStopped = true;
      await serving;
    },
  };
}
