import { setImmediate as nextTurn } from 'node:timers/promises';
import { type OutlineEntry, renderPlainText } from '@ibid/markdown/plain-text.ts';
import type { RenderedPage } from '@ibid/markdown/render.ts';
import { type CitedBlock, meantIn } from '../records/cited-blocks.ts';
import { compareBlocks, readShownPage, type ShownBlock, type ShownPage } from '../records/shown-blocks.ts';
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
  /** The folder that its addresses are relative to. */
  folder: string;
  meant: Record<string, string> | null;
}

/**
 * What a page shows against its Markdown as it is rendered now (`rendered`; undefined where it was not rendered again), and
 * against the blocks that were compiled, where it has not been edited since.
 */
export async function checkPage(
  page: StoredPage,
  cited: readonly CitedBlock[],
  rendered: RenderedPage | undefined,
): Promise<{ findings: Finding[]; shown: ShownBlock[]; unchanged: boolean[] }> {
  const { page_id, origin, markdown, html, page_text, folder } = page;
  const now = await readInTurn(html, folder);
  const blocks = compareBlocks(cited, now, meantIn(page));
  const unchanged = blocks.map(isUnchanged);
  // It is rendered without the pages around it, on which its targets depend.
  const unchangedIn = (shown: ShownPage) => compareBlocks(cited, shown, null).map(isUnchanged);
  const findings: Finding[] = [];
  const isCompiled = origin === 'compiled' && cited.length > 0;
  const htmlIsWrong = isCompiled && unchanged.includes(false);
  const message = 'says something else than what was compiled, and no edit of it is recorded';
  if (htmlIsWrong) findings.push(finding('html_altered', `the HTML of the page ${message}`, page_id));
  if (!rendered) return { findings, shown: blocks, unchanged };
  const isSame = withoutWikiLinks(html) === withoutWikiLinks(rendered.html);
  const fromMarkdown = isSame ? now : await readInTurn(rendered.html);
  const shown = isSame || isPlain(html, markdown, now, fromMarkdown);
  const markdownIsWrong = isCompiled && (shown ? unchanged : unchangedIn(fromMarkdown)).includes(false);
  if (markdownIsWrong) findings.push(finding('markdown_altered', `the Markdown of the page ${message}`, page_id));
  if (!shown && !htmlIsWrong && !markdownIsWrong) {
    findings.push(finding('page_altered', 'the HTML of the page is not what its Markdown is rendered to now', page_id));
  }
  if (shown && outlineOf(page) !== outlineOf(rendered)) {
    findings.push(finding('outline_altered', 'the outline of the page does not have its headings', page_id));
  }
  if (now.text !== page_text.trimEnd()) {
    findings.push(finding('page_text_altered', 'the text that searches find is not that of the page', page_id));
  }
  return { findings, shown: blocks, unchanged };
}

function isUnchanged({ shown }: ShownBlock): boolean {
  return shown === 'unchanged';
}

/** A page of 1 MiB takes some 20 ms of CPU, in a turn of the event loop of its own. */
async function readInTurn(html: string, folder = ''): Promise<ShownPage> {
  await nextTurn();
  return readShownPage(html, folder);
}

function outlineOf({ outline }: { outline: readonly OutlineEntry[] }): string {
  return JSON.stringify(outline.map(({ level, text, anchor }) => [level, text, anchor]));
}

/** Whether a page that took too long to render, or was too complex, shows its Markdown as it is written. */
function isPlain(html: string, markdown: string, now: ShownPage, rendered: ShownPage): boolean {
  if (!html.startsWith('<pre>\n')) return false;
  if (html === renderPlainText(markdown).html) return true;
  const formsOf = ({ blocks }: ShownPage) => blocks.map(({ form }) => form).join('\n');
  return formsOf(now) === formsOf(rendered);
}

/** Where wiki links lead depends on the pages that there are. */
function withoutWikiLinks(html: string): string {
  return html.replace(/<a((?:[^"'>]|"[^"]*"|'[^']*')*)>/g, (tag, attributes: string) =>
    /\sclass="wiki[ "]/.test(attributes) ? '<a class="wiki">' : tag,
  );
}
