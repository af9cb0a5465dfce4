import type { Element, Root } from 'hast';
import { type Children, newElement, newText, textOf, visit } from './elements.ts';

const SUPERSCRIPTS = pairs('0⁰1¹2²3³4⁴5⁵6⁶7⁷8⁸9⁹+⁺-⁻−⁻=⁼(⁽)⁾aᵃbᵇcᶜdᵈeᵉfᶠgᵍhʰiⁱjʲkᵏlˡmᵐnⁿoᵒpᵖrʳsˢtᵗuᵘvᵛwʷxˣyʸzᶻ');
const SUBSCRIPTS = pairs('0₀1₁2₂3₃4₄5₅6₆7₇8₈9₉+₊-₋−₋=₌(₍)₎aₐeₑhₕiᵢjⱼkₖlₗmₘnₙoₒpₚrᵣsₛtₜuᵤvᵥxₓ');

function pairs(list: string): ReadonlyMap<string, string> {
  const characters = Array.from(list);
  return new Map(characters.flatMap((plain, i) => (i % 2 === 0 ? [[plain, characters[i + 1] ?? '']] : [])));
}

/**
 * Writes superscripts and subscripts as Unicode characters if Unicode has all of them: `10⁶` must never read 106.
 * Others stay elements, and become `^(…)` and `_(…)` in code. Scripts with a link (such as a note reference), picture or code are unwrapped.
 * Changes the tree in place.
 */
export function raiseScripts(content: Root | Element, isInCode = false): void {
  content.children = (content.children as Children).flatMap((child): Children => {
    if (child.type !== 'element') return [child];
    const { tagName } = child;
    if (tagName !== 'sup' && tagName !== 'sub') {
      raiseScripts(child, isInCode || /^(?:code|kbd|pre|samp|tt|var)$/.test(tagName));
      return [child];
    }
    if (hasReference(child)) return child.children;
    const text = textOf(child);
    if (text.trim() === '') return child.children;
    const raised = asScript(text.trim(), tagName);
    if (raised !== undefined) return [newText(text.replace(text.trim(), () => raised))];
    if (isInCode) return [newText(`${tagName === 'sup' ? '^' : '_'}(${text})`)];
    raiseScripts(child);
    return [child];
  });
}

/** Converts a text to Unicode superscripts or subscripts; undefined if a character is missing. */
export function asScript(text: string, kind: 'sup' | 'sub'): string | undefined {
  const characters = kind === 'sup' ? SUPERSCRIPTS : SUBSCRIPTS;
  let raised = '';
  for (const character of text) {
    const one = characters.get(character);
    if (one === undefined) return undefined;
    raised += one;
  }
  return raised;
}

function hasReference(element: Element): boolean {
  let found = false;
  visit(element, ({ tagName }) => {
    found ||= tagName === 'a' || tagName === 'img' || tagName === 'code';
  });
  return found;
}

/** Puts ruby readings in parentheses after their text, as browsers without ruby show them. */
export function bracketReadings(content: Root | Element): void {
  visit(content, (ruby) => {
    if (ruby.tagName !== 'ruby' || ruby.children.some((child) => child.type === 'element' && child.tagName === 'rp'))
      return;
    ruby.children = ruby.children.flatMap((child): Children => {
      if (child.type !== 'element' || child.tagName !== 'rt') return [child];
      return [newText('('), newElement('span', {}, child.children), newText(')')];
    });
  });
}
