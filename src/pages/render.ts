import type { Root } from 'mdast';
import { readFrontMatter } from './front-matter.ts';
import { readPageText } from './page-text.ts';
import { parseMarkdown, TooComplexError, withoutOverflow } from './parse-markdown.ts';
import { countWords, oneLine, type Rendered, renderPlainText, TITLE_MAX } from './plain-text.ts';
import { safeTree, writeHtml } from './safe-html.ts';

/**
 * Markdown (CommonMark with GitHub's extensions and front matter) as a safe page. What is nested too deep, or would grow
 * beyond measure, is shown as the plain text that it is; whether that happens depends on the text alone.
 */
export function renderMarkdown(markdown: string): Rendered {
  try {
    return renderTree(parseMarkdown(markdown));
  } catch (error) {
    if (error instanceof TooComplexError) return renderPlainText(markdown);
    throw error;
  }
}

/** A parsed document as a safe page. Throws a TooComplexError where it cannot be one. */
export function renderTree(markdown: Root): Rendered {
  return withoutOverflow(() => {
    const tree = safeTree(markdown);
    const { text, outline, paragraph } = readPageText(tree);
    const front = readFrontMatter(markdown);
    return {
      html: writeHtml(tree),
      text,
      outline,
      word_count: countWords(text),
      title: front.title || oneLine(outline[0]?.text ?? '', TITLE_MAX),
      description: front.description || paragraph,
      language: front.language,
    };
  });
}
