import { syntaxTree } from '@codemirror/language';
import { type Extension, type Range, RangeSet } from '@codemirror/state';
import { Decoration, type DecorationSet, type EditorView, ViewPlugin, type ViewUpdate } from '@codemirror/view';
import type { SyntaxNode } from '@lezer/common';
import { embedOf } from '../../../embeds/services.ts';
import { headingLevel } from '../language.ts';
import { isCaretPlaced } from './caret-placed.ts';
import { EmbedWidget } from './embed-widget.ts';
import { listItemMarks } from './lists.ts';
import { HIDDEN, type Marking } from './marking.ts';
import { quoteMarks } from './quotes.ts';
import { DrawnWidget, LabelWidget, PictureWidget, RuleWidget } from './widgets.ts';

const STYLES: Record<string, string> = {
  StrongEmphasis: 'rich-strong',
  Emphasis: 'rich-emphasis',
  Strikethrough: 'rich-strike',
  InlineCode: 'rich-code',
  Highlight: 'rich-highlight',
  Link: 'rich-link',
  Autolink: 'rich-link',
  WikiLink: 'rich-link',
};
const styles = new Map(
  Object.entries(STYLES).map(([name, className]) => [name, Decoration.mark({ class: className })]),
);
/** Maximum length of an address of another service, in characters. */
const ADDRESS_MAX = 2_000;
/** Marks shown only at the selection. */
const SHOWN_AT_CARET = /^(?:EmphasisMark|CodeMark|StrikethroughMark|HighlightMark|LinkMark|WikiLinkMark)$/;

function markNode(marking: Marking, node: SyntaxNode): boolean {
  const { state, add } = marking;
  const { name, from, to } = node;
  const level = headingLevel(name);
  if (level > 0) markHeading(marking, node, level);
  else if (name === 'Blockquote') quoteMarks(marking, node);
  else if (name === 'ListItem') listItemMarks(marking, node);
  else if (name === 'FencedCode' || name === 'CodeBlock') return markCode(marking, node);
  else if (name === 'FrontMatter' || name === 'HTMLBlock' || name === 'CommentBlock' || name === 'LinkReference') {
    marking.addLines(from, to, 'rich-source');
    return name === 'LinkReference';
  } else if (name === 'Table' || name === 'BlockMath') {
    marking.addLines(from, to, 'rich-source');
    return false;
  } else if (name === 'HorizontalRule') {
    if (!marking.isTouched(from, to)) add(Decoration.replace({ widget: new RuleWidget() }).range(from, to));
  } else if (name === 'Paragraph') return !markEmbed(marking, node);
  else if (name === 'Image') return markPicture(marking, node);
  else if (name === 'InlineMath') {
    const text = state.sliceDoc(from, to).replace(/^\$+|\$+$/g, '');
    if (!marking.isTouched(from, to))
      add(Decoration.replace({ widget: new DrawnWidget('math-inline', text) }).range(from, to));
  } else if (name === 'HardBreak') {
    if (!marking.isTouched(from, to - 1)) add(HIDDEN.range(from, to - 1));
  } else if (name === 'Escape') {
    if (!marking.isTouched(from, to)) add(HIDDEN.range(from, from + 1));
  } else {
    const style = styles.get(name);
    if (style && to > from) add(style.range(from, to));
    if (style && !marking.isTouched(from, to)) hideMarks(marking, node);
  }
  return true;
}

function hideMarks({ add }: Marking, node: SyntaxNode): void {
  const isLink = node.name === 'Link';
  let closing: number | undefined;
  for (let child = node.firstChild; child; child = child.nextSibling) {
    if (!SHOWN_AT_CARET.test(child.name) || child.from === child.to) continue;
    // After the text of a link, hide everything from the closing bracket on: the address and the title.
    if (isLink && child.from > node.from) {
      closing ??= child.from;
      continue;
    }
    add(HIDDEN.range(child.from, child.to));
  }
  if (closing !== undefined) add(HIDDEN.range(closing, node.to));
}

function markHeading({ state, add, addLines, isTouched }: Marking, node: SyntaxNode, level: number): void {
  addLines(node.from, node.to, `rich-h${level}`);
  const line = state.doc.lineAt(node.to);
  for (const mark of node.getChildren('HeaderMark')) {
    if (isTouched(node.from, line.to)) continue;
    const isOpening = mark.from === node.from && node.name.startsWith('ATX');
    const end = isOpening ? Math.min(mark.to + 1, node.to) : mark.to;
    if (isOpening) add(HIDDEN.range(mark.from, end));
    else add(Decoration.mark({ class: 'rich-mark' }).range(mark.from, mark.to));
  }
}

function markCode({ state, add, addLines, isTouched }: Marking, node: SyntaxNode): boolean {
  addLines(node.from, node.to, 'rich-pre');
  const [first, last] = [state.doc.lineAt(node.from), state.doc.lineAt(node.to)];
  add(Decoration.line({ class: 'rich-pre-first' }).range(first.from));
  add(Decoration.line({ class: 'rich-pre-last' }).range(last.from));
  if (node.name !== 'FencedCode' || isTouched(first.from, last.to)) return false;
  const info = node.getChild('CodeInfo');
  const language = info ? state.sliceDoc(info.from, info.to) : '';
  add(Decoration.replace({ widget: new LabelWidget(language || 'text', 'rich-language') }).range(node.from, first.to));
  const closing = node.getChildren('CodeMark').at(-1);
  if (closing && closing.from >= last.from && last.from > first.from) add(HIDDEN.range(closing.from, last.to));
  return false;
}

