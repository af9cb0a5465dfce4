import { fileTypeFromBuffer } from 'file-type';

/** Bytes at the beginning of a file that sniffType needs. */
export const SNIFFED_BYTES = 16_384;

/** Types that browsers show without running anything in them. */
const SHOWN = new Set(['image/png', 'image/apng', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif']);

/**
 * Whether a browser may show a file of this type inline. SVG, HTML and XML can contain scripts, and viewers of PDF do
 * not work in a sandbox; these are downloaded. An SVG can still be embedded in a page as a picture.
 */
export function isShown(content_type: string): boolean {
  return SHOWN.has(content_type);
}

/**
 * Returns the media type of a file from its first bytes, regardless of its name and declared type. Markup other than
 * SVG is plain text; anything unknown is `application/octet-stream`.
 */
export async function sniffType(start: Uint8Array): Promise<string> {
  const known = await fileTypeFromBuffer(start);
  if (known && !/xml|html|^text\//.test(known.mime)) return known.mime;
  const text = asText(start);
  if (text === undefined) return 'application/octet-stream';
  return isSvg(text) ? 'image/svg+xml' : 'text/plain; charset=utf-8';
}

/** Decodes the beginning of a file, whose last character may be cut off. Returns undefined if it is not text. */
function asText(start: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(start, { stream: true });
    // Tabs, line breaks, form feeds and escapes occur in texts; other control characters do not.
    // biome-ignore lint/suspicious/noControlCharactersInRegex: it looks for control characters
    return /[\0-\x08\x0b\x0e-\x1a\x1c-\x1f]/.test(text) ? undefined : text;
  } catch {
    // Not UTF-8.
    return undefined;
  }
}

/** Whether the first element is <svg>. Skips declarations and comments one by one, so that no text is scanned twice. */
function isSvg(text: string): boolean {
  let at = 0;
  for (;;) {
    at += /^\s*/.exec(text.slice(at))?.[0].length ?? 0;
    if (/^<svg[\s>]/i.test(text.slice(at, at + 5))) return true;
    const end = text.startsWith('<!--', at) ? '-->' : /^<[?!]/.test(text.slice(at, at + 2)) ? '>' : undefined;
    const found = end === undefined ? -1 : text.indexOf(end, at + 2);
    if (end === undefined || found < 0) return false;
    at = found + end.length;
  }
}
