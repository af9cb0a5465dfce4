import type { ExtractedDocument, UploadedFile } from './extracted.ts';
import type { DocumentKind, Kind, TextKind } from './kinds.ts';
import { assertUnpacks, type ZipEntry } from './zip/zip.ts';

interface Described {
  /** As messages call its files. */
  name: string;
  /** Without the dot; the usual one first. */
  extensions: readonly string[];
  /** The one that a source has first, then others that a client may declare. */
  media_types: readonly [string, ...string[]];
  /** For the README: where its code is, what its characters are counted in, and what is listed as lost. */
  folder: string;
  counted_in: string;
  listed_as_lost: string;
}

/** A format whose files are text: `read-text.ts` converts them, in the process that renders. */
export interface TextFormat extends Described {
  kind: TextKind;
  /** Of a larger file the beginning is read, `beginning` bytes. */
  bytes_max: number;
  beginning: number;
}

/** A file for `read`. `entries`: what it holds, if it is packed as ZIP. */
export interface DocumentFile extends UploadedFile {
  entries: readonly ZipEntry[];
}

/** A format that is parsed in a process without network and files, which has its parser loaded when it is needed. */
export interface DocumentFormat extends Described {
  kind: DocumentKind;
  /** How its files begin, in Latin-1, whatever they are called. Without one the name or the declared type decides. */
  signature?: string;
  /** Whether other formats have the signature, too, so that the name or declared type decides. */
  needs_name?: boolean;
  /** Whether readers of the format look for the signature at the start of a line, too, in the first 1,024 bytes. */
  has_preamble?: boolean;
  /** For files that are packed as ZIP: the name of the entry that no other format has. */
  entry?: RegExp;
  /** How the file `mimetype` of a package begins, where several formats have the entry. */
  mimetype?: string;
  /** Throws an ExtractError. */
  read(file: DocumentFile): Promise<ExtractedDocument>;
}

export type Format = TextFormat | DocumentFormat;

/** The limit of the unpacked size of a Word document; real ones have a few megabytes of text. */
const MAX_UNPACKED_BYTES = 256 * 2 ** 20;

/** The limits of files: most of an HTML file is not text; UTF-16 takes two bytes where UTF-8 takes one. */
const MIB = 2 ** 20;

