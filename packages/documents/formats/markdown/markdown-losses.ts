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
/** What a page takes from its front matter. */
const USED = new Set(['title', 'description', 'lang']);

/** Where code, a comment, an element that no page may contain, or something embedded begins. */
const BEGINS =
  /^[ \t>]*(?:(?:[-+*]|\d{1,9}[.)])[ \t]+)*(?<fence>`{3,}|~{3,})|(?<code>`+)|(?<comment><!--)|<(?<element>script|style|iframe|object|embed|svg|math|applet|frameset|noembed|noframes)(?=[\s/>])|!\[\[(?<embed>[^[\]\n]{1,600})\]\]/gim;

/** Files, which are attachments of the page where the upload has them. */
const IS_FILE = /\.[a-z0-9]{2,6}(?:[|#]|$)/i;

/**
 * What of a Markdown file its page does not show: by kind, each with its line, of which the text's first has the number `first`.
 * Linear in the length of the text.
 */
export function markdownLosses(written: string, first = 1): Loss[] {
  const markdown = withFrontMatterEnd(written);
  const found: { start: number; kind: LossKind; text: string; isThing?: boolean }[] = [];
  const front = FRONT_MATTER.exec(markdown)?.[0] ?? '';
  found.push(...fieldsOf(front));
  if (front.startsWith('---') && isBrokenYaml(front.replace(/^---.*\n|---[ \t]*\n?$/g, '')))
    found.push({ start: 0, kind: 'damaged_part', text: 'front matter that YAML refuses', isThing: true });
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
      // In a quote, the fence that ends it may have no space before it.
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

/** In UTF-16 units; a longer text is only ever parsed in parts, to bound the memory it takes. */
const PARSED_MAX = 250_000;

/** Comments and code of MDX. Only parsing tells them from code that shows some. */
function hiddenIn(markdown: string): readonly Hidden[] {
  const hidden = maskOf(markdown, isKind)?.hidden ?? [];
  if ((hidden.length === 0 && !mayHaveMarks(markdown)) || markdown.length > PARSED_MAX) return hidden;
  try {
    const { hidden: found = [], marks = [] } = parseMarkdown(markdown).data ?? {};
    return [...found, ...marks.map(([start, end]) => ({ what: 'mark' as const, start, end }))];
  } catch (error) {
    // It becomes plain text, which shows them.
    if (error instanceof TooComplexError) return [];
    throw error;
  }
}

/** What stands before the end of code whose beginning has this before it. */
function indentOf(before: string): string {
  return before.replace(/[^\s>]/g, ' ');
}

/** The fields of the front matter that a page does not use. */
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
