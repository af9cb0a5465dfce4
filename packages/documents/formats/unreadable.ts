import { ExtractError } from './extract-error.ts';

/** Advice for files of office programs. */
const SAVE_AS = 'save it as .docx, .odt or PDF, and upload that file';
const SAVE_TABLE = 'save it as .xlsx or CSV, and upload that file';
const SAVE_SLIDES = 'save it as PDF, and upload that file';
const SAVE_PRESENTATION = 'save it as .pptx or PDF, and upload that file';
const UNPACK = 'unpack it and upload its files, or pack them as ZIP';

/** Packed formats by a file in the package, with advice. */
const PACKED: readonly [entry: RegExp, what: string, advice: string][] = [
  [/^xl\/workbook\.bin$/, 'a binary Excel workbook (.xlsb)', SAVE_TABLE],
  [/^visio\/document\.xml$/, 'a Visio drawing', SAVE_SLIDES],
  [
    /^Index(?:\/Document\.iwa|\.zip)$/,
    'a Pages, Keynote or Numbers document',
    'export it as Word or PDF, and upload that file',
  ],
];

/** OpenDocument formats by the file `mimetype`, with advice. */
const OPEN_DOCUMENT: readonly [type: string, what: string, advice: string][] = [
  ['graphics', 'an OpenDocument drawing (.odg)', SAVE_SLIDES],
  ['', 'an OpenDocument file of another kind', SAVE_AS],
];

/**
 * Returns the error for a format that is packed as ZIP and not supported; undefined for other packages. `mimetype`: the
 * content of the file of this name, "" without one.
 */
export function unreadablePackage(names: Iterable<string>, mimetype: string): ExtractError | undefined {
  if (mimetype.includes('opendocument')) {
    const found = OPEN_DOCUMENT.find(([type]) => mimetype.includes(type));
    return found && cannotRead(found[1], found[2]);
  }
  for (const name of names) {
    const found = PACKED.find(([entry]) => entry.test(name));
    if (found) return cannotRead(found[1], found[2]);
  }
  return undefined;
}

/** Formats of OLE files by the name of a stream in them, with advice. */
const OLE: readonly [stream: string, what: string, advice: string][] = [
  ['EncryptedPackage', 'a password-protected Office document', 'save it without the password, and upload that file'],
  ['WordDocument', 'a Word document in the pre-2007 format (.doc)', SAVE_AS],
  ['Workbook', 'an Excel workbook in the pre-2007 format (.xls)', SAVE_TABLE],
  ['PowerPoint Document', 'a PowerPoint presentation in the pre-2007 format (.ppt)', SAVE_PRESENTATION],
  ['VisioDocument', 'a Visio drawing', SAVE_SLIDES],
  ['__nameid_version1.0', 'an Outlook message', 'rename it to .msg, and upload it again'],
];

const COMPRESSED = 'a compressed file or archive (.gz, .bz2, .xz, .zst)';

/** Signatures of files that are not text, in Latin-1. */
const SIGNATURES: readonly [start: string, what: string, advice: string][] = [
  ['7z\xbc\xaf\x27\x1c', 'a 7z archive', UNPACK],
  ['Rar!\x1a', 'a RAR archive', UNPACK],
  ['\x1f\x8b', COMPRESSED, UNPACK],
  ['\xfd7zXZ', COMPRESSED, UNPACK],
  ['\x28\xb5\x2f\xfd', COMPRESSED, UNPACK],
];

/** The offset of the magic number in a tar archive. */
const TAR_MAGIC = 257;

/**
 * Returns the error for a known format that is not supported, from the bytes or the beginning of a file; undefined for
 * other files.
 */
export function unreadableFile(bytes: Uint8Array): ExtractError | undefined {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const start = file.subarray(0, 512).toString('latin1');
  if (start.startsWith('\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1')) {
    const found = OLE.find(([stream]) => file.includes(Buffer.from(stream, 'utf16le')));
    return found ? cannotRead(found[1], found[2]) : cannotRead('an Office document in the pre-2007 format', SAVE_AS);
  }
  if (start.startsWith('ustar', TAR_MAGIC)) return cannotRead('a tar archive', UNPACK);
  // A text may begin with these letters.
  if (start.startsWith('BZh') && start.includes('\0')) return cannotRead(COMPRESSED, UNPACK);
  const found = SIGNATURES.find(([signature]) => start.startsWith(signature));
  return found && cannotRead(found[1], found[2]);
}

function cannotRead(what: string, advice: string): ExtractError {
  return new ExtractError('unsupported_type', `the file is ${what}, which is not supported; ${advice}`);
}
