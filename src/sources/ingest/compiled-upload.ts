import type { SentFile } from '../../platform/sandbox/rendering/responses.ts';
import type { CompileOutput } from '../../platform/sandbox/sandbox.ts';

export interface PendingFile {
  file_no: number;
  kind: 'file' | 'folder' | 'section';
  status: 'pending' | 'done' | 'failed';
  filename: string;
  content_type: string;
  byte_size: number;
  sha256: string;
  page_path: string;
  page_id: string;
  /** How often the service ended while it worked on the file. */
  attempts: number;
  /** The former filename if the page moves with its file, otherwise "". */
  renamed_from: string;
  /** The position of a new page; null means its file_no. */
  position: number | null;
  /** The file_no of the divided file that the section belongs to; null for whole files. */
  section_of: number | null;
}

/** A stored picture of a document, or file of the upload, that becomes an attachment when its page is written. */
export interface PlacedPicture {
  attachment_id: string;
  filename: string;
  content_type: string;
  byte_size: number;
  sha256: string;
  /** Set if the picture is a separate file of the upload: it can change while the page's own file stays the same. */
  isOfUpload?: true;
}

/** A file with its compilation result. A failed file also has a `page` if other pages are below it. */
export interface CompiledUploadFile {
  file: PendingFile;
  result: CompileOutput;
  page: SentFile | undefined;
  /** Stored pictures that the page shows and that are not attachments yet. */
  pictures: readonly PlacedPicture[];
  /** file_nos of the upload's files that the page shows or links to as attachments. */
  shown?: readonly number[];
  /** All sections of a divided file. Their rows are inserted before the first section is written. */
  sections?: readonly PendingFile[];
}

export interface UploadWrite {
  wiki_id: string;
  upload_id: string;
  /** The user who uploaded, recorded as the author of all changes. */
  creator: string;
}

export interface Merged {
  /** The page that was merged with. A later edit or move makes the merge invalid. */
  present: ExistingPage;
  /** Undefined for a conflict: users and the file changed the same places, and nothing is written. */
  page: SentFile | undefined;
}

/** The merges of a batch, by page id. */
export interface Merges {
  of: ReadonlyMap<string, Merged>;
  /**
   * Whether this is the last attempt: pages that were edited after the merge are left unchanged instead of merged
   * again.
   */
  isLast: boolean;
}

/** The current state of a page that an upload writes again. */
export interface ExistingPage {
  page_id: string;
  path: string;
  is_trashed: boolean;
  revision: number;
  title: string;
  is_edited: boolean;
  /** For an edited page: its text, the folder that its links start from, and whether it has relative links. */
  markdown: string;
  folder: string;
  has_links: boolean;
  /** The last upload's version of the page, the base of a merge. */
  base_title: string;
  base_markdown: string;
  /** Whether the base is stored in page_bases, and not in a revision. */
  has_base: boolean;
  /** The SHA-256 of its text in hexadecimal digits. */
  text_hash: string;
  /**
   * Whether the page's source has the same bytes, no other file has rewritten the page since, and all links already
   * resolve to the right pages.
   */
  is_same_file: boolean;
}

/** Replaces attachment ids in the Markdown, the HTML and the citation targets of a page. */
export function withAttachmentIds<T extends Pick<SentFile, 'markdown' | 'html' | 'citations'>>(
  page: T,
  withIds: (text: string) => string,
): T {
  const citations = { ...page.citations, targets: page.citations.targets.map(withIds) };
  return { ...page, markdown: withIds(page.markdown), html: withIds(page.html), citations };
}
