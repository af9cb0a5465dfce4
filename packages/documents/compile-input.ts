import type { Extracted, UploadedFile } from './formats/extracted.ts';

export interface CompileInput extends UploadedFile {
  wiki_id: string;
  /** The path of the page, to which its links are relative. */
  page_path: string;
  /** The content of a document that was read in a separate process; `bytes` is empty then. */
  document?: Extracted;
  /** Addresses of `#fragment` links whose ids (with the prefix) are on other pages, relative to this page. */
  fragments?: ReadonlyMap<string, string>;
  /**
   * The path on the site that corresponds to the root of the upload's folder, with a slash at both ends; null if unset.
   */
  site_root?: string | null;
  /** For a part of a document, the path of the whole document's page. */
  document_path?: string;
}
