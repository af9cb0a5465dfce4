/** A file to hand over, with the folders that it lies in. */
export interface ChosenFile {
  name: string;
  file: File;
}

/** What nobody means to hand over with a folder: what hides, and what packages leave behind. */
const IGNORED = /(?:^|\/)(?:\.[^/]+|node_modules|__MACOSX|Thumbs\.db)(?:\/|$)/;

export function filesOfInput({ files }: HTMLInputElement): ChosenFile[] {
  return [...(files ?? [])]
    .map((file) => ({ name: file.webkitRelativePath || file.name, file }))
    .filter(({ name }) => !IGNORED.test(name));
}

/** What was dropped, folders with all that is in them. */
export async function filesOfDrop({ items, files }: DataTransfer): Promise<ChosenFile[]> {
  // Entries are gone as soon as the event is over, so they are all taken before anything is waited for.
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
    // A browser gives the entries of a folder a hundred at a time.
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) break;
    entries.push(...some);
  }
  return (await Promise.all(entries.map((below) => filesIn(below, `${name}/`)))).flat();
}
