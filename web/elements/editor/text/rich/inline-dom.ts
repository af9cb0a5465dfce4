import type { SyntaxNode } from '@lezer/common';
import { parseMarkdownText } from '../language.ts';

const ELEMENTS: Record<string, string> = {
  StrongEmphasis: 'strong',
  Emphasis: 'em',
  Strikethrough: 's',
  InlineCode: 'code',
  Highlight: 'mark',
  Link: 'a',
  WikiLink: 'a',
};
const HIDDEN = /Mark$|^URL$|^LinkTitle$|^LinkLabel$/;

/** Renders a line of Markdown as DOM elements. Safe for any text: all elements are created here, without attributes. */
export function inlineDom(text: string): DocumentFragment {
  const made = document.createDocumentFragment();
  // The prefix keeps a mark at the beginning of a cell from becoming a heading, list or quote.
  const source = `x ${text}`;
  write(made, parseMarkdownText(source).topNode, source, 2, source.length);
  return made;
}

function write(parent: Node, node: SyntaxNode, text: string, from: number, to: number): void {
  let at = from;
  for (let child = node.firstChild; child; child = child.nextSibling) {
    if (child.to <= from) continue;
    parent.appendChild(document.createTextNode(text.slice(at, Math.max(at, child.from))));
    writeNode(parent, child, text, Math.max(from, child.from), child.to);
    at = child.to;
  }
  parent.appendChild(document.createTextNode(text.slice(at, to)));
}

function writeNode(parent: Node, node: SyntaxNode, text: string, from: number, to: number): void {
  if (HIDDEN.test(node.name) && node.parent?.name !== 'Paragraph') return;
  const written = text.slice(from, to);
  if (node.name === 'Escape') {
    parent.appendChild(document.createTextNode(written.slice(1)));
  } else if (node.name === 'HTMLTag' && /^<br\s*\/?>$/i.test(written)) {
    parent.appendChild(document.createElement('br'));
  } else if (ELEMENTS[node.name]) {
    const element = document.createElement(ELEMENTS[node.name] as string);
    parent.appendChild(element);
    write(element, node, text, from, to);
  } else write(parent, node, text, from, to);
}
