import type { Image, Nodes, Paragraph, Parents } from 'mdast';

const ATTRIBUTE = String.raw`(?:[#.][\w:.-]{1,100}|[\w-]{1,50}=(?:"[^"{}\n]*"|'[^'{}\n]*'|[^\s"'{}]+))`;
const LIST = String.raw`\{:?[ \t]*${ATTRIBUTE}(?:[ \t]+${ATTRIBUTE})*[ \t]*\}`;
/** Directly after a link, a picture or emphasis. */
const BEHIND = new RegExp(`^${LIST}`);
/** Alone in the last line of a paragraph. */
const LAST_LINE = new RegExp(String.raw`(?:^|\n)[ \t]*${LIST}[ \t]*$`);
const HAS_LIST = /\{:?[ \t]*(?:[#.]\w|[\w-]+=)/;

/** Placeholders that other programs replace with a table of contents. */
const CONTENTS = /^(?:\[toc\]|\[\[_?toc_?\]\]|\[\[_tosp_\]\])$/i;
const HAS_CONTENTS = /^[ \t]*\[\[?_?to(?:c|sp)_?\]/im;

/** Offsets of removed presentation marks in the text: [start, end). */
type Found = [start: number, end: number][];

/** Tells whether a text may contain marks that `takeMarks` removes. */
export function mayHaveMarks(markdown: string): boolean {
  return HAS_CONTENTS.test(markdown) || HAS_LIST.test(markdown);
}

/**
 * Removes from a tree, in place, the attributes of links, pictures and paragraphs (MkDocs, kramdown, Pandoc, Wiki.js)
 * and the placeholders of tables of contents. Pictures get the size from their attributes, and paragraphs the id.
 */
export function takeMarks(parent: Parents, markdown: string): Found {
  const found: Found = [];
  if (mayHaveMarks(markdown)) takeIn(parent, markdown, found);
  return found;
}

function takeIn(parent: Parents, markdown: string, found: Found): void {
  const children = parent.children as Nodes[];
  const kept = children.filter((node) => {
    if (node.type !== 'paragraph') {
      if ('children' in node) takeIn(node, markdown, found);
      return true;
    }
    const source = sourceOf(node, markdown);
    const isMark =
      CONTENTS.test(source.trim()) && node.children.every(({ type }) => type !== 'link' && type !== 'linkReference');
    if (isMark) add(node, found);
    else takeFrom(node, source, found);
    return !isMark && (node.children.length > 0 || source.trim() === '');
  });
  if (kept.length < children.length) children.splice(0, children.length, ...kept);
}

function takeFrom(paragraph: Paragraph, source: string, found: Found): void {
  if (!HAS_LIST.test(source)) return;
  for (const [i, node] of paragraph.children.entries()) {
    const before = paragraph.children[i - 1];
    const written =
      node.type === 'text' && before && before.type !== 'text' && before.type !== 'break'
        ? BEHIND.exec(node.value)?.[0]
        : undefined;
    if (node.type !== 'text' || written === undefined || !source.includes(written)) continue;
    if (before?.type === 'image') size(before, written);
    node.value = node.value.slice(written.length);
    const start = node.position?.start.offset ?? 0;
    found.push([start, start + written.length]);
  }
  const last = paragraph.children.at(-1);
  const [written] = (last?.type === 'text' && LAST_LINE.exec(last.value)) || [];
  if (last?.type === 'text' && written !== undefined && source.trimEnd().endsWith(written.trim())) {
    last.value = last.value.slice(0, -written.length);
    const end = last.position?.end.offset ?? 0;
    found.push([end - written.trim().length, end]);
    const id = /[{\s:]#([\w:.-]+)/.exec(written)?.[1];
    if (id !== undefined) paragraph.data = { ...paragraph.data, hProperties: { id } };
  }
  paragraph.children = paragraph.children.filter((node) => node.type !== 'text' || node.value !== '');
}

function size(image: Image, written: string): void {
  const [, width] = /\bwidth=["']?(\d{1,4})(?:px)?["'\s}]/.exec(written) ?? [];
  const [, height] = /\bheight=["']?(\d{1,4})(?:px)?["'\s}]/.exec(written) ?? [];
  image.data = {
    ...image.data,
    hProperties: { ...image.data?.hProperties, ...(width && { width }), ...(height && { height }) },
  };
}

function sourceOf({ position }: Paragraph, markdown: string): string {
  return markdown.slice(position?.start.offset ?? 0, position?.end.offset ?? 0);
}

function add({ position }: Paragraph, found: Found): void {
  if (position) found.push([position.start.offset ?? 0, position.end.offset ?? 0]);
}
