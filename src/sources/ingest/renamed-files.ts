import { normalizeName } from '@ibid/documents/links/find-file.ts';
import { folderOf } from '@ibid/markdown/page-links.ts';
import { pageSlugFrom } from '@ibid/markdown/slugs/page-slug.ts';
import type { Query } from '../../platform/db/db.ts';
import { type GoneFile, goneFiles, type PlannedUpload } from './sync-folder.ts';

interface FreshFile {
  filename: string;
  sha256: string;
}

/** A file that has a page, with its state in the previous upload. */
interface KnownFile extends FreshFile {
  before: { filename: string; sha256: string; page_id: string; path: string };
}

/**
 * Finds the missing and renamed files of a sync. `exchanged` has files that swapped names, `renamed` all other renames.
 * Files in `staying` keep the path of their page, because the names differ only in details that a path omits.
 */
export async function findMoved<File extends FreshFile>(
  query: Query,
  upload: PlannedUpload,
  files: readonly File[],
  knownPages: readonly (KnownFile['before'] | undefined)[],
  unknown: readonly File[],
) {
  const gone = await goneFiles(query, upload);
  const counts = Map.groupBy(files, ({ filename }) => filename);
  const known = files.flatMap(({ filename, sha256 }, i) => {
    const before = knownPages[i];
    return before && counts.get(filename)?.length === 1 ? [{ filename, sha256, before }] : [];
  });
  const exchanged = upload.is_sync ? exchangedFiles(gone, known, unknown) : new Map<string, never>();
  const given = new Set([...exchanged.values()].map(({ filename }) => filename));
  const others = unknown.filter(({ filename }) => !exchanged.has(filename));
  const renamed = renamedFiles(
    gone.filter(({ filename }) => !given.has(filename)),
    others,
  );
  const staying = new Map<File, GoneFile>();
  for (const file of others) {
    const before = renamed.get(file.filename);
    if (before && slugsOf(file.filename) === slugsOf(before.filename)) staying.set(file, before);
  }
  return { gone, exchanged, renamed, staying };
}

/** Returns the path segments that a filename leads to. */
function slugsOf(filename: string): string {
  const segments = filename.replace(/\.[^./]+$/, '').split('/');
  return segments.map((segment) => pageSlugFrom(segment, 'page')).join('/');
}

/**
 * Finds files and folders of a sync that had another name. A file matches a missing file if both are the only files
 * with their bytes, or with their name apart from case and accent composition. Folders of matched files match each
 * other, and so do files of equal names within them, even if their content changed. Divided documents never match,
 * because sections are identified by the filename.
 */
function renamedFiles(gone: readonly GoneFile[], fresh: readonly FreshFile[]): ReadonlyMap<string, GoneFile> {
  const files = gone.filter(({ kind, has_sections }) => kind === 'file' && !has_sections);
  const was = uniqueFiles(files);
  const renamed = new Map<string, GoneFile>();
  const folderWas = new Map<string, string>();
  for (const [sha256, { filename }] of uniqueFiles(fresh)) {
    const before = was.get(sha256);
    if (!before) continue;
    renamed.set(filename, before);
    noteFolders(folderWas, filename, before.filename);
  }
  const left = new Map(gone.map((each) => [each.filename, each]));
  for (const { filename } of renamed.values()) left.delete(filename);
  for (const [filename, before] of matchIgnoringCase(
    files.filter(({ filename }) => left.has(filename)),
    fresh.filter(({ filename }) => !renamed.has(filename)),
  )) {
    renamed.set(filename, before);
    left.delete(before.filename);
    noteFolders(folderWas, filename, before.filename);
  }
  const isLeft = new Set([...files.map(({ filename }) => filename), ...folderWas.values()]);
  const takeNamed = (filename: string, name: string) => {
    const before = left.get(name);
    if (!before || !isLeft.has(name) || renamed.has(filename)) return;
    renamed.set(filename, before);
    left.delete(name);
  };
  for (const { filename } of fresh) {
    const folder = folderWas.get(folderOf(filename));
    if (folder !== undefined) takeNamed(filename, `${folder}/${filename.slice(filename.lastIndexOf('/') + 1)}`);
  }
  for (const [folder, before] of folderWas) takeNamed(folder, before);
  return renamed;
}

