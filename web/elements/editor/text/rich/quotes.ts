import { Decoration } from '@codemirror/view';
import type { SyntaxNode } from '@lezer/common';
import { HIDDEN, type Marking } from './marking.ts';
import { LabelWidget } from './widgets.ts';

/** The styled kinds of callouts, by their synonyms. */
const KINDS: Record<string, string> = {
  tip: 'tip',
  hint: 'tip',
  success: 'tip',
  important: 'important',
  question: 'important',
  warning: 'warning',
  attention: 'warning',
  caution: 'caution',
  danger: 'caution',
  error: 'caution',
  bug: 'caution',
};

/** Marks a quote, or a callout: `> [!NOTE] Title`. */
export function quoteMarks({ state, add, addLines, isTouched }: Marking, quote: SyntaxNode): void {
  const first = state.doc.lineAt(quote.from);
  const [head, word = ''] = /^[\s>]*\[!([a-z][a-z-]{0,30})\][+-]?[ \t]*/i.exec(first.text) ?? [];
  const kind = KINDS[word.toLowerCase()] ?? 'note';
  addLines(quote.from, quote.to, head ? `rich-callout rich-callout-${kind}` : 'rich-quote');
  if (head) {
    add(Decoration.line({ class: 'rich-callout-title' }).range(first.from));
    add(Decoration.line({ class: 'rich-callout-last' }).range(state.doc.lineAt(quote.to).from));
    const from = first.from + head.indexOf('[');
    const to = first.from + head.length;
    const name = `${word[0]?.toUpperCase()}${word.slice(1).toLowerCase()}`;
    const widget = new LabelWidget(to === first.to ? name : '', 'rich-callout-name');
    if (!isTouched(first.from, first.to)) add(Decoration.replace({ widget }).range(from, to));
  }
  for (const mark of marksOf(quote)) {
    const line = state.doc.lineAt(mark.from);
    const hasSpace = state.sliceDoc(mark.to, mark.to + 1) === ' ';
    if (!isTouched(line.from, mark.to - 1)) add(HIDDEN.range(mark.from, mark.to + (hasSpace ? 1 : 0)));
  }
}

/**
 * Returns the marks of all lines of a quote, including marks that the tree keeps in its paragraphs. Nested quotes
 * handle their own marks.
 */
function marksOf(node: SyntaxNode): SyntaxNode[] {
  const marks: SyntaxNode[] = [];
  for (let child = node.firstChild; child; child = child.nextSibling) {
    if (child.name === 'QuoteMark') marks.push(child);
    else if (child.name === 'Paragraph') marks.push(...child.getChildren('QuoteMark'));
  }
  return marks;
}
