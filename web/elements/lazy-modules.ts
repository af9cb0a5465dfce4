/** Imports another bundle of the same version on demand. */
export function importSibling(name: string): Promise<unknown> {
  const address = new URL(name, import.meta.url).href;
  return import(address);
}

export async function drawFormulas(root: HTMLElement): Promise<void> {
  if (!document.querySelector('link[data-math]')) {
    const link = document.createElement('link');
    link.rel = 'stylesheet';
    link.href = new URL('math.css', import.meta.url).href;
    link.dataset.math = '';
    document.head.append(link);
  }
  const { drawMath } = (await importSibling('math.js')) as { drawMath(root: ParentNode): void };
  drawMath(root);
}

export async function drawDiagrams(root: HTMLElement): Promise<void> {
  const diagrams = (await importSibling('diagrams.js')) as { drawDiagrams(root: ParentNode): void };
  diagrams.drawDiagrams(root);
}

export async function toMarkdown(rich: string): Promise<string> {
  const { richToMarkdown } = (await importSibling('rich-text.js')) as { richToMarkdown(html: string): string };
  return richToMarkdown(rich);
}

type HighlightCode = (language: string, code: string) => { from: number; to: number; className: string }[];

export async function loadCodeColours(): Promise<HighlightCode> {
  const { highlightCode } = (await importSibling('code-colours.js')) as { highlightCode: HighlightCode };
  return highlightCode;
}

/** Loads the emoji by their names on GitHub. */
export async function loadEmojiNames(): Promise<Record<string, string>> {
  const { nameToEmoji } = (await importSibling('emoji-names.js')) as { nameToEmoji: Record<string, string> };
  return nameToEmoji;
}
