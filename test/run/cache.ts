import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { access, mkdir, mkdtemp, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PACKAGE } from '../../src/platform/core/package/package-files.ts';

export const ROOT = fileURLToPath(PACKAGE);

/** A folder that test runs of all checkouts of this user share. It may be deleted: a run recreates missing parts. */
export const CACHE =
  process.env.IBID_TEST_CACHE ?? join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'ibid-tests');

const UNUSED_MS = 7 * 86_400_000;

/** Hashes texts and the files that match patterns, including their names. Patterns are relative to the checkout. */
export function hashOf(texts: readonly string[], patterns: readonly string[]): string {
  const hash = createHash('sha256');
  for (const text of texts) hash.update(`${text}\0`);
  for (const file of globSync(patterns, { cwd: ROOT }).sort())
    hash.update(`${file}\0`).update(readFileSync(ROOT + file));
  return hash.digest('hex').slice(0, 32);
}

/**
 * Returns the folder `CACHE/kind/hash`. If it does not exist, `make` fills a temporary folder that is then renamed, so
 * that concurrent runs never see a partial one. Deletes folders of this kind that no run has used for a week.
 */
export async function kept(kind: string, hash: string, make: (folder: string) => Promise<void>): Promise<string> {
  const parent = join(CACHE, kind);
  const folder = join(parent, hash);
  await mkdir(parent, { recursive: true, mode: 0o700 });
  if (!(await exists(folder))) {
    const unfinished = await mkdtemp(join(parent, 'unfinished-'));
    try {
      await make(unfinished);
      await rename(unfinished, folder);
    } catch (error) {
      await rm(unfinished, { recursive: true, force: true });
      // A concurrent run was first.
      if (!(await exists(folder))) throw error;
    }
  }
  await utimes(folder, new Date(), new Date());
  await deleteUnused(parent);
  return folder;
}

async function deleteUnused(parent: string): Promise<void> {
  for (const name of await readdir(parent)) {
    const folder = join(parent, name);
    const found = await stat(folder).catch(() => undefined);
    if (found && Date.now() - found.mtimeMs > UNUSED_MS) await rm(folder, { recursive: true, force: true });
  }
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
