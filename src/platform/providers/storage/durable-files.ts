import { mkdir, open, rename, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Moves a file to `path` and creates missing folders. When it returns, the file, its name and the folders are on disk.
 */
export async function moveDurably(temporary: string, path: string): Promise<void> {
  await sync(temporary);
  await makeFolder(dirname(path));
  await rename(temporary, path);
  await sync(dirname(path));
}

/** Creates a folder and its missing parents, accessible only to this user. When it returns, their names are on disk. */
export async function makeFolder(folder: string): Promise<void> {
  const first = await mkdir(folder, { recursive: true, mode: 0o700 });
  if (first === undefined) return;
  for (let above = dirname(folder); ; above = dirname(above)) {
    await sync(above);
    if (above === dirname(first)) return;
  }
}

/** Waits until the bytes of a file, or the names in a folder, are on disk. */
export async function sync(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

export async function exists(path: string): Promise<boolean> {
  return stat(path).then(() => true, falseIfGone);
}

/** For `catch`: returns false for a missing file and rethrows all other errors. */
export function falseIfGone(error: NodeJS.ErrnoException): false {
  if (error.code === 'ENOENT') return false;
  throw error;
}
