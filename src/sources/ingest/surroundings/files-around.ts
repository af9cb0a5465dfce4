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

/** Larger uploads load all earlier names at once, because one statement is cheaper than one per file. */
const FEW_FILES = 20;

/** A file with more references loads all names. */
const NAMES_MAX = 20_000;

/** The files that references can resolve to: page paths by filename, or placeholders of `attached` files. */
export interface FilesAround {
  wiki_id: string;
  pages: ReadonlyMap<string, string>;
  attached: ReadonlyMap<string, AttachedFile>;
  /** The folder that absolute links start from: see CompileInput. */
  site_root: string | null;
}

/** A file of the upload, and the references in its text that may mean files (see `relink`). */
interface Referring {
  file: Pick<Linking, 'filename' | 'page_path'>;
  references: readonly string[];
}

/** Files that an upload can link to, its own and earlier ones; loaded on demand. */
export interface KnownFiles {
  known(): FilesAround;
  /** Loads the earlier files that these references may mean. */
  include(files: readonly Referring[]): Promise<void>;
  includeAll(): Promise<void>;
  /** Adds aliases of pages; filenames take precedence over aliases. */
  addNames(pages: ReadonlyMap<string, string>): void;
}

/** `planned` maps the upload's files and folders to their paths. */
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
    // Create a new object: derived data is cached by these maps, and they are sent to each sandbox process only once.
    around = { ...around, pages: withAttached(fresh, attached), attached };
  }

  const all = () => (asksAll ??= learn('all'));
  if (planned.size > FEW_FILES) await all();
  return {
    known: () => around,
    includeAll: all,
    addNames(pages) {
      // Append aliases, so that a filename wins if the names differ only in case or extension.
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

/** Omits names that another page has, ignoring text extensions. */
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
