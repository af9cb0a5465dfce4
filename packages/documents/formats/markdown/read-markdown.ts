import type { LineRun } from '../../source-lines.ts';
import { addressOfContent, withPicturesElsewhere } from '../data-pictures.ts';
import type { Loss } from '../losses.ts';
import { type LogseqText, readLogseq } from './logseq.ts';
import { markdownLosses } from './markdown-losses.ts';

/**
 * Blank lines before front matter. Hugo reads over them; to Markdown the fields behind them would be a line and a heading. Front matter
 * begins with a field here, since a line of dashes may be only that.
 */
const BLANK_LINES = /^(?:[ \t]*\n)+(?=(---|\+\+\+)[ \t]*\n[A-Za-z_][\w-]*[ \t]*[:=][\s\S]*?\n\1[ \t]*(?:\n|$))/;

/**
 * A Markdown file as it is, without what stands before its front matter, and with its pictures elsewhere. Properties and blocks of Logseq
 * are as other Markdown has them.
 */
export function readMarkdown(text: string): { markdown: string; losses: Loss[]; lines?: LineRun[] } {
  const before = BLANK_LINES.exec(text)?.[0] ?? '';
  const written = withPicturesElsewhere(text.slice(before.length), addressOfContent);
  const logseq = before === '' ? readLogseq(written) : undefined;
  if (logseq) return withProperties(logseq);
  const first = before.split('\n').length;
  const losses = markdownLosses(written, first);
  return before === ''
    ? { markdown: written, losses }
    : { markdown: written, losses, lines: [{ at: 1, line: first, height: 1 }] };
}

function withProperties({ markdown, lines, rest, losses }: LogseqText) {
  const others = markdownLosses(rest).map((loss) => ({ line: Number(/\d+$/.exec(loss.place)?.[0] ?? 0), loss }));
  const all = [...losses, ...others].sort((a, b) => a.line - b.line);
  return { markdown, lines, losses: all.map(({ loss }) => loss) };
}
