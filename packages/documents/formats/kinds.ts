/** The supported formats: `read-text.ts` reads texts, and a process without network and files reads the others. */
const TEXT_KINDS = ['markdown', 'text', 'html', 'csv'] as const;
export const DOCUMENT_KINDS = [
  'pdf',
  'docx',
  'epub',
  'ipynb',
  'eml',
  'asciidoc',
  'pptx',
  'xlsx',
  'odt',
  'ods',
  'odp',
  'rtf',
  'msg',
] as const;
export const KINDS = [...TEXT_KINDS, ...DOCUMENT_KINDS] as const;

export type TextKind = (typeof TEXT_KINDS)[number];
export type DocumentKind = (typeof DOCUMENT_KINDS)[number];
export type Kind = (typeof KINDS)[number];