/** Records the renamed folder of a file, and its parents as long as their names are equal. The first match wins. */
function noteFolders(folderWas: Map<string, string>, filename: string, before: string): void {
  const last = (path: string) => path.slice(path.lastIndexOf('/') + 1);
  let [now, was] = [folderOf(filename), folderOf(before)];
  while (now !== was && now !== '' && was !== '') {
    if (!folderWas.has(now)) folderWas.set(now, was);
    if (last(now) !== last(was)) return;
    [now, was] = [folderOf(now), folderOf(was)];
  }
}

/** Matches files whose names differ only in case and accent composition. */
function matchIgnoringCase(gone: readonly GoneFile[], fresh: readonly FreshFile[]): [string, GoneFile][] {
  const was = uniqueFiles(gone, nameOf);
  return [...uniqueFiles(fresh, nameOf)].flatMap(([name, { filename }]): [string, GoneFile][] => {
    const before = was.get(name);
    return before ? [[filename, before]] : [];
  });
}

function nameOf({ filename }: { filename: string }): string {
  return normalizeName(filename);
}

/**
 * Finds files that swapped names, by their bytes, and returns for each the file whose page it takes over. The names
 * form cycles, or chains from a missing file to a new name, so that no page loses its place. Bytes that more than one
 * file has are ignored.
 */
function exchangedFiles(
  gone: readonly GoneFile[],
  known: readonly KnownFile[],
  fresh: readonly FreshFile[],
): ReadonlyMap<string, { filename: string; page_id: string; path: string }> {
  const changed = known.filter(({ sha256, before }) => before.sha256 !== sha256);
  const same = known.filter(({ sha256, before }) => before.sha256 === sha256);
  const were = gone.filter(({ kind, has_sections }) => kind === 'file' && !has_sections);
  const was = uniqueFiles([...were, ...changed.map(({ before }) => before)]);
  const now = uniqueFiles([...changed, ...fresh, ...same]);
  const isKnown = new Set(changed.map(({ filename }) => filename));
  const taken = new Map<string, { filename: string; page_id: string; path: string }>();
  for (const [sha256, { filename }] of now) {
    const before = was.get(sha256);
    if (before && before.filename !== filename) taken.set(filename, before);
  }
  // A file that keeps its page breaks the chain on both sides.
  const givenTo = new Map([...taken].map(([filename, before]) => [before.filename, filename]));
  const looked = [...taken.keys()];
  for (const filename of looked) {
    const before = taken.get(filename);
    if (!before) continue;
    const losesPlace = isKnown.has(filename) && !givenTo.has(filename);
    if (!losesPlace && (!isKnown.has(before.filename) || taken.has(before.filename))) continue;
    taken.delete(filename);
    givenTo.delete(before.filename);
    looked.push(before.filename, givenTo.get(filename) ?? '');
  }
  // Chains without a known file are plain renames.
  const isRenamedOnly = (filename: string, before: string) => !isKnown.has(filename) && !isKnown.has(before);
  for (const [filename, before] of taken) if (isRenamedOnly(filename, before.filename)) taken.delete(filename);
  return taken;
}

function uniqueFiles<File extends { sha256: string; filename: string }>(
  files: readonly File[],
  keyOf: (file: File) => string = ({ sha256 }) => sha256,
): ReadonlyMap<string, File> {
  const byHash = Map.groupBy(files, keyOf);
  return new Map([...byHash].flatMap(([key, [file, ...more]]) => (file && more.length === 0 ? [[key, file]] : [])));
}
