import { fileTypeFromBuffer } from 'file-type';

/** How much of a file says what it is. */
export const SNIFFED_BYTES = 16_384;

/** Types that browsers show without running anything in them. */
const SHOWN = new Set(['image/png', 'image/apng', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif']);

/**
 * Whether a browser may show a file of this type. Not SVG, HTML and XML, which can hold scripts, nor PDF, whose viewers
 * do not work in a sandbox: these are saved, and an SVG is still shown where a page embeds it as a picture.
 */
export function isShown(content_type: string): boolean {
  return SHOWN.has(content_type);
}

/**
 * What a file is, from how its bytes begin: neither its name nor the declared type has a say. Any markup but SVG is
 * plain text, and what nothing is known of is a stream of octets.
 */
export async function sniffType(start: Uint8Array): Promise<string> {
  const known = await fileTypeFromBuffer(start);
  if (known && !/xml|html|^text\//.test(known.mime)) return known.mime;
  const text = asText(start);
  if (text === undefined) return 'application/octet-stream';
  return isSvg(text) ? 'image/svg+xml' : 'text/plain; charset=utf-8';
}

/** The beginning of a file as text, of which the last character may be cut; undefined where it is none. */
function asText(start: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(start, { stream: true });
    // Tabs, line breaks, form feeds and escapes stand in texts; other control characters in none.
    // biome-ignore lint/suspicious/noControlCharactersInRegex: it looks for control characters
    return /[\0-\x08\x0b\x0e-\x1a\x1c-\x1f]/.test(text) ? undefined : text;
  } catch {
    // No UTF-8.
    return undefined;
  }
}

/** Whether the first element is <svg>: past declarations and comments, one after the other, so that nothing is tried twice. */
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
