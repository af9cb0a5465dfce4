import type { Root } from 'mdast';
import { indexBody } from './analysis/document-terms.ts';
import { addedDescription, withStructure } from './analysis/page-terms.ts';
import { markDirections } from './directions.ts';
import { readFrontMatter } from './front-matter/front-matter.ts';
import { linksOf, type PageLink, withWikiLinks } from './page-links.ts';
import { readPageText } from './page-text.ts';
import { catchOverflow, parseMarkdown, TooComplexError } from './parse-markdown.ts';
import { countWords, oneLine, type PlainReason, type Rendered, renderPlainText, TITLE_MAX } from './plain-text.ts';
import type { BlockCache } from './reuse/block-cache.ts';
import { safeTree, writeHtml } from './safe-html.ts';
import { NO_WIKI, type Wiki, wikiLinksOf } from './wiki-links.ts';

/**
 * Renders Markdown (CommonMark with GitHub's extensions, front matter, mathematics and wiki links) to a safe page. A
 * text that is nested too deep or would expand too much is shown as plain text; that depends only on the text.
 */
export function renderMarkdown(markdown: string, wiki: Wiki = NO_WIKI): Rendered {
  try {
    return renderTree(parseMarkdown(markdown), wiki);
  } catch (error) {
    if (error instanceof TooComplexError) return renderPlainText(markdown);
    throw error;
  }
}

/** The input to render a page in another process: functions cannot be sent to it. */
export interface PageInput {
  wiki_id: string;
  markdown: string;
  page_path: string;
  /** The paths of the pages that its wiki links may refer to, by target (as `possibleWikiTargets` lists them). */
  pagesByTarget: ReadonlyMap<string, string>;
}

export interface RenderedPage extends Omit<Rendered, 'blocks' | 'text_indexed'> {
  /** The paths of the wiki that the page links to. */
  links: PageLink[];
  plain_reason: PlainReason;
}

/**
 * As `renderMarkdown`, and also returns links and the reason if the page is shown as plain text. Blocks in `cache` are
 * not parsed again.
 */
export function renderPage(
  { wiki_id, markdown, page_path, pagesByTarget }: PageInput,
  cache?: BlockCache,
): RenderedPage {
  const findPage = (target: string) => {
    const path = pagesByTarget.get(target);
    return path === undefined ? undefined : { path };
  };
  try {
    const tree = parseMarkdown(markdown, cache?.of(wiki_id));
    const links = linksOf(tree, markdown, page_path);
    const { blocks, text_indexed, ...rendered } = renderTree(tree, { wiki_id, page_path, findPage });
    return { ...rendered, links: withWikiLinks(links, rendered.wiki_links), plain_reason: '' };
  } catch (error) {
    if (error instanceof TooComplexError) return plainPage(markdown, 'too_complex');
    throw error;
  }
}

/** As `renderPage` for a text that is shown as plain text. */
export function plainPage(markdown: string, plain_reason: PlainReason): RenderedPage {
  const { blocks, text_indexed, ...plain } = renderPlainText(markdown);
  return { ...plain, links: [], plain_reason };
}

/** Renders a parsed document to a safe page. Throws a TooComplexError. */
export function renderTree(markdown: Root, wiki: Wiki = NO_WIKI): Rendered {
  return catchOverflow(() => {
    const tree = safeTree(markdown, wiki);
    markDirections(tree);
    const { text, outline, title, paragraph, blocks } = readPageText(tree);
    const front = readFrontMatter(markdown);
    const html = writeHtml(tree);
    const text_indexed = indexBody(text);
    const description = front.description || paragraph;
    return {
      html,
      text,
      outline,
      indexed: withStructure(text_indexed, {
        ...front,
        outline,
        html,
        description: addedDescription(description, text),
      }),
      text_indexed,
      blocks,
      word_count: countWords(text),
      title: front.title || oneLine(title, TITLE_MAX),
      description,
      language: front.language,
      tags: front.tags,
      properties: front.properties,
      wiki_links: wikiLinksOf(markdown, wiki),
    };
  });
}