/** Every format that is read: what is not in this list does not exist. The table of the README is made of it. */
export const FORMATS: readonly Format[] = [
  {
    kind: 'markdown',
    name: 'Markdown',
    extensions: ['md', 'markdown', 'mdown', 'mkd', 'mdx'],
    media_types: ['text/markdown', 'text/x-markdown'],
    folder: '`markdown/`',
    counted_in: "the page's text and what is listed as lost",
    listed_as_lost:
      'text beyond 8 MiB, comments, unused front matter, code of MDX, scripts, frames and pictures in HTML, embedded pages',
    bytes_max: 16 * MIB,
    beginning: 16 * MIB,
  },
  {
    kind: 'text',
    name: 'plain text',
    extensions: ['txt'],
    media_types: ['text/plain'],
    folder: '`text/`',
    counted_in: 'the text',
    listed_as_lost: 'text beyond 8 MiB',
    bytes_max: 16 * MIB,
    beginning: 16 * MIB,
  },
  {
    kind: 'html',
    name: 'HTML',
    extensions: ['html', 'htm', 'xhtml'],
    media_types: ['text/html', 'application/xhtml+xml'],
    folder: '`html/`',
    counted_in: 'text nodes',
    listed_as_lost: 'navigation, scripts, hidden elements, forms; of more than 8 MiB what follows the first 2',
    bytes_max: 8 * MIB,
    // Pictures within it are not counted.
    beginning: 2 * MIB,
  },
  {
    kind: 'csv',
    name: 'CSV',
    extensions: ['csv', 'tsv'],
    media_types: ['text/csv', 'text/tab-separated-values'],
    folder: '`csv/`',
    counted_in: 'cells, by a second reader',
    listed_as_lost:
      "rows beyond a million characters, lines beyond 16 MiB; what a table does not show is in the source's text",
    bytes_max: 16 * MIB,
    beginning: 4 * MIB,
  },
  {
    kind: 'pdf',
    name: 'PDF',
    extensions: ['pdf'],
    media_types: ['application/pdf'],
    signature: '%PDF-',
    has_preamble: true,
    folder: '`pdf/`',
    counted_in: "PDF.js' text items",
    listed_as_lost:
      "pages without text or unreadable, fonts without Unicode, repeated lines, printer's marks, pictures, ornaments",
    read: async ({ bytes }) => (await import('./pdf/read-pdf.ts')).readPdf(bytes),
  },
  {
    kind: 'docx',
    name: 'Word (.docx)',
    extensions: ['docx', 'docm', 'dotx', 'dotm'],
    media_types: ['application/vnd.openxmlformats-officedocument.wordprocessingml.document'],
    // Word Online numbers it.
    entry: /^word\/document\d*\.xml$/,
    folder: '`word/`',
    counted_in: '`w:t`',
    listed_as_lost: 'comments, deletions, hidden text, embedded objects, headers, equations that are not converted',
    read: async ({ bytes, entries }) => {
      assertUnpacks(entries, MAX_UNPACKED_BYTES);
      return (await import('./word/docx.ts')).readDocx(bytes);
    },
  },
  {
    kind: 'epub',
    name: 'EPUB',
    extensions: ['epub'],
    media_types: ['application/epub+zip'],
    entry: /^META-INF\/container\.xml$/,
    folder: '`epub/`',
    counted_in: 'text nodes of the chapters',
    listed_as_lost: 'chapters that cannot be read, beyond a limit or hidden',
    read: async ({ entries }) => (await import('./epub/epub.ts')).readEpub(entries),
  },
  {
    kind: 'ipynb',
    name: 'Jupyter notebooks',
    extensions: ['ipynb'],
    media_types: ['application/x-ipynb+json'],
    folder: '`ipynb/`',
    counted_in: 'not counted',
    listed_as_lost: 'widgets and other outputs that only a program shows, pictures that no browser shows',
    read: async (file) => (await import('./ipynb/read-notebook.ts')).readNotebook(file),
  },
  {
    kind: 'eml',
    name: 'e-mail (.eml)',
    extensions: ['eml'],
    media_types: ['message/rfc822'],
    folder: '`eml/`',
    counted_in: 'headers and texts as they are decoded',
    listed_as_lost: 'attached files that are no pictures or messages, characters that cannot be decoded',
    read: async (file) => (await import('./eml/read-message.ts')).readMessage(file),
  },
  {
    kind: 'asciidoc',
    name: 'AsciiDoc',
    extensions: ['adoc', 'asciidoc', 'asc'],
    media_types: ['text/asciidoc', 'text/x-asciidoc'],
    folder: '`asciidoc/`',
    counted_in: "text nodes of Asciidoctor's HTML",
    listed_as_lost: 'files to include, comments, authors and revision',
    read: async (file) => (await import('./asciidoc/read-asciidoc.ts')).readAsciiDoc(file),
  },
  {
    kind: 'pptx',
    name: 'PowerPoint (.pptx)',
    extensions: ['pptx', 'pptm', 'potx', 'ppsx'],
    media_types: ['application/vnd.openxmlformats-officedocument.presentationml.presentation'],
    entry: /^ppt\/presentation\.xml$/,
    folder: '`office/`',
    counted_in: '`a:t` of slides and notes',
    listed_as_lost:
      'hidden slides, comments, charts and diagrams, dates and numbers of slides, pictures that no browser shows',
    read: async ({ entries }) => (await import('./office/pptx.ts')).readPptx(checked(entries)),
  },
  {
    kind: 'xlsx',
    name: 'Excel (.xlsx)',
    extensions: ['xlsx', 'xlsm', 'xltx'],
    media_types: ['application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'],
    entry: /^xl\/workbook\.xml$/,
    folder: '`office/`',
    counted_in: 'cells',
    listed_as_lost:
      "hidden sheets, rows and columns, comments, charts, pictures, formulas; what a table does not show is in the source's text",
    read: async ({ entries }) => (await import('./office/xlsx.ts')).readXlsx(checked(entries)),
  },
  {
    kind: 'odt',
    name: 'OpenDocument text (.odt)',
    extensions: ['odt', 'ott'],
    media_types: ['application/vnd.oasis.opendocument.text'],
    mimetype: 'application/vnd.oasis.opendocument.text',
    entry: /^content\.xml$/,
    folder: '`office/`',
    counted_in: 'text nodes',
    listed_as_lost: 'comments, deletions, hidden text, headers and footers, embedded objects',
    read: async ({ entries }) => (await import('./office/odf.ts')).readOdf('odt', checked(entries)),
  },
  {
    kind: 'ods',
    name: 'OpenDocument spreadsheet (.ods)',
    extensions: ['ods', 'ots'],
    media_types: ['application/vnd.oasis.opendocument.spreadsheet'],
    mimetype: 'application/vnd.oasis.opendocument.spreadsheet',
    entry: /^content\.xml$/,
    folder: '`office/`',
    counted_in: 'cells',
    listed_as_lost: "hidden sheets, comments, charts; what a table does not show is in the source's text",
    read: async ({ entries }) => (await import('./office/odf.ts')).readOdf('ods', checked(entries)),
  },
  {
    kind: 'odp',
    name: 'OpenDocument presentation (.odp)',
    extensions: ['odp', 'otp'],
    media_types: ['application/vnd.oasis.opendocument.presentation'],
    mimetype: 'application/vnd.oasis.opendocument.presentation',
    entry: /^content\.xml$/,
    folder: '`office/`',
    counted_in: 'text nodes',
    listed_as_lost: 'comments, charts, pictures that no browser shows',
    read: async ({ entries }) => (await import('./office/odf.ts')).readOdf('odp', checked(entries)),
  },
  {
    kind: 'rtf',
    name: 'RTF',
    extensions: ['rtf'],
    media_types: ['application/rtf', 'text/rtf'],
    signature: '{\\rtf',
    folder: '`office/`',
    counted_in: 'words of its groups',
    listed_as_lost: 'pictures, embedded objects, comments, hidden and deleted text, headers and footers',
    read: async (file) => (await import('./office/rtf.ts')).readRtf(file),
  },
  {
    kind: 'msg',
    name: 'Outlook messages (.msg)',
    extensions: ['msg'],
    media_types: ['application/vnd.ms-outlook'],
    signature: '\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1',
    needs_name: true,
    folder: '`eml/`',
    counted_in: 'headers and texts as they are decoded',
    listed_as_lost: 'attached files that are no pictures or messages, text that only RTF has',
    read: async (file) => (await import('./eml/read-outlook.ts')).readOutlook(file),
  },
];