/** Shows an address on its own as a card, as the page does. Returns whether the card replaced the address. */
function markEmbed(marking: Marking, { from, to }: SyntaxNode): boolean {
  if (to - from > ADDRESS_MAX) return false;
  const [, address = ''] = /^<?(https?:\/\/[^\s<>]+)>?$/.exec(marking.state.sliceDoc(from, to)) ?? [];
  const embed = address === '' ? undefined : embedOf(address);
  return embed !== undefined && addEmbed(marking, { from, to }, new EmbedWidget(embed, address, ''));
}

/**
 * Adds the card. While the selection touches the address, the address stays editable and only the service's name
 * follows it. Returns whether the card replaced the address.
 */
function addEmbed(marking: Marking, { from, to }: { from: number; to: number }, widget: EmbedWidget): boolean {
  const isTouched = marking.isTouched(from, to);
  const label = new LabelWidget(widget.embed.name, 'rich-embed-name');
  if (isTouched) marking.add(Decoration.widget({ widget: label, side: 1 }).range(to));
  else marking.add(Decoration.replace({ widget }).range(from, to));
  return !isTouched;
}

function markPicture(marking: Marking, node: SyntaxNode): boolean {
  const { state, add, isTouched, resolvePicture } = marking;
  const url = node.getChild('URL');
  if (!url) return true;
  const [open, close] = node.getChildren('LinkMark');
  const alt = open && close ? state.sliceDoc(open.to, close.from) : '';
  const address = state.sliceDoc(url.from, url.to);
  // Obsidian writes the address of a video this way.
  const embed = embedOf(address);
  if (embed) {
    addEmbed(marking, node, new EmbedWidget(embed, address, alt.trim()));
    return false;
  }
  const widget = new PictureWidget(resolvePicture(address), alt);
  if (isTouched(node.from, node.to)) add(Decoration.widget({ widget, side: 1 }).range(node.to));
  else add(Decoration.replace({ widget }).range(node.from, node.to));
  return false;
}

const GAP = Decoration.line({ class: 'rich-gap' });

/**
 * Shrinks the empty line after a block to the margin that the page has there. Further empty lines are being written,
 * and keep their height.
 */
function markGaps({ state, add }: Marking, from: number, to: number): void {
  let line = state.doc.lineAt(from);
  let hasText = line.number > 1 && state.doc.line(line.number - 1).length > 0;
  for (; ; line = state.doc.lineAt(line.to + 1)) {
    if (line.length === 0 && hasText) add(GAP.range(line.from));
    hasText = line.length > 0;
    if (line.to >= to || line.to >= state.doc.length) return;
  }
}

/**
 * Returns whether a widget may replace a range. A line break may not be replaced, because CodeMirror accepts that only
 * from a state field. A range with the caret or an end of the selection inside may not either: a browser has no place
 * for the caret there and would write elsewhere.
 */
function isReplaceable({ state, hasFocus }: EditorView, { from, to }: Range<Decoration>): boolean {
  if (to > state.doc.lineAt(from).to) return false;
  return (
    !hasFocus || !state.selection.ranges.some((range) => [range.from, range.to].some((at) => at > from && at < to))
  );
}

function buildMarks(view: EditorView, resolvePicture: Marking['resolvePicture']): DecorationSet {
  const { state } = view;
  const found: Range<Decoration>[] = [];
  const { ranges } = state.selection;
  const hasCaret = view.hasFocus && isCaretPlaced(state);
  const marking: Marking = {
    state,
    resolvePicture,
    isTouched: (from, to) => hasCaret && ranges.some((range) => range.from <= to && range.to >= from),
    add: (...added) => void found.push(...added.filter((range) => !range.value.point || isReplaceable(view, range))),
    addLines(from, to, className) {
      const decoration = Decoration.line({ class: className });
      // Decorate only the drawn lines of a long block.
      const start = Math.max(from, view.viewport.from);
      const end = Math.min(to, view.viewport.to);
      for (let at = start; at <= end; ) {
        const line = state.doc.lineAt(at);
        found.push(decoration.range(line.from));
        at = line.to + 1;
      }
    },
  };
  for (const { from, to } of view.visibleRanges) {
    syntaxTree(state).iterate({ from, to, enter: (node) => markNode(marking, node.node) });
    markGaps(marking, from, to);
  }
  return RangeSet.of(found, true);
}

/**
 * Renders the visible part of the text. Decorations are rebuilt at each change, which is cheap because they cover only
 * the window.
 */
export function richMarks(resolvePicture: Marking['resolvePicture']): Extension {
  return ViewPlugin.fromClass(
    class {
      decorations: DecorationSet;
      constructor(view: EditorView) {
        this.decorations = buildMarks(view, resolvePicture);
      }
      update({ view, docChanged, selectionSet, viewportChanged, focusChanged, startState, state }: ViewUpdate) {
        const isParsed = syntaxTree(startState) !== syntaxTree(state);
        const isPlaced = isCaretPlaced(startState) !== isCaretPlaced(state);
        // Do not redraw the nodes that a composition writes into.
        if (view.composing && !docChanged) return;
        if (docChanged || selectionSet || viewportChanged || focusChanged || isParsed || isPlaced)
          this.decorations = buildMarks(view, resolvePicture);
      }
    },
    { decorations: (plugin) => plugin.decorations },
  );
}
