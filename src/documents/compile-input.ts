import type { Extracted, UploadedFile } from './formats/extract.ts';

export interface CompileInput extends UploadedFile {
  wiki_id: string;
  /** Where the page will be, from which its links are written. */
  page_path: string;
  /** What a document holds that was read before, apart from here; its `bytes` are then empty. */
  document?: Extracted;
  /** Where `#fragment`, an id under the prefix, leads to if that is not in this text: addresses from its page. */
  fragments?: ReadonlyMap<string, string>;
  /** Of a part of a document: where the page of the whole is. */
  document_path?: string;
}
