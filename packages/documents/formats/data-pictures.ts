import { hash } from 'node:crypto';
import { parseMarkdown, TooComplexError, visit } from '@ibid/markdown/parse-markdown.ts';

/** Signatures of pictures that browsers show. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are bytes.
const PICTURE = /^(?:\x89PNG\r\n\x1a\n|\xff\xd8\xff|GIF8|RIFF|\s*<(?:svg[\s>]|\?xml\s|!--))/;

/** A smaller picture, in bytes, is a placeholder that a script would have replaced. */
const PICTURE_MIN = 100;

/** The limit of pictures per text; further addresses do not change. */
const PICTURES_MAX = 1_000;

const ADDRESS = 'data:image/(?:png|jpe?g|gif|webp|svg\\+xml)(?:;[\\w-]+=[\\w-]+)*;base64,([A-Za-z0-9+/]+={0,2})';
const WHOLE = new RegExp(`^${ADDRESS}$`, 'i');
const ANYWHERE = new RegExp(ADDRESS, 'gi');

/**
 * Returns the picture in a `data:` address; undefined for other addresses, and for formats that browsers do not show.
 */
export function pictureInAddress(address: string): Buffer | undefined {
  const base64 = address.startsWith('data:') || address.startsWith('DATA:') ? WHOLE.exec(address)?.[1] : undefined;
  return base64 === undefined ? undefined : pictureOf(base64);
}

function pictureOf(base64: string): Buffer | undefined {
  const bytes = Buffer.from(base64, 'base64');
  const start = bytes.toString('latin1', 0, 16);
  return bytes.length >= PICTURE_MIN && PICTURE.test(start) ? bytes : undefined;
}

/**
 * Returns the provisional address of a picture in a `data:` address, derived from its content, until it is stored as an
 * attachment.
 */
export function addressOfContent(bytes: Uint8Array): string {
  return `attachment:${idOfContent(bytes)}`;
}

/** Returns an id in the form of an attachment's id, from 104 bits of the content's hash, so that it is unique. */
export function idOfContent(bytes: Uint8Array): string {
  return `attachment_${hash('sha256', bytes).slice(0, 26)}`;
}

/** Yields each picture in a `data:` address of a text file, in any encoding. */
export function* picturesInText(file: Uint8Array): Generator<Buffer> {
  const bytes = Buffer.from(file.buffer, file.byteOffset, file.byteLength);
  for (const [, base64 = ''] of textWithAddresses(bytes).matchAll(ANYWHERE)) {
    const picture = pictureOf(base64);
    if (picture) yield picture;
  }
}

/**
 * Decodes a file if it has addresses with pictures, else returns "". Every supported encoding writes ASCII as one byte
 * or as two.
 */
function textWithAddresses(bytes: Buffer): string {
  if (bytes.includes('data:image/')) return bytes.toString('latin1');
  const start = bytes.indexOf(Buffer.from('data:image/', 'utf16le'));
  if (start >= 0) return bytes.subarray(start % 2).toString('utf16le');
  const swapped = bytes.indexOf(Buffer.from('data:image/', 'utf16le').subarray(0, -1));
  return swapped < 1
    ? ''
    : bytes
        .subarray((swapped - 1) % 2)
        .toString('latin1')
        .replaceAll('\0', '');
}

/**
 * Replaces `data:` addresses of shown pictures (images, definitions and <img>) by `addressOf`; "" keeps an address.
 * Such addresses in code and text do not change.
 */
export function withPicturesElsewhere(markdown: string, addressOf: (picture: Buffer) => string): string {
  const found: Found[] = [];
  for (const match of markdown.matchAll(ANYWHERE)) {
    const picture = found.length < PICTURES_MAX ? pictureOf(match[1] ?? '') : undefined;
    if (!picture) continue;
    found.push({
      start: match.index,
      end: match.index + match[0].length,
      picture,
      byContent: addressOfContent(picture),
    });
  }
  if (found.length === 0) return markdown;
  // Shorten the addresses first, so that the parser does not scan megabytes of base64.
  const short = replaced(markdown, found, ({ byContent }) => byContent);
  const shown = shownAddresses(short);
  let shift = 0;
  const kept = found.filter(({ start, end, byContent }) => {
    const at = start + shift;
    shift += byContent.length - (end - start);
    const place = shown.find(({ from, to }) => from <= at && at < to);
    if (!place) return false;
    const behind = short.slice(at + byContent.length, place.to);
    if (place.isHtml) return /^["']/.test(behind) && IMAGE_TAG.test(short.slice(place.from, at));
    return at - place.from <= 1 && /^>?$/.test(behind);
  });
  return replaced(markdown, kept, ({ picture }) => addressOf(picture));
}

interface Found {
  start: number;
  end: number;
  picture: Buffer;
  byContent: string;
}

const IMAGE_TAG = /<img\s[^<>]*\ssrc\s*=\s*["']$|<img\ssrc\s*=\s*["']$/i;

function replaced(text: string, found: readonly Found[], addressOf: (each: Found) => string): string {
  const parts: string[] = [];
  let at = 0;
  for (const each of found) {
    const { start, end } = each;
    parts.push(text.slice(at, start), addressOf(each) || text.slice(start, end));
    at = end;
  }
  return parts.join('') + text.slice(at);
}

/** Finds the places of picture addresses in a text. */
function shownAddresses(markdown: string): { from: number; to: number; isHtml: boolean }[] {
  const places: { from: number; to: number; isHtml: boolean }[] = [];
  try {
    visit(parseMarkdown(markdown), (node) => {
      const isHtml = node.type === 'html';
      const [from, to] = isHtml
        ? [node.position?.start.offset, node.position?.end.offset]
        : ((node.type === 'image' || node.type === 'definition') && node.data?.destination) || [];
      if (from !== undefined && to !== undefined) places.push({ from, to, isHtml });
    });
  } catch (error) {
    // The text becomes plain text.
    if (!(error instanceof TooComplexError)) throw error;
  }
  return places;
}
