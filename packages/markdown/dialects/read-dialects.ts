import type { Link, Nodes, Root, Text } from 'mdast';
import { placeBoxes } from './boxes.ts';
import { isKind } from './callouts.ts';
import { FILLER, type Hidden, type Mask, masked, SLASH, withoutGroups } from './mask.ts';
import { maskOf } from './mask-of.ts';
import { Reading } from './reading.ts';

declare module 'mdast' {
  interface RootData {
    /** Ranges of the text that the page does not show. */
    hidden?: readonly Hidden[];
  }
}

/** Parses of a text with a mask. If edits are still misread after the last one, the text is parsed without a mask. */
const TRIES = 4;

/**
 * Parses a text with its dialects. Edits that turn out to be in code, HTML or formulas are undone and the text is
 * parsed again, so that a page never shows an edit of its mask.
 */
export function readDialects(markdown: string, parse: (markdown: string) => Root): Root {
  const whole = maskOf(markdown, isKind);
  let undone: ReadonlySet<number> = new Set();
  for (let tries = 1; whole && tries <= TRIES; tries += 1) {
    const mask = withoutGroups(whole, undone);
    if (mask.edits.length === 0 && tries > 2) break;
    const text = masked(markdown, mask);
    const tree = parse(text);
    const reading = new Reading(tree, text);
    const misread = reading.misread(mask.edits, placeBoxes(tree, mask.boxes));
    // A misread edit can cause later edits to be misread. Check the undone edits again, now that the text has their
    // original characters.
    const literal = tries === 2 ? reading.literal(whole.edits.filter(({ group }) => undone.has(group))) : undone;
    if (misread.size === 0 && literal.size === undone.size) {
      if (mask.edits.some(({ place }) => place === 'destination')) sizePictures(tree, markdown);
      return withoutHidden(tree, mask);
    }
    undone = new Set([...literal, ...misread]);
  }
  return parse(markdown);
}

function withoutHidden(tree: Root, { edits, hidden }: Mask): Root {
  if (
    edits.some(({ place, text }) => place !== 'markup' && place !== 'box' && (place !== 'tag' || text.includes(SLASH)))
  )
    dropHidden(tree);
  if (hidden.length > 0) tree.data = { hidden };
  return tree;
}

const SIZE = /^>?\s+=(\d*)x(\d*)[\s)]/;

/** Gives pictures the sizes after their addresses, which the mask removed. */
function sizePictures(node: Nodes, markdown: string): void {
  if ('children' in node) for (const child of node.children) sizePictures(child, markdown);
  const [, end] = node.data?.destination ?? [];
  if (node.type !== 'image' || end === undefined) return;
  const [, width, height] = SIZE.exec(markdown.slice(end, node.position?.end.offset)) ?? [];
  node.data = { ...node.data, hProperties: { ...(width && { width }), ...(height && { height }) } };
}

/** Tells whether a link was made from a tag without a caption. */
function isUnnamed({ children: [first] }: Link): boolean {
  return first?.type === 'text' && first.value === FILLER;
}

const COMMENT = new RegExp(`%%[${FILLER}\\r\\n]*${FILLER}[${FILLER}\\r\\n]*%%`, 'g');

/** Removes masked comments but keeps their line breaks, so that the following words stay on their lines. */
function dropHidden(node: Nodes): void {
  if (node.type === 'text') {
    if (node.value.includes(FILLER))
      node.value = node.value.replace(COMMENT, (comment) => comment.replace(/[^\n]/g, ''));
  } else if (node.type === 'code') {
    // The parser counts trailing blank lines as indented code.
    if (!node.data?.isFenced) node.value = node.value.replace(/(?<![ \t\r\n])[ \t\r\n]+$/, '');
  } else if (node.type === 'link' && isUnnamed(node)) {
    node.children = [{ ...(node.children[0] as Text), value: node.url }];
  } else if (node.type === 'html') node.value = node.value.replaceAll(SLASH, '/');
  else if ('children' in node) for (const child of node.children) dropHidden(child);
}
