import type { Element, ElementContent } from 'hast';
import * as tex from './tex.ts';

/** Elements without mathematical content, and elements for layout only. */
const IGNORED = new Set([
  'annotation',
  'annotation-xml',
  'mphantom',
  'maligngroup',
  'malignmark',
  'none',
  'mprescripts',
]);
const GROUPS = new Set('math mrow mstyle mpadded mtd semantics merror menclose maction'.split(' '));

const VARIANTS: Record<string, string> = {
  bold: 'mathbf',
  'bold-italic': 'boldsymbol',
  'double-struck': 'mathbb',
  script: 'mathcal',
  'bold-script': 'mathcal',
  fraktur: 'mathfrak',
  'bold-fraktur': 'mathfrak',
  'sans-serif': 'mathsf',
  monospace: 'mathtt',
};

/**
 * Returns the TeX of a <math> element: its annotation, or else a conversion of its elements. Undefined if an element
 * has no form in TeX.
 */
export function mathmlToTex(math: Element): string | undefined {
  const annotated = annotationOf(math, 0);
  if (annotated !== undefined) return cleanTex(annotated);
  return tex.convertedBy(() => group(math, 0));
}

/** Returns TeX written by an author, on one line; undefined if it cannot be put between dollar signs. */
export function cleanTex(written: string): string | undefined {
  const line = written
    .replace(/(?<!\\)%[^\n]*(?:\n|$)/g, '')
    .replace(/\s+/g, ' ')
    .trim();
  const bare = line.replace(/^\{\\displaystyle (.*)\}$/, '$1').trim();
  return bare === '' || bare.length > tex.TEX_MAX || /(?<!\\)\$/.test(bare) ? undefined : bare;
}

