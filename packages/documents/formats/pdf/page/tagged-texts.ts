import type { PDFPageProxy } from 'unpdf/pdfjs';
import { type TaggedElement, type TaggedPage, taggedPage } from './tags.ts';

/** A tree that has less of a page's characters is not used. */
const TAGGED = 0.7;

/** Texts and the marks around them, as the library gives them. */
type Item = { str: string } | { type: string; id?: string | null; tag?: string };

export interface TaggedTexts {
  elements: readonly TaggedElement[];
  byItem: ReadonlyMap<object, TaggedElement | 'artifact'>;
}

/** Which element of the page's structure tree each text belongs to; undefined if there is no tree or too little in it. */
export async function tagsOf(page: PDFPageProxy, items: readonly Item[]): Promise<TaggedTexts | undefined> {
  // A damaged tree is as good as none.
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
    // What is marked within an element belongs to it.
    else open.push((item.id ? byContent.get(item.id) : undefined) ?? open.at(-1));
  }
  return tagged >= TAGGED * characters ? { elements, byItem } : undefined;
}
