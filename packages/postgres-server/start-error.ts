/** Ibid cannot start its PostgreSQL. The message is one line: the problem, and what to do. */
export class StartError extends Error {
  override name = 'StartError';
}

const ADVICE: Record<string, string> = {
  EACCES: 'it is not writable or accessible; change its owner or mode, or set DATA_DIR to another folder',
  EPERM: 'the operation is not permitted there; change its owner, or set DATA_DIR to another folder',
  EROFS: 'its file system is read-only; set DATA_DIR to a writable folder',
  ENOSPC: 'its file system is full; free some space or set DATA_DIR to another disk',
  EDQUOT: 'the disk quota is used up; free some space or set DATA_DIR to another disk',
  ENOTDIR: 'a part of it is not a directory; move that file away or set DATA_DIR to another path',
  EEXIST: 'it is not a directory; move that file away or set DATA_DIR to another path',
  ENAMETOOLONG: 'its name is too long; set DATA_DIR to a shorter path',
};

/** Converts an error of the file system to a StartError; other errors are returned unchanged. */
export function toStartError(error: unknown, dataDir: string): unknown {
  const { code, path, dest } = error as NodeJS.ErrnoException & { dest?: string };
  const advice = code && ADVICE[code];
  if (error instanceof StartError || !advice) return error;
  const where = dest ?? path ?? dataDir;
  const what = where === dataDir ? `DATA_DIR ${dataDir}` : `DATA_DIR ${dataDir} (at ${where})`;
  return new StartError(`${what} cannot be used: ${advice}.`, { cause: error });
}
