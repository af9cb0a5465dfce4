import { hasNotionId, withoutNotionId } from './notion-names.ts';

/** The extensions of texts that can be the page of a folder by their name, in order of precedence. */
const EXTENSIONS = ['md', 'markdown', 'mdx', 'html', 'htm', 'adoc', 'asciidoc', 'txt'];

const INDEX = /^(?:index|readme)\.[^./]+$/i;

/**
 * Finds the file that is the page of each folder, the first of:
 *
 * - `index.md` or `README.md` in the folder.
 * - A text next to the folder with the same name (`guide.md` and `guide/`), as other wikis write trees.
 * - A text in the folder with the same name (`Guide/Guide.md`).
 *
 * Returns indexes of `filenames` by folder name. Folders without such a file are omitted.
 */
export function folderPageFiles(filenames: readonly string[]): Map<string, number> {
  const pages = new Map<string, number>();
  const folders = new Set<string>();
  for (const [i, filename] of filenames.entries()) {
    for (const folder of foldersOf(filename)) folders.add(folder);
    const { folder, name } = partsOf(filename);
    if (folder !== '' && INDEX.test(name) && !pages.has(folder)) pages.set(folder, i);
  }
  const texts = textsByName(filenames);
  const claimed = new Set<number>();
  const claim = (folder: string, within: string, isSame: (stem: string, name: string) => boolean) => {
    if (pages.has(folder)) return;
    const { name } = partsOf(folder);
    const found = texts
      .get(joined(within, nameKey(name)))
      ?.find(({ i, stem }) => !claimed.has(i) && isSame(stem, name));
    if (!found) return;
    claimed.add(found.i);
    pages.set(folder, found.i);
  };
  const exactly = (stem: string, name: string) => stem === name;
  for (const isSame of [exactly, () => true]) {
    for (const folder of folders) claim(folder, partsOf(folder).folder, isSame);
  }
  for (const isSame of [exactly, () => true]) for (const folder of folders) claim(folder, folder, isSame);
  return pages;
}

/** Normalizes a name for comparison with a folder name: ignores case, accents, the kind of space, and Notion's id. */
export function nameKey(name: string): string {
  const plain = withoutNotionId(name).normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  return plain.replace(/[\s_-]+/g, ' ').trim() || name;
}

interface NamedText {
  /** The index in the list of files. */
  i: number;
  stem: string;
  rank: number;
}

/** Groups the texts that can be the page of a folder by their folder and the key of their name. */
function textsByName(filenames: readonly string[]): Map<string, NamedText[]> {
  const texts = new Map<string, NamedText[]>();
  for (const [i, filename] of filenames.entries()) {
    const { folder, name } = partsOf(filename);
    const [, stem = '', extension = ''] = /^(.+)\.([^.]+)$/.exec(name) ?? [];
    // A Notion database is a table, with a page for each row in the folder of the same name.
    const isDatabase = extension.toLowerCase() === 'csv' && hasNotionId(name);
    const rank = isDatabase ? EXTENSIONS.length : EXTENSIONS.indexOf(extension.toLowerCase());
    if (rank < 0 || (INDEX.test(name) && folder !== '')) continue;
    const key = joined(folder, nameKey(stem));
    const same = texts.get(key) ?? [];
    texts.set(key, same);
    same.push({ i, stem, rank });
  }
  for (const same of texts.values()) same.sort((a, b) => a.rank - b.rank || a.i - b.i);
  return texts;
}

/** Returns the parent folders of a file, outermost first. */
export function foldersOf(filename: string): string[] {
  const segments = filename.split('/').slice(0, -1);
  return segments.map((_, i) => segments.slice(0, i + 1).join('/'));
}

function partsOf(path: string): { folder: string; name: string } {
  const at = path.lastIndexOf('/');
  return { folder: at < 0 ? '' : path.slice(0, at), name: path.slice(at + 1) };
}

function joined(folder: string, name: string): string {
  return folder === '' ? name : `${folder}/${name}`;
}
