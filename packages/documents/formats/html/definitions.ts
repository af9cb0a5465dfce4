import type { Element } from 'hast';
import { defaultHandlers, type State } from 'hast-util-to-mdast';
import type { Nodes, PhrasingContent } from 'mdast';
import { type Children, isBlank, isBreak, NOTE, newElement, TARGETS, textOf, visit } from './elements.ts';

/** Consecutive terms with their shared descriptions. */
interface Group {
  terms: Element[];
  meanings: Element[];
}

/** Inline elements. */
const IN_LINE = new Set(
  'a abbr acronym b bdi bdo big cite code del dfn em font i ins kbd label mark nobr q s samp small span strike strong sub sup time tt u var'.split(
    ' ',
  ),
);

/**
 * Converts a definition list to a paragraph for each group, whose lines are the terms and, after a colon, the
 * descriptions. A list that contains blocks becomes a bullet list whose items begin with the terms. Terms without
 * descriptions become items, and descriptions without terms become plain blocks.
 */
export function definitionList(state: State, node: Element): Nodes[] | Nodes | undefined {
  const groups = groupsOf(node.children);
  if (groups.every(({ terms }) => terms.length === 0)) {
    return state.toFlow(groups.flatMap(({ meanings }) => meanings.flatMap((each) => state.toFlow(state.all(each)))));
  }
  if (groups.every(({ meanings }) => meanings.length === 0)) {
    return listOf(
      state,
      groups.flatMap(({ terms }) => terms.map(asItem)),
    );
  }
  const isPlain = groups.every(
    ({ terms, meanings }) => terms.length > 0 && meanings.length > 0 && [...terms, ...meanings].every(isLine),
  );
  const lines = isPlain ? groups.map((group) => linesOf(state, group)) : [];
  if (isPlain && lines.every((each) => each !== undefined))
    return lines.map((children) => ({ type: 'paragraph', children }));
  return listOf(
    state,
    groups.map(({ terms, meanings }) => {
      const described = meanings.length > 1 ? [newElement('ul', {}, meanings.map(asItem))] : meanings.map(asBlock);
      return newElement('li', {}, [...terms.map(asBlock), ...described]);
    }),
  );
}

/**
 * Splits terms whose only shared description is a list, as in tables of contents: the list belongs to the last term.
 */
function groupsOf(children: Children): Group[] {
  return describedTerms(children).flatMap((group) => {
    const { terms, meanings } = group;
    if (terms.length < 2 || !meanings.every(isOnlyList)) return [group];
    const own = terms.slice(0, -1).map((term): Group => ({ terms: [term], meanings: [] }));
    return [...own, { terms: terms.slice(-1), meanings }];
  });
}

function isOnlyList({ children }: Element): boolean {
  return children.every(
    (child) => isBlank(child) || (child.type === 'element' && /^(?:dl|ol|ul)$/.test(child.tagName)),
  );
}

function describedTerms(children: Children): Group[] {
  const groups: Group[] = [];
  for (const child of partsOf(children)) {
    const last = groups.at(-1);
    if (child.tagName !== 'dt' && last) last.meanings.push(child);
    else if (child.tagName !== 'dt') groups.push({ terms: [], meanings: [child] });
    else if (last?.meanings.length === 0) last.terms.push(child);
    else groups.push({ terms: [child], meanings: [] });
  }
  return groups;
}

/** Returns the terms and descriptions, including those grouped in a <div>. Any other content is a description. */
function partsOf(children: Children): Element[] {
  const isPart = (node: Children[number]) => node.type === 'element' && /^d[td]$/.test(node.tagName);
  return children.flatMap((child): Element[] => {
    if (child.type === 'text') return child.value.trim() === '' ? [] : [newElement('dd', {}, [child])];
    if (child.type !== 'element' || isEmpty(child)) return [];
    return !isPart(child) && child.children.some(isPart) ? partsOf(child.children) : [child];
  });
}

/**
 * Whether an element shows nothing. A link target counts as shown; some programs write an empty term for indentation.
 */
function isEmpty(element: Element): boolean {
  if (textOf(element).trim() !== '') return false;
  let shown = isShown(element);
  visit(element, (inner) => {
    shown ||= isShown(inner);
  });
  return !shown;
}

function isShown({ tagName, properties }: Element): boolean {
  return /^(?:hr|img|input|pre)$/.test(tagName) || properties[TARGETS] !== undefined || properties[NOTE] !== undefined;
}

/** Whether a term or description is inline text, optionally wrapped in one paragraph. */
function isLine(part: Element): boolean {
  return textOf(part).trim() !== '' && contentOf(part).every(isInLine);
}

function isInLine(node: Children[number]): boolean {
  return node.type !== 'element' || (IN_LINE.has(node.tagName) && node.children.every(isInLine));
}

/** Returns the visible content of a part, without the empty paragraphs and anchors that programs add for spacing. */
function contentOf({ children }: Element): Children {
  const shown = children.filter((child) => child.type !== 'element' || isBreak(child) || !isEmpty(child));
  const [paragraph, ...others] = shown.filter((child) => !isBlank(child));
  return paragraph?.type === 'element' && paragraph.tagName === 'p' && others.length === 0 ? paragraph.children : shown;
}

/** Returns the lines of a group; undefined if a part does not become inline text. */
function linesOf(state: State, { terms, meanings }: Group): PhrasingContent[] | undefined {
  const lines: PhrasingContent[] = [];
  for (const part of [...terms, ...meanings]) {
    const [paragraph, ...others] = state.toFlow(state.all(newElement('p', {}, contentOf(part))));
    if (paragraph?.type !== 'paragraph' || others.length > 0) return undefined;
    const mark = part.tagName === 'dt' ? '' : ': ';
    lines.push({ type: 'text', value: `${lines.length === 0 ? '' : '\n'}${mark}` }, ...paragraph.children);
  }
  return lines;
}

function listOf(state: State, items: Children): Nodes[] | Nodes | undefined {
  return defaultHandlers.ul(state, newElement('ul', {}, items));
}

function asItem({ children }: Element): Element {
  return newElement('li', {}, children);
}

function asBlock({ children }: Element): Element {
  return newElement('div', {}, children);
}
