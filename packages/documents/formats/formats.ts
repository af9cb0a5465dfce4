import type { ExtractedDocument, UploadedFile } from './extracted.ts';
import type { DocumentKind, Kind, TextKind } from './kinds.ts';
import { assertUnpacks, type ZipEntry } from './zip/zip.ts';

interface Described {
  /** The name of the format in messages. */
  name: string;
  /** File extensions without the dot; the usual extension first. */
  extensions: readonly string[];
  /** The media type of stored sources first, then other types that clients may declare. */
  media_types: readonly [string, ...string[]];
  /**
   * For the README: the folder of its code, the unit in which characters are counted, and the content listed as lost.
   */
  folder: string;
  counted_in: string;
  listed_as_lost: string;
}

/** A format whose files are text: `read-text.ts` converts them in the process that renders. */
export interface TextFormat extends Described {
  kind: TextKind;
  /**
   * The limit of a file that is read completely, in bytes; of a larger file, only the first `beginning` bytes are read.
   */
  bytes_max: number;
  beginning: number;
}

/** A file for `read`. `entries`: its contents, if it is packed as ZIP. */
export interface DocumentFile extends UploadedFile {
  entries: readonly ZipEntry[];
}

/** A format parsed in a process without network and files; its parser is loaded on demand. */
export interface DocumentFormat extends Described {
  kind: DocumentKind;
  /**
   * The signature of its files in Latin-1, regardless of their names. Without one, the name or the declared type
   * decides.
   */
  signature?: string;
  /** Whether other formats share the signature, so that the name or declared type decides. */
  needs_name?: boolean;
  /**
   * Whether readers of the format also accept the signature at the start of a later line, within the first 1,024 bytes.
   */
  has_preamble?: boolean;
  /** For files packed as ZIP: the name of an entry that no other format has. */
  entry?: RegExp;
  /** The beginning of the file `mimetype` in the package, if several formats share the entry. */
  mimetype?: string;
  /** Throws an ExtractError. */
  read(file: DocumentFile): Promise<ExtractedDocument>;
}

export type Format = TextFormat | DocumentFormat;

/** The limit of the unpacked size of a Word document; real ones have a few megabytes of text. */
const MAX_UNPACKED_BYTES = 256 * 2 ** 20;

/** File limits: most of an HTML file is not text, and UTF-16 takes two bytes where UTF-8 takes one. */
const MIB = 2 ** 20;

