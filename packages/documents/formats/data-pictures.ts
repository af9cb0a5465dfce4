import { hash } from 'node:crypto';
import { parseMarkdown, TooComplexError, visit } from '@ibid/markdown/parse-markdown.ts';

/** How the pictures begin that browsers show. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are bytes.
const PICTURE = /^(?:\x89PNG\r\n\x1a\n|\xff\xd8\xff|GIF8|RIFF|\s*<(?:svg[\s>]|\?xml\s|!--))/;

/** A smaller one holds the place of another, which a script would have loaded. */
const PICTURE_MIN = 100;

/** Of a text; further ones stay as they are. */
const PICTURES_MAX = 1_000;

const ADDRESS = 'data:image/(?:png|jpe?g|gif|webp|svg\\+xml)(?:;[\\w-]+=[\\w-]+)*;base64,([A-Za-z0-9+/]+={0,2})';
const WHOLE = new RegExp(`^${ADDRESS}$`, 'i');
const ANYWHERE = new RegExp(ADDRESS, 'gi');

/** The picture that an address contains; undefined for other addresses, and for what no browser shows. */
export function pictureInAddress(address: string): Buffer | undefined {
  const base64 = address.startsWith('data:') || address.startsWith('DATA:') ? WHOLE.exec(address)?.[1] : undefined;
  return base64 === undefined ? undefined : pictureOf(base64);
}

function pictureOf(base64: string): Buffer | undefined {
  const bytes = Buffer.from(base64, 'base64');
  const start = bytes.toString('latin1', 0, 16);
  return bytes.length >= PICTURE_MIN && PICTURE.test(start) ? bytes : undefined;
}

/** The address of a picture that is in an address of a text, until it is stored: an attachment by its content. */
export function addressOfContent(bytes: Uint8Array): string {
  return `attachment:${idOfContent(bytes)}`;
}

/** An id as an attachment has it; 104 bits of the content, so no other attachment has it. */
export function idOfContent(bytes: Uint8Array): string {
  return `attachment_${hash('sha256', bytes).slice(0, 26)}`;
}

/** Each picture in an address of a text file, in whatever encoding. */
export function* picturesInText(file: Uint8Array): Generator<Buffer> {
  const bytes = Buffer.from(file.buffer, file.byteOffset, file.byteLength);
  for (const [, base64 = ''] of textWithAddresses(bytes).matchAll(ANYWHERE)) {
    const picture = pictureOf(base64);
    if (picture) yield picture;
  }
}

/** The text of a file if it has addresses with pictures, else "". Every encoding that is read has ASCII as it is, or in two bytes. */
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
 * Markdown in which the pictures that are shown by addresses that contain them (of images, of definitions and of <img>)
 * are shown by those of `addressOf`, "" to leave them as they are. In code and in text such addresses are text.
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
  // The parser has not to read megabytes of letters to know what they are.
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

/** Where a text has addresses of pictures. */
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
    // It becomes plain text.
    if (!(error instanceof TooComplexError)) throw error;
  }
  return places;
}
