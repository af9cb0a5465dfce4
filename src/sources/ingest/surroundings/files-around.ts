import {
  ATTACHMENT_PREFIX,
  EARLIER_UPLOAD_PREFIX,
  type Linking,
  normalizeName,
} from '@ibid/documents/links/find-file.ts';
import { newId } from '../../../platform/core/ids.ts';
import type { Query } from '../../../platform/db/db.ts';
import { type AttachedFile, attachedFiles } from './attached-files.ts';
import { type Asked, askedBy, earlierAttached, earlierPages, linkedPaths } from './earlier-files.ts';

/** An upload of more files reads the names of all earlier ones at once: one statement costs less than one for each file. */
const FEW_FILES = 20;

/** Of a file with more references all names are read. */
const NAMES_MAX = 20_000;

/** The files that references can lead to: by their names their pages, or placeholders of `attached` files. */
export interface FilesAround {
  wiki_id: string;
  pages: ReadonlyMap<string, string>;
  attached: ReadonlyMap<string, AttachedFile>;
  /** Where absolute links begin: see CompileInput. */
  site_root: string | null;
}

/** A file of the upload, and the references in its text that may lead to files (see `relink`). */
interface Referring {
  file: Pick<Linking, 'filename' | 'page_path'>;
  references: readonly string[];
}

/** The files around those of an upload, as far as they were asked for: its own, and those of earlier uploads. */
export interface KnownFiles {
  /** Those that are known now. */
  known(): FilesAround;
  /** Learns of the earlier files that these refer to. */
  include(files: readonly Referring[]): Promise<void>;
  /** Learns of all earlier files. */
  includeAll(): Promise<void>;
  /** Adds other names of pages; files of these names come before them. */
  addNames(pages: ReadonlyMap<string, string>): void;
}

/** `planned`: where the files and folders of the upload will be, by their names. */
export async function openFilesAround(
  query: Query,
  upload: { wiki_id: string; upload_id: string },
  planned: ReadonlyMap<string, string>,
  site_root: string | null,
): Promise<KnownFiles> {
  const { wiki_id } = upload;
  const own = await attachedFiles(query, upload);
  const linked = await linkedPaths(query, wiki_id, planned);
  let around: FilesAround = { wiki_id, pages: withAttached(linked, own), attached: own, site_root };
  let asksAll: Promise<void> | undefined;

  async function learn(asked: Asked): Promise<void> {
    const pages = await earlierPages(query, upload, asked);
    const files = await earlierAttached(query, upload, asked);
    const fresh = new Map(around.pages);
    for (const [filename, path] of pages) {
      if (!planned.has(filename)) fresh.set(EARLIER_UPLOAD_PREFIX + filename, path);
    }
    const attached = new Map(around.attached);
    for (const file of files) {
      const name = EARLIER_UPLOAD_PREFIX + file.filename;
      if (attached.has(name) || own.has(file.filename)) continue;
      attached.set(name, { ...file, file_no: null, placeholder: newId('attachment') });
    }
    if (fresh.size === around.pages.size && attached.size === around.attached.size) return;
    // Another object, since what is known of names is kept beside the maps, and they are sent to processes once.
    around = { ...around, pages: withAttached(fresh, attached), attached };
  }

  const all = () => (asksAll ??= learn('all'));
  if (planned.size > FEW_FILES) await all();
  return {
    known: () => around,
    includeAll: all,
    addNames(pages) {
      // In this order, so that of names which differ in case or extension alone those of files are found.
      if (pages.size > 0) around = { ...around, pages: new Map([...around.pages, ...without(pages, around.pages)]) };
    },
    async include(files) {
      if (asksAll) return asksAll;
      const asked = files.map(({ file, references }) => askedBy({ ...file, site_root }, references, around.pages));
      const names = new Set(asked.flatMap((each) => each.names).filter((name) => !planned.has(name)));
      const ends = new Set(asked.flatMap((each) => each.ends));
      return names.size + ends.size > NAMES_MAX ? all() : learn({ names: [...names], ends: [...ends] });
    },
  };
}

/** The pages whose names no other page has, with or without the extension of a text. */
function without(pages: ReadonlyMap<string, string>, others: ReadonlyMap<string, string>): [string, string][] {
  const nameOf = (filename: string) =>
    normalizeName(filename.slice(filename.lastIndexOf('/') + 1).replace(/\.(?:md|markdown|mdx|txt|html?)$/i, ''));
  const taken = new Set([...others.keys()].map(nameOf));
  return [...pages].filter(([name]) => !taken.has(nameOf(name)));
}

function withAttached(
  pages: ReadonlyMap<string, string>,
  attached: ReadonlyMap<string, AttachedFile>,
): ReadonlyMap<string, string> {
  const all = new Map(pages);
  for (const [name, { placeholder }] of attached) {
    if (!all.has(name)) all.set(name, ATTACHMENT_PREFIX + placeholder);
  }
  return all;
}
