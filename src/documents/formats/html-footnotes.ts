import type { Element } from 'hast';
import { defaultHandlers, type Handle, type State } from 'hast-util-to-mdast';
import type { FootnoteDefinition, FootnoteReference, Link, Nodes } from 'mdast';

/** The ids of notes in a Word document's HTML: `footnote-1` at the end, `footnote-ref-1` in the text. */
const REFERENCE = /^((?:foot|end)note)-ref-(\d+)$/;
const NOTE = /^((?:foot|end)note)-(\d+)$/;

/** Converts notes to footnotes instead of links to a list at the end. */
export const footnoteHandlers: Record<string, Handle> = {
  a(state: State, node: Element): Nodes[] | Nodes | undefined {
    const label = labelOf(node, REFERENCE);
    if (label === undefined) return defaultHandlers.a(state, node) as Link;
    return { type: 'footnoteReference', identifier: label, label } satisfies FootnoteReference;
  },
  ol(state: State, node: Element): Nodes[] | Nodes | undefined {
    const items = node.children.filter((child) => child.type === 'element');
    if (items.length === 0 || !items.every((item) => labelOf(item, NOTE) !== undefined)) {
      return defaultHandlers.ol(state, node);
    }
    return items.map((item): FootnoteDefinition => {
      const label = labelOf(item, NOTE) ?? '';
      return {
        type: 'footnoteDefinition',
        identifier: label,
        label,
        children: state.toFlow(state.all(removeBackReference(item))),
      };
    });
  },
};

function labelOf(node: Element, form: RegExp): string | undefined {
  const [, kind, number] = form.exec(String(node.properties.id ?? '')) ?? [];
  return number === undefined ? undefined : kind === 'endnote' ? `end-${number}` : number;
}

/** Without the back reference, which Markdown adds itself. */
function removeBackReference(node: Element): Element {
  const children = node.children.filter((child) => {
    return !(
      child.type === 'element' &&
      child.tagName === 'a' &&
      /note-ref-\d+$/.test(String(child.properties.href ?? ''))
    );
  });
  return {
    ...node,
    children: children.map((child) => (child.type === 'element' ? removeBackReference(child) : child)),
  };
}
