import type { Element, Root } from 'hast';
import type { LossList } from '../loss-list.ts';
import { cleanTex, mathmlToTex } from '../math/mathml.ts';
import { type Children, classesOf, findElement, newElement, newText, textOf } from './elements.ts';

/** Internal classes of formulas, whose text is TeX, until they become Markdown. */
const MATH_CLASS = { inline: 'math-inline', display: 'math-display' };

/** Returns the display mode of a marked formula; undefined for other elements. */
export function mathDisplay(element: Element): 'inline' | 'display' | undefined {
  if (element.tagName !== 'code') return undefined;
  const classes = classesOf(element);
  if (classes.includes(` ${MATH_CLASS.display} `)) return 'display';
  return classes.includes(` ${MATH_CLASS.inline} `) ? 'inline' : undefined;
}

/**
 * Replaces formulas (MathML, and TeX as rendered by MathJax, KaTeX, Pandoc and MediaWiki) by elements with their TeX,
 * in place. A formula that cannot be converted becomes its text.
 */
export function convertMathematics(node: Root | Element, losses: LossList): void {
  if (!node.children.some((child) => child.type === 'element')) return;
  node.children = (node.children as Children).flatMap((child): Children => {
    if (child.type !== 'element') return [child];
    const formula = formulaOf(child, losses);
    if (formula) return formula;
    convertMathematics(child, losses);
    return [child];
  });
}

function formulaOf(element: Element, losses: LossList): Children | undefined {
  const { tagName, properties } = element;
  if (tagName === 'math') return mathml(element, losses);
  if (tagName === 'script') {
    const type = String(properties.type ?? '');
    return /^math\/tex/i.test(type) ? fromTex(textOf(element), /mode\s*=\s*display/i.test(type)) : undefined;
  }
  if (properties.className === undefined) return undefined;
  const classes = classesOf(element);
  // Visual copies of a formula: MathJax 2 adds a preview to its script, MediaWiki wraps MathML with a picture.
  if (/ MathJax(?:_Preview|_Display|_SVG|_CHTML)? /.test(classes)) return [];
  if (classes.includes(' mwe-math-element ')) {
    const math = findElement(element, 'math');
    return math && mathml(math, losses);
  }
  if (!/ math /.test(classes) || element.children.length !== 1) return undefined;
  const [, display, inline] = /^\s*(?:\\\[([\s\S]*)\\\]|\\\(([\s\S]*)\\\))\s*$/.exec(textOf(element)) ?? [];
  return display === undefined && inline === undefined
    ? undefined
    : fromTex(display ?? inline ?? '', inline === undefined);
}

function mathml(math: Element, losses: LossList): Children {
  const tex = mathmlToTex(math);
  const text = textOf(math).trim();
  if (tex === '') return [];
  if (tex !== undefined) return [codeOf(tex, isDisplay(math))];
  losses.add('equation', text);
  return [newText(` ${text} `)];
}

function isDisplay({ properties, children }: Element): boolean {
  if (properties.display !== undefined) return properties.display === 'block';
  // MediaWiki sets the display mode with a style around the formula.
  const [style] = children.filter((child) => child.type === 'element');
  return (
    properties.mode === 'display' || (style?.properties.displaystyle === 'true' && properties.alttext === undefined)
  );
}

function fromTex(written: string, display: boolean): Children {
  const tex = cleanTex(written);
  return tex === undefined ? [newText(written)] : [codeOf(tex, display)];
}

function codeOf(tex: string, display: boolean): Element {
  return newElement('code', { className: [display ? MATH_CLASS.display : MATH_CLASS.inline] }, [newText(tex)]);
}
