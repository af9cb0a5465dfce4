import { renderMarkdown } from '@ibid/markdown/render.ts';
import { titleFromFilename } from '../formats/extracted.ts';

/**
 * A first heading in HTML, directly followed by another heading. Lengths are bounded, because this may run outside the
 * sandbox.
 */
const BANNER =
  /^\s*<h1(?:\s[^<>]{0,200})?>[\s\S]{0,300}?<\/h1>[ \t]*\r?\n\s*(#{2,6}[ \t][^\r\n]{1,300}|<h[2-6][\s>][\s\S]{0,300}?<\/h[2-6]>)/i;

/** The number of characters that `titleBelowBanner` reads. */
const BANNER_MAX = 2_000;

const INDEX = /^(?:index|readme)$/i;

/**
 * Returns the title of Markdown whose first heading is `title`. Projects put their name in HTML at the top of each
 * file. If that heading contains no word of the file's name, the title is the heading below it if it equals the file's
 * name, otherwise the file's name. `markdown` is without front matter.
 */
export function titleBelowBanner(filename: string, markdown: string, title: string): string {
  const [, below] = BANNER.exec(markdown.slice(0, BANNER_MAX)) ?? [];
  if (below === undefined) return title;
  const name = nameOf(filename);
  const words = name.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '');
  const isNamed = words.some((word) => lettersOf(title).includes(lettersOf(word)));
  if (words.length === 0 || isNamed || lettersOf(name).includes(lettersOf(title))) return title;
  const heading = renderMarkdown(below).title;
  return lettersOf(heading) === lettersOf(name) ? heading : name;
}

/**
 * Returns the words of a file's name. The index of a folder is named after the folder; the index of the whole upload
 * has no name.
 */
function nameOf(filename: string): string {
  const name = titleFromFilename(filename);
  if (!INDEX.test(name)) return name;
  const folders = filename.split('/').slice(0, -1);
  return folders.length > 1 ? titleFromFilename(`${folders.at(-1)}.md`) : '';
}

function lettersOf(text: string): string {
  return text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '');
}