function annotationOf(node: Element, depth: number): string | undefined {
  if (depth > tex.DEPTH_MAX) return undefined;
  for (const child of elementsOf(node)) {
    if (local(child) === 'annotation' && /tex/i.test(String(child.properties.encoding ?? ''))) return textOf(child);
    const found = annotationOf(child, depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}

function group(node: Element, depth: number): string {
  const children = elementsOf(node).filter((child) => !IGNORED.has(local(child)));
  return tex.join(children.map((child) => convert(child, depth + 1)));
}

function convert(node: Element, depth: number): string {
  if (depth > tex.DEPTH_MAX) throw new tex.Unconvertible();
  const name = local(node);
  const [a, b, c] = elementsOf(node).filter((child) => local(child) !== 'malignmark');
  const arg = (child: Element | undefined) => (child && !IGNORED.has(local(child)) ? convert(child, depth + 1) : '');
  switch (name) {
    case 'mi':
      return variant(node, isOneLetter(textOf(node)) ? tex.symbols(textOf(node)) : tex.name(textOf(node)));
    case 'mn':
      return variant(node, tex.symbols(textOf(node)));
    case 'mo':
      return operator(textOf(node));
    case 'mtext':
    case 'ms':
      return tex.words(textOf(node));
    case 'mspace':
      return node.properties.linebreak ? '' : '\\,';
    case 'mfrac':
      return /^0(?:\D|$)/.test(String(node.properties.linethickness ?? '1'))
        ? tex.stacked(arg(a), arg(b))
        : tex.fraction(arg(a), arg(b));
    case 'msqrt':
      return tex.root(group(node, depth));
    case 'mroot':
      return tex.root(arg(a), arg(b));
    case 'msub':
      return tex.scripts(arg(a), arg(b), '');
    case 'msup':
      return tex.scripts(arg(a), '', arg(b));
    case 'msubsup':
      return tex.scripts(arg(a), arg(b), arg(c));
    case 'munder':
      return (isAccent(b) && tex.accent(textOf(b), arg(a), true)) || tex.limits(arg(a), arg(b), '');
    case 'mover':
      return (isAccent(b) && tex.accent(textOf(b), arg(a))) || tex.limits(arg(a), '', arg(b));
    case 'munderover':
      return tex.limits(arg(a), arg(b), arg(c));
    case 'mmultiscripts':
      return multiscripts(node, depth);
    case 'mfenced':
      return fencedList(node, depth);
    case 'mtable':
      return table(node, depth);
  }
  if (GROUPS.has(name)) return name === 'menclose' ? enclosed(node, depth) : fencedRow(node, depth);
  if (IGNORED.has(name)) return '';
  throw new tex.Unconvertible();
}

function variant(node: Element, converted: string): string {
  const command = VARIANTS[String(node.properties.mathvariant ?? node.properties.mathVariant ?? '')];
  return command ? tex.alphabet(command, converted) : converted;
}

function operator(text: string): string {
  const shown = text.trim();
  return /^[a-z]{2,}$/i.test(shown) ? tex.name(shown) : tex.symbols(shown);
}

/** Converts a row; delimiters around a single table make a matrix. */
function fencedRow(node: Element, depth: number): string {
  const children = elementsOf(node).filter((child) => !IGNORED.has(local(child)) && !isInvisible(child));
  const [open, array, close] = children;
  const isFence = (child: Element | undefined) =>
    child && local(child) === 'mo' && /^[([{|‖)\]}]$/.test(textOf(child).trim());
  if (open && array && isFence(open) && children.length <= 3 && local(unwrapped(array)) === 'mtable') {
    if (close === undefined || isFence(close)) {
      return tex.fenced(textOf(open).trim(), convert(unwrapped(array), depth + 1), close ? textOf(close).trim() : '');
    }
  }
  return group(node, depth);
}

function unwrapped(node: Element): Element {
  let inner = node;
  for (let i = 0; i < tex.DEPTH_MAX && GROUPS.has(local(inner)); i += 1) {
    const [only, ...others] = elementsOf(inner);
    if (!only || others.length > 0) break;
    inner = only;
  }
  return inner;
}

function fencedList(node: Element, depth: number): string {
  const { open = '(', close = ')', separators = ',' } = node.properties;
  const marks = [...String(separators).replace(/\s+/g, '')];
  const parts = elementsOf(node).flatMap((child, i) => {
    const mark = marks[Math.min(i - 1, marks.length - 1)];
    return i === 0 || mark === undefined ? [convert(child, depth + 1)] : [tex.symbols(mark), convert(child, depth + 1)];
  });
  return tex.fenced(String(open).trim(), tex.join(parts), String(close).trim());
}

function table(node: Element, depth: number): string {
  const rows = elementsOf(node).filter((row) => /^m(?:labeled)?tr$/.test(local(row)));
  return tex.matrix(
    rows.map((row) =>
      elementsOf(row)
        .slice(local(row) === 'mlabeledtr' ? 1 : 0)
        .map((cell) => convert(cell, depth + 1)),
    ),
  );
}

function enclosed(node: Element, depth: number): string {
  const notation = String(node.properties.notation ?? 'longdiv');
  const content = group(node, depth);
  if (/box/.test(notation)) return `\\boxed{${content}}`;
  if (/radical/.test(notation)) return tex.root(content);
  if (/strike/.test(notation)) return `\\cancel{${content}}`;
  return content;
}

/** Converts tensor indices: a base, pairs after it, and pairs before it. */
function multiscripts(node: Element, depth: number): string {
  const [base, ...rest] = elementsOf(node);
  if (!base) return '';
  const at = rest.findIndex((child) => local(child) === 'mprescripts');
  const pairs = (list: Element[]) => {
    const of = (parity: number) =>
      tex.join(
        list
          .filter((child, i) => i % 2 === parity && local(child) !== 'none')
          .map((child) => convert(child, depth + 1)),
      );
    return [of(0), of(1)] as const;
  };
  const [sub, sup] = pairs(at < 0 ? rest : rest.slice(0, at));
  const [preSub, preSup] = at < 0 ? ['', ''] : pairs(rest.slice(at + 1));
  return tex.scripts('{}', preSub, preSup).replace(/^\{\}$/, '') + tex.scripts(convert(base, depth + 1), sub, sup);
}

function isAccent(node: Element | undefined): node is Element {
  return node !== undefined && local(node) === 'mo';
}

function isInvisible(node: Element): boolean {
  return local(node) === 'mo' && /^[\s\u2061-\u2064]*$/.test(textOf(node));
}

function isOneLetter(text: string): boolean {
  return Array.from(text.trim()).length === 1;
}

function local({ tagName }: Element): string {
  return tagName.slice(tagName.indexOf(':') + 1);
}

function elementsOf(node: Element): Element[] {
  return node.children.filter((child) => child.type === 'element');
}

function textOf(node: ElementContent): string {
  if (node.type === 'text') return node.value;
  return 'children' in node ? node.children.map(textOf).join('') : '';
}