/** Throws an ExtractError if a package unpacks to more than an office document has. */
function checked(entries: readonly ZipEntry[]): readonly ZipEntry[] {
  assertUnpacks(entries, MAX_UNPACKED_BYTES);
  return entries;
}

/** The formats in words: "Markdown, plain text, … and EPUB". */
export const READABLE = `${FORMATS.slice(0, -1)
  .map(({ name }) => name)
  .join(', ')} and ${FORMATS.at(-1)?.name}`;

const BY_KIND: ReadonlyMap<Kind, Format> = new Map(FORMATS.map((format) => [format.kind, format]));
const BY_EXTENSION: ReadonlyMap<string, Format> = new Map(
  FORMATS.flatMap((format) => format.extensions.map((extension) => [extension, format] as const)),
);
const BY_TYPE: ReadonlyMap<string, Format> = new Map(
  FORMATS.flatMap((format) => format.media_types.map((type) => [type, format] as const)),
);

/** The format of a kind. */
export function formatOf(kind: Kind): Format {
  return BY_KIND.get(kind) as Format;
}

/** Whether files of a format are read in a process of their own. */
export function isDocumentFormat(format: Format): format is DocumentFormat {
  return 'read' in format;
}

/** The format of files with the extension of this name; undefined for names of no format. */
export function formatByName(filename: string): Format | undefined {
  return BY_EXTENSION.get(extensionOf(filename));
}

/** The format of a declared media type, its parameters left aside. */
export function formatByType(contentType: string): Format | undefined {
  return BY_TYPE.get((contentType.split(';', 1)[0] ?? '').trim().toLowerCase());
}

/** In lower case, without the dot; "" for a name without one. */
export function extensionOf(filename: string): string {
  return /\.([a-z0-9]{1,8})$/i.exec(filename)?.[1]?.toLowerCase() ?? '';
}
