import type { Root } from 'mdast';
import { indexBody } from '../analysis/document-terms.ts';
import { readFrontMatter } from './front-matter.ts';
import { linksOf, type PageLink, withWikiLinks } from './page-links.ts';
import { readPageText } from './page-text.ts';
import { parseMarkdown, TooComplexError, withoutOverflow } from './parse-markdown.ts';
import { countWords, oneLine, type PlainReason, type Rendered, renderPlainText, TITLE_MAX } from './plain-text.ts';
import { safeTree, writeHtml } from './safe-html.ts';
import { NO_WIKI, type Wiki, wikiLinksOf } from './wiki-links.ts';

/**
 * Markdown (CommonMark with GitHub's extensions, front matter, mathematics and wiki links) as a safe page. What is nested
 * too deep, or would grow beyond measure, is shown as the plain text that it is; whether that happens depends on the text
 * alone. The text itself is never changed: whoever stores it stores what was given.
 */
export function renderMarkdown(markdown: string, wiki: Wiki = NO_WIKI): Rendered {
  try {
    return renderTree(parseMarkdown(markdown), wiki);
  } catch (error) {
    if (error instanceof TooComplexError) return renderPlainText(markdown);
    throw error;
  }
}

/** A page to be rendered in another thread, which no function can be given to. */
export interface PageInput {
  wiki_id: string;
  markdown: string;
  page_path: string;
  /** The paths of the pages that its wiki links may mean, by target (`possibleWikiTargets` names them beforehand). */
  known: ReadonlyMap<string, string>;
}

export interface RenderedPage extends Rendered {
  /** The paths of the wiki that it links to. */
  links: PageLink[];
  plain_reason: PlainReason;
}

/** Renders a page that somebody wrote; whatever its text holds there is one. */
export type RenderPage = (page: PageInput) => Promise<RenderedPage>;

/** As `renderMarkdown`, and says why a page is shown as plain text. */
export function renderPage({ wiki_id, markdown, page_path, known }: PageInput): RenderedPage {
  const findPage = (target: string) => {
    const path = known.get(target);
    return path === undefined ? undefined : { path };
  };
  try {
    const tree = parseMarkdown(markdown);
    const links = linksOf(tree, markdown, page_path);
    const rendered = renderTree(tree, { wiki_id, page_path, findPage });
    return { ...rendered, links: withWikiLinks(links, rendered.wiki_links), plain_reason: '' };
  } catch (error) {
    if (error instanceof TooComplexError)
      return { ...renderPlainText(markdown), plain_reason: 'too_complex', links: [] };
    throw error;
  }
}

/** A parsed document as a safe page. Throws a TooComplexError where it cannot be one. */
export function renderTree(markdown: Root, wiki: Wiki = NO_WIKI): Rendered {
  return withoutOverflow(() => {
    const tree = safeTree(markdown, wiki);
    const { text, outline, paragraph, blocks } = readPageText(tree);
    const front = readFrontMatter(markdown);
    return {
      html: writeHtml(tree),
      text,
      outline,
      indexed: indexBody(text),
      blocks,
      word_count: countWords(text),
      title: front.title || oneLine(outline[0]?.text ?? '', TITLE_MAX),
      description: front.description || paragraph,
      language: front.language,
      wiki_links: wikiLinksOf(markdown, wiki),
    };
  });
}