/** All supported formats; everything else derives from this list, including the table in the README. */
export const FORMATS: readonly Format[] = [
  {
    kind: 'markdown',
    name: 'Markdown',
    extensions: ['md', 'markdown', 'mdown', 'mkd', 'mdx'],
    media_types: ['text/markdown', 'text/x-markdown'],
    folder: '`markdown/`',
    counted_in: 'text of the page, plus the losses',
    listed_as_lost:
      'text beyond 8 MiB, comments, unused front matter, MDX code, scripts, frames and images in HTML, embedded pages',
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
    listed_as_lost:
      'navigation, scripts, hidden elements, forms; in files over 8 MiB, everything after the first 2 MiB',
    bytes_max: 8 * MIB,
    // Pictures within the HTML are not counted.
    beginning: 2 * MIB,
  },
  {
    kind: 'csv',
    name: 'CSV',
    extensions: ['csv', 'tsv'],
    media_types: ['text/csv', 'text/tab-separated-values'],
    folder: '`csv/`',
    counted_in: 'cells, by a separate parser',
    listed_as_lost:
      "rows beyond a million characters, lines beyond 16 MiB; cells omitted from the table are in the source's text",
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
      "unreadable pages and pages without text, fonts without Unicode, repeated lines, printer's marks, pictures, ornaments",
    read: async ({ bytes }) => (await import('./pdf/read-pdf.ts')).readPdf(bytes),
  },
  {
    kind: 'docx',
    name: 'Word (.docx)',
    extensions: ['docx', 'docm', 'dotx', 'dotm'],
    media_types: ['application/vnd.openxmlformats-officedocument.wordprocessingml.document'],
    // Word Online adds a number to the name.
    entry: /^word\/document\d*\.xml$/,
    folder: '`word/`',
    counted_in: '`w:t`',
    listed_as_lost: 'comments, deletions, hidden text, embedded objects, headers, unconverted equations',
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
    listed_as_lost: 'unreadable or hidden chapters, chapters beyond a limit',
    read: async ({ entries }) => (await import('./epub/epub.ts')).readEpub(entries),
  },
  {
    kind: 'ipynb',
    name: 'Jupyter notebooks',
    extensions: ['ipynb'],
    media_types: ['application/x-ipynb+json'],
    folder: '`ipynb/`',
    counted_in: 'not counted',
    listed_as_lost: 'widgets and other interactive outputs, pictures in formats that browsers do not display',
    read: async (file) => (await import('./ipynb/read-notebook.ts')).readNotebook(file),
  },
  {
    kind: 'eml',
    name: 'e-mail (.eml)',
    extensions: ['eml'],
    media_types: ['message/rfc822'],
    folder: '`eml/`',
    counted_in: 'headers and texts as they are decoded',
    listed_as_lost: 'attachments other than pictures and messages, undecodable characters',
    read: async (file) => (await import('./eml/read-message.ts')).readMessage(file),
  },
  {
    kind: 'asciidoc',
    name: 'AsciiDoc',
    extensions: ['adoc', 'asciidoc', 'asc'],
    media_types: ['text/asciidoc', 'text/x-asciidoc'],
    folder: '`asciidoc/`',
    counted_in: "text nodes in Asciidoctor's HTML",
    listed_as_lost: 'files of include directives, comments, authors and revision',
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
      'hidden slides, comments, charts and diagrams, slide dates and numbers, pictures in formats that browsers do not display',
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
      "hidden sheets, rows and columns, comments, charts, pictures, formulas; cells omitted from the table are in the source's text",
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
    listed_as_lost: "hidden sheets, comments, charts; cells omitted from the table are in the source's text",
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
    listed_as_lost: 'comments, charts, pictures in formats that browsers do not display',
    read: async ({ entries }) => (await import('./office/odf.ts')).readOdf('odp', checked(entries)),
  },
  {
    kind: 'rtf',
    name: 'RTF',
    extensions: ['rtf'],
    media_types: ['application/rtf', 'text/rtf'],
    signature: '{\\rtf',
    folder: '`office/`',
    counted_in: 'text of RTF groups',
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
    listed_as_lost: 'attachments other than pictures and messages, text present only as RTF',
    read: async (file) => (await import('./eml/read-outlook.ts')).readOutlook(file),
  },
];

/** Returns the entries. Throws an ExtractError if they unpack to more than an office document may have. */
function checked(entries: readonly ZipEntry[]): readonly ZipEntry[] {
  assertUnpacks(entries, MAX_UNPACKED_BYTES);
  return entries;
}

/** The formats as a phrase: "Markdown, plain text, … and EPUB". */
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

export function formatOf(kind: Kind): Format {
  return BY_KIND.get(kind) as Format;
}

/** Whether files of a format are read in a separate process. */
export function isDocumentFormat(format: Format): format is DocumentFormat {
  return 'read' in format;
}

/** Returns the format with the extension of a file name; undefined if no format has it. */
export function formatByName(filename: string): Format | undefined {
  return BY_EXTENSION.get(extensionOf(filename));
}

/** Returns the format of a declared media type, ignoring its parameters. */
export function formatByType(contentType: string): Format | undefined {
  return BY_TYPE.get((contentType.split(';', 1)[0] ?? '').trim().toLowerCase());
}

/** Returns the extension in lower case, without the dot; "" for a name without one. */
export function extensionOf(filename: string): string {
  return /\.([a-z0-9]{1,8})$/i.exec(filename)?.[1]?.toLowerCase() ?? '';
}
