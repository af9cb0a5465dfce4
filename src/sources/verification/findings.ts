/** Kinds of findings; more may be added. */
export const FINDING_KINDS = [
  'file_missing',
  'file_altered',
  'file_unreadable',
  'read_otherwise',
  'record_altered',
  'losses_altered',
  'text_altered',
  'citations_altered',
  'citations_missing',
  'html_altered',
  'markdown_altered',
  'page_altered',
  'outline_altered',
  'page_text_altered',
  'attachment_altered',
] as const;
export type FindingKind = (typeof FINDING_KINDS)[number];

/** A difference from the compiled state. `page_id` is "" if the finding concerns the source itself. */
export interface Finding {
  kind: FindingKind;
  page_id: string;
  /** A sentence for users. */
  message: string;
}

export function finding(kind: FindingKind, message: string, page_id = ''): Finding {
  return { kind, page_id, message };
}
