import type { Element, Root } from 'hast';

/** Letters of Hebrew, Arabic, Syriac, Thaana, N'Ko and other scripts that are written from right to left. */
const RTL = String.raw`\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}`;
const RIGHT_TO_LEFT = new RegExp(`[${RTL}]`, 'u');
const FIRST_LETTER = new RegExp(String.raw`([${RTL}])|\p{L}`, 'u');

const BLOCKS = new Set(
  'blockquote caption dd details dl dt figcaption figure h1 h2 h3 h4 h5 h6 li ol p pre summary table td th ul'.split(
    ' ',
  ),
);

type Direction = 'ltr' | 'rtl' | undefined;

/**
 * Gives each block of a page with right-to-left letters the direction of its first letter. This matches `dir="auto"`,
 * which skips nested blocks with their own direction. Pages without such letters stay unchanged.
 */
export function markDirections(tree: Root): void {
  if (hasLetterFromRight(tree)) directionOf(tree);
}

function hasLetterFromRight({ children }: Root | Element): boolean {
  return children.some((child) =>
    child.type === 'text' ? RIGHT_TO_LEFT.test(child.value) : child.type === 'element' && hasLetterFromRight(child),
  );
}

/**
 * Tells whether the direction of an element contradicts its first letter: a browser then shows words, numbers and signs
 * in another order. False for code and for blocks whose direction was set by `markDirections`.
 */
export function runsAgainstItsLetters(element: Element): boolean {
  const { dir } = element.properties;
  if ((dir !== 'rtl' && dir !== 'ltr') || element.tagName === 'pre') return false;
  return dir !== (firstLetterOf(element) ?? 'ltr');
}

function firstLetterOf({ children }: Element): Direction {
  for (const child of children) {
    const direction =
      child.type === 'text' ? firstDirection(child.value) : child.type === 'element' ? firstLetterOf(child) : undefined;
    if (direction) return direction;
  }
  return undefined;
}

/** Returns the direction of the first letter below a node; code is always left to right. */
function directionOf(node: Root | Element): Direction {
  const isCode = node.type === 'element' && node.tagName === 'pre';
  let direction: Direction = isCode ? 'ltr' : undefined;
  for (const child of node.children) {
    if (child.type === 'text') direction ??= firstDirection(child.value);
    if (child.type !== 'element') continue;
    const below = directionOf(child);
    direction ??= child.tagName === 'pre' ? undefined : below;
  }
  if (direction && node.type === 'element' && BLOCKS.has(node.tagName)) node.properties.dir ??= direction;
  return direction;
}

function firstDirection(text: string): Direction {
  const letter = FIRST_LETTER.exec(text);
  return letter ? (letter[1] === undefined ? 'ltr' : 'rtl') : undefined;
}
