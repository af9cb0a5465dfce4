import { mayHaveMarks } from '@ibid/markdown/dialects/attributes.ts';
import { isKind } from '@ibid/markdown/dialects/callouts.ts';
import type { Hidden } from '@ibid/markdown/dialects/mask.ts';
import { maskOf } from '@ibid/markdown/dialects/mask-of.ts';
import { withFrontMatterEnd } from '@ibid/markdown/front-matter/ends.ts';
import { isBrokenYaml } from '@ibid/markdown/front-matter/fields.ts';
import { parseMarkdown, TooComplexError } from '@ibid/markdown/parse-markdown.ts';
import { type Loss, type LossKind, lostText } from '../losses.ts';

const FRONT_MATTER = /^(---|\+\+\+)[ \t]*\n(?:[\s\S]*?\n)?\1[ \t]*(?:\n|$)/;
const FIELD = /^([\w-]+)[ \t]*[:=]/;
/** Fields of front matter that a page uses. */
const USED = new Set(['title', 'description', 'lang']);

/** The beginning of code, a comment, an element that pages may not contain, or an embed. */
const BEGINS =
  /^[ \t>]*(?:(?:[-+*]|\d{1,9}[.)])[ \t]+)*(?<fence>`{3,}|~{3,})|(?<code>`+)|(?<comment><!--)|<(?<element>script|style|iframe|object|embed|svg|math|applet|frameset|noembed|noframes)(?=[\s/>])|!\[\[(?<embed>[^[\]\n]{1,600})\]\]/gim;

/** Embedded files, which become attachments of the page if the upload has them. */
const IS_FILE = /\.[a-z0-9]{2,6}(?:[|#]|$)/i;

/**
 * Lists the content of a Markdown file that its page does not show, with kind and line. `first`: the number of the
 * text's first line. Takes linear time.
 */
export function markdownLosses(written: string, first = 1): Loss[] {
  const markdown = withFrontMatterEnd(written);
  const found: { start: number; kind: LossKind; text: string; isThing?: boolean }[] = [];
  const front = FRONT_MATTER.exec(markdown)?.[0] ?? '';
  found.push(...fieldsOf(front));
  if (front.startsWith('---') && isBrokenYaml(front.replace(/^---.*\n|---[ \t]*\n?$/g, '')))
    found.push({ start: 0, kind: 'damaged_part', text: 'front matter with invalid YAML', isThing: true });
  for (const { what, start, end } of hiddenIn(markdown)) {
    found.push({ start, kind: KINDS[what], text: markdown.slice(start, end) });
  }
  const without = new Set<string>();
  const endOf = (from: number, closing: string) => {
    const at = without.has(closing) ? -1 : lower.indexOf(closing, from);
    if (at < 0) without.add(closing);
    return at < 0 ? undefined : at + closing.length;
  };
  const lower = markdown.toLowerCase();
  let from = front.length;
  for (const { 0: opening, index: start, groups = {} } of markdown.matchAll(BEGINS)) {
    if (start < from) continue;
    const { fence, code, comment, element, embed } = groups;
    const inside = start + opening.length;
    if (fence !== undefined) {
      const indent = indentOf(opening.slice(0, -fence.length));
      // In a block quote, the closing fence may follow `>` without a space.
      const ends = [indent, indent.replace(/> $/, '>')].map((before) => endOf(inside, `\n${before}${fence}`));
      from = Math.min(...ends.map((end) => end ?? markdown.length));
    } else if (code !== undefined) from = endOf(inside, code) ?? inside;
    else if (embed !== undefined) {
      if (!IS_FILE.test(embed)) found.push({ start, kind: 'embedded_object', text: embed, isThing: true });
    } else {
      const end = endOf(inside, comment ? '-->' : `</${element?.toLowerCase()}>`);
      if (end === undefined) continue;
      const kind = comment ? 'markup_comment' : /script|style/i.test(element ?? '') ? 'script' : 'embedded_object';
      found.push({ start, kind, text: markdown.slice(start, end) });
      from = end;
    }
  }
  return atLines(markdown, found, first);
}

const KINDS: Record<Hidden['what'], LossKind> = { code: 'script', comment: 'markup_comment', mark: 'metadata' };

/** The limit for parsing, in UTF-16 units; longer texts are only parsed in parts, to bound memory. */
const PARSED_MAX = 250_000;

/** Finds comments and code of MDX. Only the parser can tell them from code blocks that contain some. */
function hiddenIn(markdown: string): readonly Hidden[] {
  const hidden = maskOf(markdown, isKind)?.hidden ?? [];
  if ((hidden.length === 0 && !mayHaveMarks(markdown)) || markdown.length > PARSED_MAX) return hidden;
  try {
    const { hidden: found = [], marks = [] } = parseMarkdown(markdown).data ?? {};
    return [...found, ...marks.map(([start, end]) => ({ what: 'mark' as const, start, end }))];
  } catch (error) {
    // The text becomes plain text, which shows its comments.
    if (error instanceof TooComplexError) return [];
    throw error;
  }
}

/** Returns the text in front of the end of a code block, given the text in front of its beginning. */
function indentOf(before: string): string {
  return before.replace(/[^\s>]/g, ' ');
}

/** Returns the fields of front matter that a page does not use. */
function fieldsOf(front: string): { start: number; kind: LossKind; text: string }[] {
  const fields: { start: number; kind: LossKind; text: string }[] = [];
  let start = 0;
  for (const line of front.split('\n')) {
    const name = FIELD.exec(line)?.[1];
    if (name !== undefined) fields.push({ start, kind: 'metadata', text: line });
    else if (fields.length > 0 && !/^(?:---|\+\+\+)[ \t]*$/.test(line))
      (fields.at(-1) as { text: string }).text += `\n${line}`;
    start += line.length + 1;
  }
  return fields.filter(({ text }) => !USED.has(FIELD.exec(text)?.[1] ?? ''));
}

function atLines(
  markdown: string,
  found: { start: number; kind: LossKind; text: string; isThing?: boolean }[],
  first: number,
): Loss[] {
  let line = first;
  let at = 0;
  return found
    .sort((a, b) => a.start - b.start)
    .map(({ start, kind, text, isThing }) => {
      for (let next = markdown.indexOf('\n', at); next >= 0 && next < start; next = markdown.indexOf('\n', at)) {
        line += 1;
        at = next + 1;
      }
      return { ...lostText(kind, text, `line ${line}`), ...(isThing && { characters: 0 }) };
    });
}
