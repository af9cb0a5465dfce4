import type { OutlineEntry } from '../pages/plain-text.ts';
import { parseMarkdown, renderTree } from '../pages/render.ts';
import { extract, type UploadedFile } from './extract/extract.ts';
import { relinkMarkdown } from './relink.ts';

export interface CompileInput extends UploadedFile {
  /** Where the page will be, from which its links are written. */
  page_path: string;
}

/** A file as the page that it becomes. */
export interface CompiledFile {
  title: string;
  description: string;
  language: string;
  content_type: string;
  markdown: string;
  html: string;
  text: string;
  outline: OutlineEntry[];
  word_count: number;
  /** The uploaded files that it links to. */
  links: string[];
}

/** From bytes to a page: extract, link, render. Pure, and the same for the same input. Throws ExtractError. */
export function compileFile(file: CompileInput, pages: ReadonlyMap<string, string>): CompiledFile {
  const extracted = extract(file);
  let tree = parseMarkdown(extracted.markdown);
  const { markdown, links } = relinkMarkdown(extracted.markdown, tree, file, pages);
  if (markdown !== extracted.markdown) tree = parseMarkdown(markdown);
  const rendered = renderTree(tree);
  const title = rendered.title || extracted.title || titleFromFilename(file.filename);
  return storable({
    title: title.slice(0, 255),
    description: rendered.description,
    language: rendered.language || extracted.language,
    content_type: extracted.content_type,
    markdown,
    html: rendered.html,
    text: rendered.text,
    outline: rendered.outline,
    word_count: rendered.word_count,
    links,
  });
}

/** Escapes and entities can spell characters that no database keeps: NUL and halves of surrogate pairs. */
function storable<T>(value: T): T {
  if (typeof value === 'string') return value.replaceAll('\0', '\ufffd').toWellFormed() as T;
  if (Array.isArray(value)) return value.map(storable) as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, storable(item)])) as T;
}

/** `guides/first-steps.md` reads "first steps". */
export function titleFromFilename(filename: string): string {
  const name = filename.slice(filename.lastIndexOf('/') + 1);
  const words = name
    .replace(/\.[^.]+$/, '')
    .replace(/[-_]+/g, ' ')
    .trim();
  return words || name;
}
