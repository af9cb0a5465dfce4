import { withFrontMatterEnd } from '@ibid/markdown/front-matter/ends.ts';
import { FRONT_MATTER, TooComplexError } from '@ibid/markdown/parse-markdown.ts';
import { renderMarkdown } from '@ibid/markdown/render.ts';
import { decodeHtml, decodeText } from '../formats/decode.ts';
import { ExtractError } from '../formats/extract-error.ts';
import { titleFromFilename, type UploadedFile } from '../formats/extracted.ts';
import { fileKind, isDocument } from '../formats/file-type.ts';
import { htmlToMarkdown, withoutSpace } from '../formats/html/html.ts';
import { readLogseq } from '../formats/markdown/logseq.ts';
import { titleBelowBanner } from './banner-title.ts';
import type { KnownTitle } from './title-names.ts';

/** Bytes of a file that are read for its title; most have it in the first hundred. */
export const TITLE_BYTES = 16_384;

/**
 * Determines the title of a file's page from its beginning. Markdown has the title in the front matter or a heading,
 * HTML in its head; other files are named after the file. `bytes`: the first TITLE_BYTES bytes of the file, or all. The
 * title is "" if it cannot be determined.
 */
export function titleOfBeginning(file: UploadedFile): Pick<KnownTitle, 'title' | 'is_filename'> {
  const byName = { title: titleFromFilename(file.filename), is_filename: true };
  if (isDocument(file)) return byName;
  try {
    const kind = fileKind(file);
    if (kind !== 'html' && kind !== 'markdown') return byName;
    const text = wholeLines(file, kind);
    const isWhole = file.bytes.length < TITLE_BYTES;
    const title = kind === 'html' ? titleOfHtml(text) : titleOfMarkdown(text, file.filename, isWhole);
    if (title !== undefined) return { title, is_filename: false };
    return isWhole ? byName : { title: '', is_filename: false };
  } catch (error) {
    // Such a file fails, or is reported, when it is compiled.
    if (error instanceof ExtractError || error instanceof TooComplexError) return { title: '', is_filename: false };
    throw error;
  }
}

/** Decodes only whole lines, because the beginning may end inside a character. */
function wholeLines({ bytes, content_type }: UploadedFile, kind: 'html' | 'markdown'): string {
  const isCut = bytes.length >= TITLE_BYTES;
  const whole = isCut ? bytes.subarray(0, bytes.lastIndexOf(10) + 1) : bytes;
  return kind === 'html' ? decodeHtml(whole, content_type) : decodeText(whole, content_type);
}

/** This runs outside the sandbox, without a time limit, so only text as short as a real title is parsed. */
const HEADING_MAX = 500;

const HTML_TITLES = [/<title[\s>][\s\S]{0,500}?<\/title>/i, /<h1[\s>][\s\S]{0,500}?<\/h1>/i];

function titleOfHtml(html: string): string | undefined {
  for (const pattern of HTML_TITLES) {
    const title = htmlToMarkdown(pattern.exec(html)?.[0] ?? '').title;
    if (title !== '') return withoutSpace(html, title);
  }
  // Otherwise the first heading of the rendered page decides.
  return /<h[1-6][\s>]/i.test(html) ? '' : undefined;
}

/** A heading (a line of #, an underlined line, HTML), or code or a comment in which headings do not count. */
const HEADING =
  /^ {0,3}(?:(?:(`{3,9}|~{3,9})[\s\S]*?(?:\n {0,3}\1[^\n]*|$(?![\s\S]))|<!--[\s\S]*?(?:-->|$(?![\s\S])))|(#{1,6}[ \t]+[^\n]*|[^\s<>#|-][^\n]*\n {0,3}(?:=+|-+)[ \t]*$|<h[1-6][\s>][\s\S]{0,500}?<\/h[1-6]>))/gm;

function titleOfMarkdown(written: string, filename: string, isWhole: boolean): string | undefined {
  const text = readLogseq(written)?.markdown ?? withFrontMatterEnd(written);
  const front = FRONT_MATTER.exec(text)?.[0] ?? '';
  const [fence, line] = front.startsWith('+++') ? ['+++', /^title[ \t]*=.*$/m] : ['---', /^title:.*$/m];
  const title = oneTitle(`${fence}\n${line.exec(front)?.[0] ?? ''}\n${fence}\n`);
  if (title !== '') return title;
  const body = text.slice(front.length);
  let beginning: string | undefined;
  for (const { 0: written, 1: code, 2: heading, index } of body.matchAll(HEADING)) {
    if (code !== undefined || heading === undefined) continue;
    const isFirst = beginning === undefined && body.slice(0, index).replace(COMMENTS, '').trim() === '';
    const isTop = IS_TOP.test(heading);
    if (!isTop && !isFirst) continue;
    // An indented heading may be part of a list item.
    if (heading.length > HEADING_MAX || (!isFirst && written.startsWith(' '))) return '';
    const said = oneTitle(heading);
    if (said === '') continue;
    if (isTop) return titleBelowBanner(filename, body, said);
    beginning = said;
  }
  // A heading of level 1 may follow.
  return beginning !== undefined && !isWhole ? '' : beginning;
}

const COMMENTS = /<!--[\s\S]*?-->/g;
/** A heading of level 1. */
const IS_TOP = /^(?:#[ \t]|<h1[\s>])|\n {0,3}=+[ \t]*$/;

function oneTitle(markdown: string): string {
  return markdown.length > HEADING_MAX ? '' : renderMarkdown(markdown).title;
}
