import { normalizeName } from '@ibid/documents/links/find-file.ts';
import { folderOf } from '@ibid/markdown/page-links.ts';
import { pageSlugFrom } from '@ibid/markdown/slugs/page-slug.ts';
import type { Query } from '../../platform/db/db.ts';
import { type GoneFile, goneFiles, type PlannedUpload } from './sync-folder.ts';

/** A file that has no page yet. */
interface FreshFile {
  filename: string;
  sha256: string;
}

/** A file that has one, and what it was in the upload before. */
interface KnownFile extends FreshFile {
  before: { filename: string; sha256: string; page_id: string; path: string };
}

/**
 * The files of a sync that are gone, and those that have other names than before: those that have the names of one another, the others, and those
 * whose pages stay where they are, because the names differ in what a path does not say.
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

/** What the path of a page has of the name of its file. */
function slugsOf(filename: string): string {
  const segments = filename.replace(/\.[^./]+$/, '').split('/');
  return segments.map((segment) => pageSlugFrom(segment, 'page')).join('/');
}

/**
 * The files and folders of a sync that were in the folder under another name. A file is another one's if both are the only
 * ones of their bytes, or of their names without regard to case and the form of accents. The folders of such files are each
 * other's, and so are files of one name in them, although they have changed. A document that was divided is none, because
 * its sections have its name.
 */
function renamedFiles(gone: readonly GoneFile[], fresh: readonly FreshFile[]): ReadonlyMap<string, GoneFile> {
  const files = gone.filter(({ kind, has_sections }) => kind === 'file' && !has_sections);
  const was = onlyOnes(files);
  const renamed = new Map<string, GoneFile>();
  const folderWas = new Map<string, string>();
  for (const [sha256, { filename }] of onlyOnes(fresh)) {
    const before = was.get(sha256);
    if (!before) continue;
    renamed.set(filename, before);
    noteFolders(folderWas, filename, before.filename);
  }
  const left = new Map(gone.map((each) => [each.filename, each]));
  for (const { filename } of renamed.values()) left.delete(filename);
  for (const [filename, before] of writtenOtherwise(
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

/** The folder of a renamed file, and those above it for as long as their names are the same. The first one counts. */
function noteFolders(folderWas: Map<string, string>, filename: string, before: string): void {
  const last = (path: string) => path.slice(path.lastIndexOf('/') + 1);
  let [now, was] = [folderOf(filename), folderOf(before)];
  while (now !== was && now !== '' && was !== '') {
    if (!folderWas.has(now)) folderWas.set(now, was);
    if (last(now) !== last(was)) return;
    [now, was] = [folderOf(now), folderOf(was)];
  }
}

/** The files whose names are the same but for case and the form of accents. */
function writtenOtherwise(gone: readonly GoneFile[], fresh: readonly FreshFile[]): [string, GoneFile][] {
  const was = onlyOnes(gone, nameOf);
  return [...onlyOnes(fresh, nameOf)].flatMap(([name, { filename }]): [string, GoneFile][] => {
    const before = was.get(name);
    return before ? [[filename, before]] : [];
  });
}

function nameOf({ filename }: { filename: string }): string {
  return normalizeName(filename);
}

/**
 * The files that have the bytes and the names of one another: for each the file whose page it takes. Each name that there was
 * before is given on, so that no page loses its place: a chain from a file that is gone to a name that is new, or a circle.
 * Bytes that more than one file has tell nothing.
 */
function exchangedFiles(
  gone: readonly GoneFile[],
  known: readonly KnownFile[],
  fresh: readonly FreshFile[],
): ReadonlyMap<string, { filename: string; page_id: string; path: string }> {
  const changed = known.filter(({ sha256, before }) => before.sha256 !== sha256);
  const same = known.filter(({ sha256, before }) => before.sha256 === sha256);
  const were = gone.filter(({ kind, has_sections }) => kind === 'file' && !has_sections);
  const was = onlyOnes([...were, ...changed.map(({ before }) => before)]);
  const now = onlyOnes([...changed, ...fresh, ...same]);
  const isKnown = new Set(changed.map(({ filename }) => filename));
  const taken = new Map<string, { filename: string; page_id: string; path: string }>();
  for (const [sha256, { filename }] of now) {
    const before = was.get(sha256);
    if (before && before.filename !== filename) taken.set(filename, before);
  }
  // A file that keeps its page breaks the chain on both of its sides.
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
  // What has no known file in it is only renamed.
  const isRenamedOnly = (filename: string, before: string) => !isKnown.has(filename) && !isKnown.has(before);
  for (const [filename, before] of taken) if (isRenamedOnly(filename, before.filename)) taken.delete(filename);
  return taken;
}

function onlyOnes<File extends { sha256: string; filename: string }>(
  files: readonly File[],
  keyOf: (file: File) => string = ({ sha256 }) => sha256,
): ReadonlyMap<string, File> {
  const byHash = Map.groupBy(files, keyOf);
  return new Map([...byHash].flatMap(([key, [file, ...more]]) => (file && more.length === 0 ? [[key, file]] : [])));
}
