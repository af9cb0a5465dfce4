import { isHidden, isSystemFile, mentionedFiles } from '@ibid/documents/hidden-files.ts';

/** A file to upload; its name includes the path of its folders. */
export interface ChosenFile {
  name: string;
  file: File;
}

/** sync: the files are the complete content of their folder. */
export type UploadMode = 'add' | 'sync';

/** `encoding`: the encoding of texts that are not UTF-8 and do not declare one; "" if unknown. */
export interface UploadOptions {
  mode: UploadMode;
  encoding: string;
}

/** The chosen files, and the names of files and folders that are not sent. */
export interface Chosen {
  files: ChosenFile[];
  left_out: string[];
}

/** Installed packages, which do not belong in a wiki. */
const PACKAGES = /(?:^|\/)node_modules\//;

/** Texts that can embed or link to hidden files, and the maximum size of a text to scan, in bytes. */
const TEXT_NAME = /\.(?:md|markdown|mdx|html?|txt|adoc|asciidoc)$/i;
const TEXT_MAX = 2 ** 21;

export function filesOfInput({ files }: HTMLInputElement): Promise<Chosen> {
  return withoutHidden([...(files ?? [])].map((file) => ({ name: file.webkitRelativePath || file.name, file })));
}

/** Returns dropped files, and all files in dropped folders. */
export async function filesOfDrop({ items, files }: DataTransfer): Promise<Chosen> {
  // The items are cleared when the event handler returns, so all entries are read before the first await.
  const entries = [...items].map((item) => item.webkitGetAsEntry()).filter((entry) => entry !== null);
  if (entries.length === 0) return withoutHidden([...files].map((file) => ({ name: file.name, file })));
  const ignored: string[] = [];
  const found = await Promise.all(entries.map((entry) => filesIn(entry, '', ignored)));
  const chosen = await withoutHidden(found.flat());
  return { ...chosen, left_out: [...ignored, ...chosen.left_out] };
}

/** Drops hidden files unless a text embeds or links to them, because hidden folders may contain secrets. */
async function withoutHidden(all: readonly ChosenFile[]): Promise<Chosen> {
  const mentioned = mentionedFiles();
  if (all.some(({ name }) => isHidden(name) && !isIgnored(name))) {
    for (const { name, file } of all) {
      if (!TEXT_NAME.test(name) || isHidden(name) || isIgnored(name) || file.size > TEXT_MAX) continue;
      mentioned.read(await file.text());
    }
  }
  const isSent = ({ name }: ChosenFile) => !isIgnored(name) && (!isHidden(name) || mentioned.isMentioned(name));
  return { files: all.filter(isSent), left_out: all.filter((each) => !isSent(each)).map(({ name }) => name) };
}

/** Returns whether a file belongs to the operating system or to an installed package. */
export function isIgnored(name: string): boolean {
  return PACKAGES.test(name) || isSystemFile(name);
}

async function filesIn(entry: FileSystemEntry, folder: string, ignored: string[]): Promise<ChosenFile[]> {
  const name = folder + entry.name;
  if (entry.isFile) {
    const file = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject));
    return [{ name, file }];
  }
  if (isIgnored(`${name}/`)) {
    ignored.push(`${name}/`);
    return [];
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  const entries: FileSystemEntry[] = [];
  for (;;) {
    // readEntries() returns at most 100 entries for each call.
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) break;
    entries.push(...some);
  }
  return (await Promise.all(entries.map((below) => filesIn(below, `${name}/`, ignored)))).flat();
}
