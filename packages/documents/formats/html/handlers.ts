import type { InlineMath } from '@ibid/markdown/math-syntax.ts';
import type { Element, Nodes as HastNodes } from 'hast';
import { defaultHandlers, type Handle, type State } from 'hast-util-to-mdast';
import type { FootnoteDefinition, FootnoteReference, Heading, Html, InlineCode, Nodes, RootContent } from 'mdast';
import { codeLanguage } from './code-language.ts';
import { definitionList } from './definitions.ts';
import { NOTE, TARGETS, textOf, visit } from './elements.ts';
import { mathDisplay } from './mathematics.ts';
import { NOTE_ELEMENT } from './notes.ts';

type Result = Nodes[] | Nodes | undefined;

/** Handlers for Markdown that hast-util-to-mdast does not produce. */
export const pageHandlers: Record<string, Handle> = {
  a(state: State, node: Element): Result {
    const label = node.properties[NOTE];
    if (label !== undefined) return [...node.children.flatMap(placesIn), noteReference(String(label))];
    const [place] = placesIn(node);
    if (place) return place;
    return defaultHandlers.a(state, node);
  },
  [NOTE_ELEMENT](state: State, node: Element): Result {
    const label = String(node.properties[NOTE]);
    const children = state.toFlow(state.all(node)) as FootnoteDefinition['children'];
    return { type: 'footnoteDefinition', identifier: label, label, children } satisfies FootnoteDefinition;
  },
  br(state: State, node: Element): Result {
    return state.inTable ? markup('<br>') : defaultHandlers.br(state, node);
  },
  code(state: State, node: Element): Result {
    const display = mathDisplay(node);
    if (display === undefined) {
      const shown = shownIn(state, node);
      return [inlineCode(state, node), ...shown];
    }
    return { type: 'inlineMath', value: textOf(node), display: display === 'display' } satisfies InlineMath;
  },
  pre(state: State, node: Element, frame?: HastNodes): Result {
    const shown = shownIn(state, node);
    const language = codeLanguage(node, frame);
    const code = defaultHandlers.pre(state, node);
    if (code && 'type' in code && code.type === 'code') code.lang ||= language || null;
    return shown.length === 0 ? code : [code, ...state.toFlow(shown)];
  },
  ...Object.fromEntries(['kbd', 'samp', 'tt', 'var'].map((name) => [name, inlineCode])),
  dl: definitionList,
  sub: (state: State, node: Element): Result => [markup('<sub>'), ...state.all(node), markup('</sub>')],
  sup: (state: State, node: Element): Result => [markup('<sup>'), ...state.all(node), markup('</sup>')],
  ...Object.fromEntries(['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((name) => [name, heading])),
};

/** Converts inline code; a line end in it would end the row of its table. */
function inlineCode(state: State, node: Element): InlineCode {
  const code = defaultHandlers.code(state, node) as InlineCode;
  return state.inTable ? { ...code, value: code.value.replace(/(?<!\s)\s*\n\s*/g, ' ') } : code;
}

/** Removes pictures and note references from code and returns them, because Markdown can only show them after it. */
function shownIn(state: State, code: Element): RootContent[] {
  const shown: Element[] = [];
  visit(code, (element) => {
    if (element.tagName === 'img' || element.properties[NOTE] !== undefined) shown.push(element);
  });
  if (shown.length === 0) return [];
  const result = state.all({ ...code, children: shown }) as RootContent[];
  for (const element of shown) element.children = [];
  return result;
}

function heading(state: State, node: Element): Result {
  const made = defaultHandlers.h1(state, node) as Heading;
  const targets = targetsOf(node);
  return targets ? { ...made, data: { targets } } : made;
}

/**
 * Inline markup. The converter treats HTML as a block that ends the surrounding paragraph. Inline markup therefore has
 * a type that is only known inline, until the tree is complete.
 */
interface InlineMarkup {
  type: 'mdxTextExpression';
  value: string;
  data?: Html['data'];
}

/** Turns inline markup of a converted tree into HTML nodes, in place. */
export function finishMarkup(node: Nodes): void {
  if (!('children' in node)) return;
  for (const child of node.children as (Nodes | InlineMarkup)[]) {
    if (child.type === 'mdxTextExpression') (child as { type: string }).type = 'html';
    else finishMarkup(child);
  }
}

function noteReference(label: string): FootnoteReference {
  return { type: 'footnoteReference', identifier: label, label };
}

/** Returns an empty element for a link target; a note reference loses all other content. */
function placesIn(node: Element['children'][number]): Html[] {
  const targets = node.type === 'element' && node.tagName === 'a' ? targetsOf(node) : undefined;
  return targets ? [markup('', { targets })] : [];
}

function targetsOf({ properties }: Element): number[] | undefined {
  return properties[TARGETS] as number[] | undefined;
}

function markup(value: string, data?: Html['data']): Html {
  const node: InlineMarkup = { type: 'mdxTextExpression', value, ...(data && { data }) };
  return node as unknown as Html;
}
