import type { Extracted, UploadedFile } from './formats/extracted.ts';

export interface CompileInput extends UploadedFile {
  wiki_id: string;
  /** The path of the page, to which its links are relative. */
  page_path: string;
  /** The content of a document that was read in a separate process; `bytes` is empty then. */
  document?: Extracted;
  /** For ids (with the prefix) that are on other pages: the address of `#fragment`, relative to its page. */
  fragments?: ReadonlyMap<string, string>;
  /** The path of the site at which the root of the upload's folder is, with a slash at both ends; null if there is none. */
  site_root?: string | null;
  /** For a part of a document: the path of the whole document's page. */
  document_path?: string;
}
