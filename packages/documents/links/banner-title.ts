import { renderMarkdown } from '@ibid/markdown/render.ts';
import { titleFromFilename } from '../formats/extracted.ts';

/** A first heading in HTML with another heading at once below it; outside the sandbox only so much of a text is looked at. */
const BANNER =
  /^\s*<h1(?:\s[^<>]{0,200})?>[\s\S]{0,300}?<\/h1>[ \t]*\r?\n\s*(#{2,6}[ \t][^\r\n]{1,300}|<h[2-6][\s>][\s\S]{0,300}?<\/h[2-6]>)/i;

/** How much of a text `titleBelowBanner` needs. */
const BANNER_MAX = 2_000;

const INDEX = /^(?:index|readme)$/i;

/**
 * The title of Markdown whose first heading is `title`. Projects put their name in HTML above each of their files: where no word
 * of the file's name is in it, the page is called as the heading below it, if that is the file's name too, else as the file.
 * `markdown` is without front matter.
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

/** The words of a file's name. The index of a folder is named as the folder, the one of the whole upload has no name. */
function nameOf(filename: string): string {
  const name = titleFromFilename(filename);
  if (!INDEX.test(name)) return name;
  const folders = filename.split('/').slice(0, -1);
  return folders.length > 1 ? titleFromFilename(`${folders.at(-1)}.md`) : '';
}

function lettersOf(text: string): string {
  return text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '');
}
