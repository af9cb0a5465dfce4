import { useEmoji } from '../dialects/emoji.ts';
import { languageOf } from '../dialects/language-of.ts';
import { isCommon, useLanguages } from '../highlight.ts';

/** Names that may be languages of code: behind a fence, and in the classes of HTML. */
const LANGUAGE = /(?:`{3,}|~{3,})([^\n`]+)|\blang(?:uage)?-([\w+#.-]+)/g;
/** What is drawn in the browser. */
const DRAWN = new Set(['math', 'mermaid']);

/**
 * Loads what few texts need: grammars of rare languages, names of emoji. To be called before a text is rendered, with the
 * text or the bytes of its file; what is rendered depends on that text alone, and not on those before it.
 */
export async function loadNeeded(given: string | Uint8Array): Promise<void> {
  const text = typeof given === 'string' ? given : asciiOf(given);
  useLanguages(needsMoreLanguages(text) ? (await import('./more-languages.ts')).all : undefined);
  useEmoji(/:[a-z0-9_+-]+:/.test(text) ? (await import('./emoji-names.ts')).nameToEmoji : undefined);
}

/** The ASCII characters of a text in any encoding that is read, UTF-16 too. */
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
