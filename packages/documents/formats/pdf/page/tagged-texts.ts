import type { PDFPageProxy } from 'unpdf/pdfjs';
import { type TaggedElement, type TaggedPage, taggedPage } from './tags.ts';

/** A structure tree that covers a smaller share of a page's characters is ignored. */
const TAGGED = 0.7;

/** Texts and marked-content operators as PDF.js returns them. */
type Item = { str: string } | { type: string; id?: string | null; tag?: string };

export interface TaggedTexts {
  elements: readonly TaggedElement[];
  byItem: ReadonlyMap<object, TaggedElement | 'artifact'>;
}

/** Maps each text to its element in the page's structure tree; undefined without a tree or if it covers too little. */
export async function tagsOf(page: PDFPageProxy, items: readonly Item[]): Promise<TaggedTexts | undefined> {
  // Treat a damaged tree as a missing tree.
  const tree = (await page.getStructTree().catch(() => null)) as Parameters<typeof taggedPage>[0] | null;
  if (!tree) return undefined;
  const { elements, byContent }: TaggedPage = taggedPage(tree);
  const byItem = new Map<object, TaggedElement | 'artifact'>();
  const open: (TaggedElement | 'artifact' | undefined)[] = [];
  let [tagged, characters] = [0, 0];
  for (const item of items) {
    if ('str' in item) {
      const element = open.at(-1);
      const length = item.str.trim().length;
      if (element !== 'artifact') characters += length;
      if (element === undefined) continue;
      byItem.set(item, element);
      if (element !== 'artifact') tagged += length;
    } else if (item.type === 'endMarkedContent') open.pop();
    else if (item.tag === 'Artifact') open.push('artifact');
    // Marked content inherits the element of the mark around it.
    else open.push((item.id ? byContent.get(item.id) : undefined) ?? open.at(-1));
  }
  return tagged >= TAGGED * characters ? { elements, byItem } : undefined;
}
