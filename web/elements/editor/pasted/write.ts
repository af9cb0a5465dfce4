import type { Element } from 'hast';
import { defaultHandlers, type Handle, type State } from 'hast-util-to-mdast';
import type {
  BlockContent,
  Blockquote,
  FootnoteDefinition,
  Html,
  ListItem,
  Nodes,
  PhrasingContent,
  Root,
  Text,
} from 'mdast';
import type { Info, Unsafe, State as Written } from 'mdast-util-to-markdown';

type Result = Nodes[] | Nodes | undefined;

const html = (value: string): Html => ({ type: 'html', value });
const around = (before: string, after: string) => (state: State, node: Element) =>
  [html(before), ...state.all(node), html(after)] as Nodes[];

/** Handlers for constructs of a page's Markdown that hast-util-to-mdast does not know. */
export const handlers: Record<string, Handle> = {
  br: (state: State, node: Element): Result => (state.inTable ? html('<br>') : defaultHandlers.br(state, node)),
  mark: around('==', '=='),
  sub: around('<sub>', '</sub>'),
  sup: around('<sup>', '</sup>'),
  'ibid-callout': (state: State, node: Element): Result => {
    const children = state.toFlow(state.all(node)) as BlockContent[];
    const { kind, title } = node.properties;
    const head: PhrasingContent = html(`[!${String(kind)}]${title ? ` ${String(title)}` : ''}`);
    const [first] = children;
    if (first?.type === 'paragraph') first.children.unshift(head, { type: 'text', value: '\n' });
    else children.unshift({ type: 'paragraph', children: [head] });
    return { type: 'blockquote', children } satisfies Blockquote;
  },
  'ibid-formula': (_state: State, { children: [tex], properties }: Element): Result => {
    const source = tex?.type === 'text' ? tex.value : '';
    return html(properties.isBlock ? `$$\n${source}\n$$` : `$${source}$`);
  },
  'ibid-note': (_state: State, { properties }: Element): Result => {
    const label = String(properties.label);
    return { type: 'footnoteReference', identifier: label, label };
  },
  'ibid-note-text': (state: State, node: Element): Result => {
    const label = String(node.properties.label);
    const children = state.toFlow(state.all(node)) as FootnoteDefinition['children'];
    return { type: 'footnoteDefinition', identifier: label, label, children } satisfies FootnoteDefinition;
  },
};

/** Puts empty lines only between items of several paragraphs. */
export function tightenLists() {
  return (tree: Root): void => tighten(tree);
}

function tighten(node: Nodes): void {
  if (!('children' in node)) return;
  for (const child of node.children) tighten(child);
  if (node.type === 'listItem') node.spread = node.children.filter(({ type }) => type === 'paragraph').length > 1;
  if (node.type === 'list') node.spread = (node.children as ListItem[]).some(({ spread }) => spread === true);
}

/** Escapes an ampersand only if it would begin a character reference, and never in addresses. */
const REFERENCE: Unsafe = { character: '&', after: '#?\\w+;', inConstruct: 'phrasing' };

/**
 * Writes the document with fewer escapes. The defaults are safe for any surrounding text, which is more than a page
 * needs.
 */
export function writeRoot(node: Root, _parent: unknown, state: Written, info: Info): string {
  state.unsafe = [
    ...state.unsafe.filter(({ character, atBreak }) => atBreak || !/^[&@.:]$/.test(character)),
    REFERENCE,
  ];
  return state.containerFlow(node, info);
}

/** Writes text without escaping `_` within a word and `*` between spaces. */
export function writeText({ value }: Text, _parent: unknown, state: Written, info: Info): string {
  return state
    .safe(value, info)
    .replace(/(?<=[\p{L}\p{N}])\\_(?=[\p{L}\p{N}])/gu, '_')
    .replace(/(?<= )\\\*(?= )/g, '*');
}
