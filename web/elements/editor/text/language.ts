import { deleteMarkupBackward, insertNewlineContinueMarkupCommand, markdownLanguage } from '@codemirror/lang-markdown';
import { foldService, Language, languageDataProp, syntaxTree } from '@codemirror/language';
import { Prec, type StateCommand } from '@codemirror/state';
import { keymap } from '@codemirror/view';
import type { Input, SyntaxNode } from '@lezer/common';
import { styleTags, tags } from '@lezer/highlight';
import { type BlockContext, GFM, type InlineContext, type Line, type MarkdownConfig, parser } from '@lezer/markdown';

/** The facet of the library's own language, because its commands work only in a language with this facet. */
const { data } = markdownLanguage;

const EQUALS = 61;
const DOLLAR = 36;
const BRACKET = 91;
const EXCLAMATION = 33;
const isSpace = (text: string) => text.trim() === '';

const HighlightDelimiter = { resolve: 'Highlight', mark: 'HighlightMark' };

const highlight: MarkdownConfig = {
  defineNodes: [{ name: 'Highlight' }, { name: 'HighlightMark', style: tags.processingInstruction }],
  parseInline: [
    {
      name: 'Highlight',
      after: 'Emphasis',
      parse(cx, next, at) {
        if (next !== EQUALS || cx.char(at + 1) !== EQUALS || cx.char(at + 2) === EQUALS) return -1;
        const [before, after] = [cx.slice(at - 1, at), cx.slice(at + 2, at + 3)];
        return cx.addDelimiter(HighlightDelimiter, at, at + 2, !isSpace(after), !isSpace(before));
      },
    },
  ],
};

/** `[[Page]]`, `[[Page|text]]`, and `![[picture.png]]`. */
const wikiLinks: MarkdownConfig = {
  defineNodes: [
    { name: 'WikiLink', style: tags.link },
    { name: 'WikiEmbed', style: tags.link },
    { name: 'WikiLinkMark', style: tags.processingInstruction },
  ],
  parseInline: [
    {
      name: 'WikiLink',
      before: 'Link',
      parse(cx, next, at) {
        const isEmbed = next === EXCLAMATION;
        const open = isEmbed ? at + 1 : at;
        if (cx.char(open) !== BRACKET || cx.char(open + 1) !== BRACKET) return -1;
        const [written] = /^\[\[[^[\]\n]{1,600}\]\]/.exec(cx.slice(open, Math.min(cx.end, open + 604))) ?? [];
        if (!written) return -1;
        const end = open + written.length;
        const bar = isEmbed ? -1 : written.indexOf('|');
        const textFrom = bar < 0 ? open + 2 : open + bar + 1;
        const marks = [cx.elt('WikiLinkMark', at, textFrom), cx.elt('WikiLinkMark', end - 2, end)];
        return cx.addElement(cx.elt(isEmbed ? 'WikiEmbed' : 'WikiLink', at, end, marks));
      },
    },
  ],
};

function inlineMath(cx: InlineContext, at: number): number {
  const size = cx.char(at + 1) === DOLLAR ? 2 : 1;
  const mark = '$'.repeat(size);
  const text = cx.slice(at + size, cx.end);
  // As in Pandoc: an amount of money is not a formula.
  if (size === 1 && /^\s/.test(text)) return -1;
  for (let close = text.indexOf(mark); close >= 0; close = text.indexOf(mark, close + 1)) {
    if (close === 0 || text[close - 1] === '\\') continue;
    if (size === 1 && (/\s/.test(text[close - 1] ?? '') || /[\d$]/.test(text[close + 1] ?? ''))) continue;
    return cx.addElement(cx.elt('InlineMath', at, at + close + 2 * size));
  }
  return -1;
}

/**
 * Returns the number of enclosing blocks that a line continues. The parser's own blocks read this field, but its types
 * omit it.
 */
const depthOf = (line: Line) => (line as Line & { depth: number }).depth;

const math: MarkdownConfig = {
  defineNodes: [
    { name: 'InlineMath', style: tags.monospace },
    { name: 'BlockMath', block: true, style: tags.monospace },
  ],
  parseInline: [
    { name: 'InlineMath', before: 'Emphasis', parse: (cx, next, at) => (next === DOLLAR ? inlineMath(cx, at) : -1) },
  ],
  parseBlock: [
    {
      name: 'BlockMath',
      before: 'FencedCode',
      parse(cx, line) {
        if (!/^\$\$\s*$/.test(line.text.slice(line.pos))) return false;
        const from = cx.lineStart + line.pos;
        let to = cx.lineStart + line.text.length;
        while (cx.nextLine() && depthOf(line) >= cx.depth) {
          to = cx.lineStart + line.text.length;
          if (line.text.slice(line.pos).trim() !== '$$') continue;
          cx.nextLine();
          break;
        }
        cx.addElement(cx.elt('BlockMath', from, to));
        return true;
      },
    },
  ],
};

