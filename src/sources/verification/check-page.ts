import { setImmediate as nextTurn } from 'node:timers/promises';
import { type OutlineEntry, renderPlainText } from '@ibid/markdown/plain-text.ts';
import type { RenderedPage } from '@ibid/markdown/render.ts';
import { type CitedBlock, meantIn } from '../records/cited-blocks.ts';
import { compareBlocks, readShownPage, type ShownBlock, type ShownPage } from '../records/shown-blocks.ts';
import { type Finding, finding } from './findings.ts';

/** The current revision of a page, from the database. */
export interface StoredPage {
  page_id: string;
  revision: number;
  /** compiled: not edited since. */
  origin: 'authored' | 'compiled';
  markdown: string;
  html: string;
  outline: readonly OutlineEntry[];
  /** The text in the search index. */
  page_text: string;
  /** The folder that relative links start from. */
  folder: string;
  meant: Record<string, string> | null;
}

/**
 * Checks the HTML of a page against its rendered Markdown and, if the page was not edited, against the compiled blocks.
 * `rendered` is undefined if the page was not rendered again.
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
  // `rendered` has no link targets, because it was rendered without the rest of the wiki: compare without targets.
  const unchangedIn = (shown: ShownPage) => compareBlocks(cited, shown, null).map(isUnchanged);
  const findings: Finding[] = [];
  const isCompiled = origin === 'compiled' && cited.length > 0;
  const htmlIsWrong = isCompiled && unchanged.includes(false);
  const message = 'differs from the compiled text, but no edit is recorded';
  if (htmlIsWrong) findings.push(finding('html_altered', `the HTML of the page ${message}`, page_id));
  if (!rendered) return { findings, shown: blocks, unchanged };
  const isSame = withoutWikiLinks(html) === withoutWikiLinks(rendered.html);
  const fromMarkdown = isSame ? now : await readInTurn(rendered.html);
  const shown = isSame || isPlain(html, markdown, now, fromMarkdown);
  const markdownIsWrong = isCompiled && (shown ? unchanged : unchangedIn(fromMarkdown)).includes(false);
  if (markdownIsWrong) findings.push(finding('markdown_altered', `the Markdown of the page ${message}`, page_id));
  if (!shown && !htmlIsWrong && !markdownIsWrong) {
    findings.push(finding('page_altered', 'the HTML of the page differs from its rendered Markdown', page_id));
  }
  if (shown && outlineOf(page) !== outlineOf(rendered)) {
    findings.push(finding('outline_altered', 'the outline of the page does not match its headings', page_id));
  }
  if (now.text !== page_text.trimEnd()) {
    findings.push(finding('page_text_altered', 'the indexed text differs from the text of the page', page_id));
  }
  return { findings, shown: blocks, unchanged };
}

function isUnchanged({ shown }: ShownBlock): boolean {
  return shown === 'unchanged';
}

/** Parses in a separate turn of the event loop: a page of 1 MiB takes about 20 ms of CPU. */
async function readInTurn(html: string, folder = ''): Promise<ShownPage> {
  await nextTurn();
  return readShownPage(html, folder);
}

function outlineOf({ outline }: { outline: readonly OutlineEntry[] }): string {
  return JSON.stringify(outline.map(({ level, text, anchor }) => [level, text, anchor]));
}

/** Whether the page shows its Markdown as plain text, because it was too complex or took too long to render. */
function isPlain(html: string, markdown: string, now: ShownPage, rendered: ShownPage): boolean {
  if (!html.startsWith('<pre>\n')) return false;
  if (html === renderPlainText(markdown).html) return true;
  const formsOf = ({ blocks }: ShownPage) => blocks.map(({ form }) => form).join('\n');
  return formsOf(now) === formsOf(rendered);
}

/** Targets of wiki links depend on the pages that exist, so they are not compared. */
function withoutWikiLinks(html: string): string {
  return html.replace(/<a((?:[^"'>]|"[^"]*"|'[^']*')*)>/g, (tag, attributes: string) =>
    /\sclass="wiki[ "]/.test(attributes) ? '<a class="wiki">' : tag,
  );
}
