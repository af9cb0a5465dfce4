/**
 * The id that Notion appends to the names of files and, in older exports, of folders. `_all` marks the file with all
 * rows of a database.
 */
const ID = /(?<=\S) [0-9a-f]{32}(?:_all)?(?=\.[^./\s]+$|$)/i;

/** Tells whether the name of a file or folder ends with a Notion id. */
export function hasNotionId(name: string): boolean {
  return ID.test(name);
}

/** Removes the Notion id from the name of a file or folder, with or without extension. */
export function withoutNotionId(name: string): string {
  return name.replace(ID, '');
}

/**
 * Returns the readable name of a file or folder: removes the Notion id, and decodes characters that Azure DevOps and
 * Logseq encode.
 */
export function plainName(name: string): string {
  const plain = withoutNotionId(name);
  if (!/%[0-9A-F]{2}/.test(plain)) return plain;
  try {
    const decoded = decodeURIComponent(plain);
    return /\p{Cc}/u.test(decoded) ? plain : decoded;
  } catch {
    return plain;
  }
}

/**
 * Returns the name of the file with all rows of a database, given the file with the rows of one view; undefined for any
 * other file.
 */
export function allRowsOf(filename: string): string | undefined {
  const all = filename.replace(/( [0-9a-f]{32})(\.csv)$/i, '$1_all$2');
  return all === filename ? undefined : all;
}
