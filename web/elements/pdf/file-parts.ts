/** Size of the first read in bytes. A smaller file needs only this read. */
const FIRST_BYTES = 256 * 1_024;

/** Maximum size of a read in bytes. */
const RANGE_MAX = 16 * 1_024 * 1_024;

/** The files of PDF.js that its viewer may read; see web/assets.ts. */
const LIBRARY_FILE = /^(?:cmaps|standard_fonts|wasm)\/[\w-]+\.(?:bcmap|pfb|ttf|wasm)$/;

/** Reads the beginning of a file, and its length. Throws if the service refuses or is unreachable. */
export async function readBeginning(address: string, signal: AbortSignal) {
  const response = await fetch(address, { headers: { range: `bytes=0-${FIRST_BYTES - 1}` }, signal });
  if (!response.ok) throw new Error(`cannot read the file: HTTP ${response.status}`);
  const beginning = await bytesOf(response);
  const [, total] = /\/(\d+)$/.exec(response.headers.get('content-range') ?? '') ?? [];
  return { beginning, length: total === undefined ? beginning.length : Number(total) };
}

/**
 * Reads bytes [begin, end) of a file. Throws if the service refuses or is unreachable, and RangeError for an invalid
 * range.
 */
export async function readRange(address: string, begin: number, end: number, signal: AbortSignal) {
  if (!(Number.isSafeInteger(begin) && begin >= 0 && end > begin && end - begin <= RANGE_MAX))
    throw new RangeError('invalid byte range');
  const response = await fetch(address, { headers: { range: `bytes=${begin}-${end - 1}` }, signal });
  if (response.status !== 206) throw new Error(`cannot read the byte range: HTTP ${response.status}`);
  return bytesOf(response);
}

/** Reads a file of PDF.js by its name. Throws if it does not exist. */
export async function readLibraryFile(name: string, signal: AbortSignal) {
  if (!LIBRARY_FILE.test(name)) throw new RangeError('not a file of PDF.js');
  const response = await fetch(new URL(`pdfjs/${name}`, import.meta.url), { signal });
  if (!response.ok) throw new Error(`cannot read ${name}: HTTP ${response.status}`);
  return bytesOf(response);
}

async function bytesOf(response: Response): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await response.arrayBuffer());
}
