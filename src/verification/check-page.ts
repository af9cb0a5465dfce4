import { type OutlineEntry, renderPlainText } from '../markdown/plain-text.ts';
import type { RenderedPage } from '../markdown/render.ts';
import type { CitedBlock } from '../sources/cited-blocks.ts';
import { compareBlocks, readShownPage } from '../sources/shown-blocks.ts';
import { type Finding, finding } from './findings.ts';

/** The present revision of a page, as it is stored. */
export interface StoredPage {
  page_id: string;
  revision: number;
  /** compiled: it has not been edited since. */
  origin: 'authored' | 'compiled';
  markdown: string;
  html: string;
  outline: readonly OutlineEntry[];
  /** What searches look at. */
  page_text: string;
}

/**
 * What a page shows against its Markdown as it is rendered now (`rendered`; undefined where it was not rendered again), and
 * against the blocks that were compiled, where it has not been edited since.
 */
export function checkPage(
  page: StoredPage,
  cited: readonly CitedBlock[],
  rendered: RenderedPage | undefined,
): { findings: Finding[]; unchanged: boolean[] } {
  const { page_id, origin, markdown, html, page_text } = page;
  const isComplete = (of: string) =>
    compareBlocks(cited, readShownPage(of)).every(({ shown }) => shown === 'unchanged');
  const unchanged = compareBlocks(cited, readShownPage(html)).map(({ shown }) => shown === 'unchanged');
  const findings: Finding[] = [];
  const isCompiled = origin === 'compiled' && cited.length > 0;
  const htmlIsWrong = isCompiled && unchanged.includes(false);
  const message = 'says something else than what was compiled, and no edit of it is recorded';
  if (htmlIsWrong) findings.push(finding('html_altered', `the HTML of the page ${message}`, page_id));
  if (rendered) {
    const shown = isShownFrom(html, markdown, rendered);
    const markdownIsWrong = isCompiled && !isComplete(shown ? html : rendered.html);
    if (markdownIsWrong) findings.push(finding('markdown_altered', `the Markdown of the page ${message}`, page_id));
    if (!shown && !htmlIsWrong && !markdownIsWrong) {
      findings.push(
        finding('page_altered', 'the HTML of the page is not what its Markdown is rendered to now', page_id),
      );
    }
    if (shown && outlineOf(page) !== outlineOf(rendered)) {
      findings.push(finding('outline_altered', 'the outline of the page does not have its headings', page_id));
    }
    const text = readShownPage(html).text;
    if (text !== page_text.trimEnd()) {
      findings.push(finding('page_text_altered', 'the text that searches find is not that of the page', page_id));
    }
  }
  return { findings, unchanged };
}

function outlineOf({ outline }: { outline: readonly OutlineEntry[] }): string {
  return JSON.stringify(outline.map(({ level, text, anchor }) => [level, text, anchor]));
}

/** Whether HTML is what a Markdown text is rendered to; where wiki links lead depends on the pages that there are. */
function isShownFrom(html: string, markdown: string, rendered: RenderedPage): boolean {
  if (withoutWikiLinks(html) === withoutWikiLinks(rendered.html)) return true;
  // What took too long to render, or was too complex, is shown as it is.
  if (!html.startsWith('<pre>\n')) return false;
  if (html === renderPlainText(markdown).html) return true;
  const forms = (of: string) =>
    readShownPage(of)
      .blocks.map(({ form }) => form)
      .join('\n');
  return forms(html) === forms(rendered.html);
}

function withoutWikiLinks(html: string): string {
  return html.replace(/<a((?:[^"'>]|"[^"]*"|'[^']*')*)>/g, (tag, attributes: string) =>
    /\sclass="wiki[ "]/.test(attributes) ? '<a class="wiki">' : tag,
  );
}
