import type { LineRun } from '../../source-lines.ts';
import { addressOfContent, withPicturesElsewhere } from '../data-pictures.ts';
import type { Loss } from '../losses.ts';
import { type LogseqText, readLogseq } from './logseq.ts';
import { markdownLosses } from './markdown-losses.ts';

/**
 * Matches blank lines before front matter. Hugo skips them; Markdown would read the fields as a rule and a heading. The
 * first line of the front matter must be a field, because a line of dashes alone may be a rule.
 */
const BLANK_LINES = /^(?:[ \t]*\n)+(?=(---|\+\+\+)[ \t]*\n[A-Za-z_][\w-]*[ \t]*[:=][\s\S]*?\n\1[ \t]*(?:\n|$))/;

/**
 * Returns a Markdown file unchanged, except that blank lines before front matter are removed and pictures in `data:`
 * addresses become attachments. Properties and blocks of Logseq become standard Markdown.
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