/** Maximum nesting of quotes and lists. The highlighter is recursive, and 10,000 levels overflow its stack. */
const DEEPEST = 100;

/** Treats deeper nesting as plain text. */
const plainWhereDeep: MarkdownConfig = {
  parseBlock: [
    {
      name: 'DeepText',
      before: 'IndentedCode',
      parse(cx, line) {
        if (cx.depth < DEEPEST) return false;
        cx.addElement(cx.elt('Paragraph', cx.lineStart + line.pos, cx.lineStart + line.text.length));
        cx.nextLine();
        return true;
      },
    },
  ],
};

/** Maximum length of front matter whose first line is not a field, such as a comment. */
const LOOKED_AT = 20_000;
const CLOSED = /^---[ \t]*\n(?:[^\n]*\n)*?---[ \t]*(?:\n|$)/;
/** Reads ahead in the parser's input, as its own blocks do; its types omit this field. */
const readStart = (cx: BlockContext) => (cx as BlockContext & { input: Input }).input.read(0, LOOKED_AT);

const frontMatter: MarkdownConfig = {
  defineNodes: [{ name: 'FrontMatter', block: true, style: tags.meta }],
  parseBlock: [
    {
      name: 'FrontMatter',
      before: 'HorizontalRule',
      parse(cx, line) {
        if (cx.lineStart > 0 || line.text.trimEnd() !== '---') return false;
        // Front matter has no closing line while it is being typed.
        if (!/^[\w-]+\s*:/.test(cx.peekLine()) && !CLOSED.test(readStart(cx))) return false;
        let to = line.text.length;
        while (cx.nextLine()) {
          to = cx.lineStart + line.text.length;
          if (line.text.trimEnd() !== '---') continue;
          cx.nextLine();
          break;
        }
        cx.addElement(cx.elt('FrontMatter', 0, to));
        return true;
      },
    },
  ],
};

const markdownParser = parser.configure([
  GFM,
  highlight,
  wikiLinks,
  math,
  frontMatter,
  plainWhereDeep,
  {
    props: [
      languageDataProp.add({ Document: data }),
      styleTags({ 'HighlightMark WikiLinkMark': tags.processingInstruction }),
    ],
  },
]);

const language = new Language(data, markdownParser, [], 'markdown');

/** Returns the level of a heading node; 0 for other nodes. */
export function headingLevel(name: string): number {
  return Number(/^(?:ATX|Setext)Heading(\d)$/.exec(name)?.[1] ?? 0);
}

/** Folds a heading up to the next heading of the same or a higher level. */
const foldHeadings = foldService.of((state, _start, end) => {
  for (let node = syntaxTree(state).resolveInner(end, -1); node.parent; node = node.parent) {
    const level = headingLevel(node.name);
    if (level === 0) continue;
    let next = node.nextSibling;
    let to = node.to;
    for (; next; next = next.nextSibling) {
      const other = headingLevel(next.name);
      if (other > 0 && other <= level) break;
      to = next.to;
    }
    return to > end ? { from: end, to } : null;
  }
  return null;
});

export const continueMarkup = insertNewlineContinueMarkupCommand({ nonTightLists: false });

/**
 * Leaves a quote at Enter in an empty line, as Enter ends a list. A blank line keeps the following text out of the
 * quote.
 */
const leaveQuote: StateCommand = ({ state, dispatch }) => {
  const { main, ranges } = state.selection;
  const line = state.doc.lineAt(main.head);
  if (ranges.length > 1 || !main.empty || line.number === 1 || !/^ {0,3}>[ >]*$/.test(line.text)) return false;
  if (!/^ {0,3}>/.test(state.doc.line(line.number - 1).text)) return false;
  let node: SyntaxNode | null = syntaxTree(state).resolveInner(line.from, 1);
  while (node && node.name !== 'Blockquote') node = node.parent;
  if (!node) return false;
  const outer = line.text.replace(/> *$/, '');
  const insert = `${outer.trimEnd()}\n${outer}`;
  const changes = { from: line.from, to: line.to, insert };
  dispatch(
    state.update({
      changes,
      selection: { anchor: line.from + insert.length },
      userEvent: 'input',
      scrollIntoView: true,
    }),
  );
  return true;
};

/**
 * Markdown as the service reads it. Does not use `markdown()` of lang-markdown, whose highlighting of HTML, CSS and
 * JavaScript is larger than the rest of it.
 */
export const markdownSupport = [
  language,
  foldHeadings,
  Prec.high(
    keymap.of([
      { key: 'Enter', run: (view) => leaveQuote(view) || continueMarkup(view) },
      { key: 'Backspace', run: deleteMarkupBackward },
    ]),
  ),
];

/** Parses a piece of Markdown on its own, such as the text of a table cell. */
export function parseMarkdownText(text: string) {
  return markdownParser.parse(text);
}
