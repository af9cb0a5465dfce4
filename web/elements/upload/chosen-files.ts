/** A file to upload; its name includes the path of its folders. */
export interface ChosenFile {
  name: string;
  file: File;
}

/** sync: the files are all of their folder. */
export type UploadMode = 'add' | 'sync';

/** `encoding`: what texts are in that are not UTF-8 and do not say what they are in; "" if that is unknown. */
export interface UploadOptions {
  mode: UploadMode;
  encoding: string;
}

/** Files of a folder that are left out: hidden files but `.order`, installed packages and system files. */
const IGNORED = /(?:^|\/)(?:\.(?!order$)[^/]+|node_modules|__MACOSX|Thumbs\.db)(?:\/|$)/;

export function filesOfInput({ files }: HTMLInputElement): ChosenFile[] {
  return [...(files ?? [])]
    .map((file) => ({ name: file.webkitRelativePath || file.name, file }))
    .filter(({ name }) => !IGNORED.test(name));
}

/** Dropped files, and all files in dropped folders. */
export async function filesOfDrop({ items, files }: DataTransfer): Promise<ChosenFile[]> {
  // The items are cleared when the event handler returns, so all entries are read before the first await.
  const entries = [...items].map((item) => item.webkitGetAsEntry()).filter((entry) => entry !== null);
  if (entries.length === 0) return [...files].map((file) => ({ name: file.name, file }));
  const found = await Promise.all(entries.map((entry) => filesIn(entry, '')));
  return found.flat().filter(({ name }) => !IGNORED.test(name));
}

async function filesIn(entry: FileSystemEntry, folder: string): Promise<ChosenFile[]> {
  const name = folder + entry.name;
  if (entry.isFile) {
    const file = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject));
    return [{ name, file }];
  }
  if (IGNORED.test(name)) return [];
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  const entries: FileSystemEntry[] = [];
  for (;;) {
    // readEntries() returns at most 100 entries for each call.
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) break;
    entries.push(...some);
  }
  return (await Promise.all(entries.map((below) => filesIn(below, `${name}/`)))).flat();
}
