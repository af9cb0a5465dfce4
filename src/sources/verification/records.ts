import type { Loss } from '@ibid/documents/formats/losses.ts';
import type { CitationRow } from '../records/cited-blocks.ts';
import type { Attachment } from './check-attachments.ts';
import type { StoredPage } from './check-page.ts';
import type { StoredRecord } from './check-record.ts';
import type { Finding } from './findings.ts';
import type { StoredFile } from './reread-file.ts';

/** A source as it is stored. */
export interface StoredSource extends StoredFile {
  title: string;
  /** The type that was found when the file was read. */
  detected_type: string;
  language: string;
  text: string;
  extractor_version: number;
  losses: readonly Loss[];
  loss_count: number;
  losses_to_review: number;
  file_characters: number;
  /** Whether its upload has a file of its name that became it. */
  is_of_upload: boolean;
  /** The ids of pages that were made from it, count a source, and cite none. */
  unlinked: readonly string[];
}

/** A page of a source with what was compiled of it. `file`: the name of the file that it was compiled from. */
export interface CitingPage extends StoredPage, StoredRecord, CitationRow {
  file: string;
  attachments: readonly Attachment[];
}

/** What was found of a source. */
export interface CheckedSource {
  file: 'intact' | 'altered' | 'missing';
  /** Whether the text is what the file says when it is read now; not_read: the file is beyond a limit, or not intact. */
  text: 'unchanged' | 'altered' | 'read_otherwise' | 'not_read';
  /** Whether a reading met a limit of time or memory, when it was uploaded or now. */
  limited: boolean;
  /** The version that would read the file now; 0 where it was not read. */
  current_extractor_version: number;
  citations: number;
  /** Those whose quote has its hash, and that a page says unchanged. */
  verified: number;
  /** Of those, the ones that stand in another context. */
  in_other_context: number;
  /** Those that people have edited or removed. */
  edited: number;
  rendered_pages: number;
  stale_pages: string[];
  findings: Finding[];
}
