import { parseMarkdown, TooComplexError, withoutOverflow } from '../pages/parse-markdown.ts';
import { oneLine, type Rendered, renderPlainText, TITLE_MAX } from '../pages/plain-text.ts';
import { renderTree } from '../pages/render.ts';
import { type Extracted, extract, extractAsIs, titleFromFilename, type UploadedFile } from './extract/extract.ts';
import { relinkMarkdown } from './relink.ts';

export { titleFromFilename } from './extract/extract.ts';

export interface CompileInput extends UploadedFile {
  /** Where the page will be, from which its links are written. */
  page_path: string;
}

/**
 * Why a page shows its text as it is: what the file asks for is beyond the bounds of depth and size, of time or of
 * memory, or rendering it failed. "" where the page shows what the text says.
 */
export type PlainReason = '' | 'too_complex' | 'too_slow' | 'out_of_memory' | 'failed';

/** A file as the page that it becomes. */
export interface CompiledFile extends Rendered {
  kind: Extracted['kind'];
  /** What the file is, whatever was declared. */
  content_type: string;
  markdown: string;
  /** The uploaded files that it links to. */
  links: string[];
  plain_reason: PlainReason;
}

/**
 * From bytes to a page: extract, link, render. Pure: the same input makes the same page. `pages` maps files and folders
 * of the upload to the paths of their pages. Throws an ExtractError for a file that cannot be a page.
 */
export function compileFile(file: CompileInput, pages: ReadonlyMap<string, string>): CompiledFile {
  try {
    return withoutOverflow(() => {
      const extracted = extract(file);
      const tree = parseMarkdown(extracted.markdown);
      const { markdown, links } = relinkMarkdown(extracted.markdown, tree, file, pages);
      return finished(file, extracted, renderTree(tree), { markdown, links, plain_reason: '' });
    });
  } catch (error) {
    if (error instanceof TooComplexError) return compileAsIs(file, 'too_complex');
    throw error;
  }
}

/** A file as a page that shows its text as it is. Throws an ExtractError for one that is no text. */
export function compileAsIs(file: CompileInput, plain_reason: PlainReason): CompiledFile {
  const extracted = extractAsIs(file);
  const rendered = renderPlainText(extracted.text);
  return finished(file, extracted, rendered, { markdown: extracted.markdown, links: [], plain_reason });
}

function finished(
  file: CompileInput,
  { kind, title, language, content_type }: Extracted,
  rendered: Rendered,
  rest: Pick<CompiledFile, 'markdown' | 'links' | 'plain_reason'>,
): CompiledFile {
  return {
    ...rendered,
    ...rest,
    kind,
    content_type,
    // HTML names itself in its head, and its first heading is often that of the site.
    title: title || rendered.title || oneLine(titleFromFilename(file.filename), TITLE_MAX),
    language: rendered.language || language,
  };
}
