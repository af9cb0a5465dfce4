/** The id that Notion puts behind the names of files and, in older exports, of folders; `_all` is for all rows of a database. */
const ID = /(?<=\S) [0-9a-f]{32}(?:_all)?(?=\.[^./\s]+$|$)/i;

/** Whether the name of a file or folder ends with an id of Notion. */
export function hasNotionId(name: string): boolean {
  return ID.test(name);
}

/** A name of a file or folder, with or without its extension, without the id of Notion. */
export function withoutNotionId(name: string): string {
  return name.replace(ID, '');
}

/** The words of a name of a file or folder: without the id of Notion, and with the signs that Azure DevOps and Logseq encode. */
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

/** The file of all rows of a database, for the file of its rows as one view shows them; undefined for any other file. */
export function allRowsOf(filename: string): string | undefined {
  const all = filename.replace(/( [0-9a-f]{32})(\.csv)$/i, '$1_all$2');
  return all === filename ? undefined : all;
}
