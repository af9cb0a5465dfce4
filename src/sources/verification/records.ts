import type { Loss } from '@ibid/documents/formats/losses.ts';
import type { CitationRow } from '../records/cited-blocks.ts';
import type { Attachment } from './check-attachments.ts';
import type { StoredPage } from './check-page.ts';
import type { StoredRecord } from './check-record.ts';
import type { Finding } from './findings.ts';
import type { StoredFile } from './reread-file.ts';

/** A source with its text, from the database. */
export interface StoredSource extends StoredFile {
  title: string;
  /** The content type that was detected when the file was read. */
  detected_type: string;
  language: string;
  text: string;
  extractor_version: number;
  losses: readonly Loss[];
  loss_count: number;
  losses_to_review: number;
  file_characters: number;
  /** Whether its upload has a file of the same name that became this source. */
  is_of_upload: boolean;
  /** Ids of pages that were made from the source and count a source, but have no citations. */
  unlinked: readonly string[];
}

/** A page with its citations of the source. `file` is the name of the file that the page was compiled from. */
export interface CitingPage extends StoredPage, StoredRecord, CitationRow {
  file: string;
  attachments: readonly Attachment[];
}

export interface CheckedSource {
  file: 'intact' | 'altered' | 'missing';
  /** Whether re-reading the file produces the stored text. not_read: the file exceeds a limit or is not intact. */
  text: 'unchanged' | 'altered' | 'read_otherwise' | 'not_read';
  /** Whether a reading met a time or memory limit, at upload or now. */
  limited: boolean;
  /** The extractor version that read the file now; 0 if the file was not read. */
  current_extractor_version: number;
  citations: number;
  /** Citations whose quote has its hash and that a page shows unchanged. */
  verified: number;
  /** Verified citations that appear in another context, for example below another heading. */
  in_other_context: number;
  /** Citations that were edited or removed. */
  edited: number;
  rendered_pages: number;
  stale_pages: string[];
  findings: Finding[];
}
