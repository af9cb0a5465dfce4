import { useEmoji } from '../dialects/emoji.ts';
import { languageOf } from '../dialects/language-of.ts';
import { isCommon, useLanguages } from '../highlight.ts';

/** Possible names of languages: after a fence, and in HTML classes. */
const LANGUAGE = /(?:`{3,}|~{3,})([^\n`]+)|\blang(?:uage)?-([\w+#.-]+)/g;
/** Languages that the browser draws. */
const DRAWN = new Set(['math', 'mermaid']);

/**
 * Loads the data that few texts need: grammars of rare languages and names of emoji. Call it before rendering a text,
 * with the text or the bytes of its file. The rendering then depends on that text alone, not on earlier texts.
 */
export async function loadNeeded(given: string | Uint8Array): Promise<void> {
  const text = typeof given === 'string' ? given : asciiOf(given);
  useLanguages(needsMoreLanguages(text) ? (await import('./more-languages.ts')).all : undefined);
  useEmoji(/:[a-z0-9_+-]+:/.test(text) ? (await import('./emoji-names.ts')).nameToEmoji : undefined);
}

/** Returns the ASCII characters of a text in any supported encoding, including UTF-16. */
function asciiOf(bytes: Uint8Array): string {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
  return text.includes('\0') ? text.replaceAll('\0', '') : text;
}

function needsMoreLanguages(text: string): boolean {
  if (!/```|~~~|\blang(?:uage)?-/.test(text)) return false;
  for (const [, fenced, classed] of text.matchAll(LANGUAGE)) {
    const name = fenced === undefined ? (classed ?? '').toLowerCase() : languageOf(fenced);
    if (name !== '' && !DRAWN.has(name) && !isCommon(name)) return true;
  }
  return false;
}
