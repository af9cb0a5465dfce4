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
  /** How often the service ended while it was being worked on. */
  attempts: number;
  /** The name that it had before, if its page moves with it; else "". */
  renamed_from: string;
  /** The position of its page, if that is new; null: its file_no. */
  position: number | null;
  /** Of a section the file_no of its file; else null. */
  section_of: number | null;
}

/** A picture of a document, or a file of the upload, that is stored and becomes an attachment of its page when that is written. */
export interface PlacedPicture {
  attachment_id: string;
  filename: string;
  content_type: string;
  byte_size: number;
  sha256: string;
  /** Whether it is a file of an upload, and not part of the page's file, which can be the same without it. */
  isOfUpload?: true;
}

/** A file and what became of it. `page` is also there for a failed file that other pages lie under. */
export interface CompiledUploadFile {
  file: PendingFile;
  result: CompileOutput;
  page: SentFile | undefined;
  /** What the page shows and is not stored as an attachment yet. */
  pictures: readonly PlacedPicture[];
  /** The file_nos of files of the upload that the page shows or links to as attachments. */
  shown?: readonly number[];
  /** Of a file that was divided all its sections, which need their rows before the first of them is written. */
  sections?: readonly PendingFile[];
}

export interface UploadWrite {
  wiki_id: string;
  upload_id: string;
  /** The user who uploaded: whatever the upload makes is made by them. */
  creator: string;
}

/** What comes of a page that people edited and whose file has changed. */
export interface Merged {
  /** The page that was merged with: of another revision, or at another path, it is another one. */
  present: ExistingPage;
  /** Undefined where people and the file changed the same places: then nothing is written. */
  page: SentFile | undefined;
}

/** What was merged of a batch, by the page. */
export interface Merges {
  of: ReadonlyMap<string, Merged>;
  /** Whether a page that people edited after it was merged is left as it is, instead of merged again. */
  isLast: boolean;
}

/** A page that an upload comes to again, as it is now. */
export interface ExistingPage {
  page_id: string;
  path: string;
  is_trashed: boolean;
  revision: number;
  title: string;
  /** Whether the present revision has something that people wrote. */
  is_edited: boolean;
  /** Of an edited page: its text, the folder that the addresses in it start from, and whether there are any. */
  markdown: string;
  folder: string;
  has_links: boolean;
  /** What an upload last made of it, which people started from. */
  base_title: string;
  base_markdown: string;
  /** Whether that is in page_bases, and not in a revision. */
  has_base: boolean;
  /** The SHA-256 of its text, in hexadecimal digits. */
  text_hash: string;
  /** Whether its source has the bytes of the file, no other file has rewritten the page since, and all links of the file lead to their pages already. */
  is_same_file: boolean;
}

/** A page whose attachments have other ids wherever it names them: in its text, as it is shown, and in what its blocks show. */
export function withAttachmentIds<T extends Pick<SentFile, 'markdown' | 'html' | 'citations'>>(
  page: T,
  withIds: (text: string) => string,
): T {
  const citations = { ...page.citations, targets: page.citations.targets.map(withIds) };
  return { ...page, markdown: withIds(page.markdown), html: withIds(page.html), citations };
}
