import { announcePage } from '../on-page.ts';
import { replaceTree, showPageInTree } from '../tree.ts';

/**
 * Prepares to replace the text, outline and title of the current page with another page of the same wiki. The header
 * stays, and so does the tree unless the document has one. The caller runs the result once the address is set, because
 * relative links of the text resolve against it; it resolves when the tree is shown. Returns undefined if the document
 * belongs to another wiki, user or version, or has no text.
 */
export function prepareSwap(text: string): (() => Promise<void>) | undefined {
  const next = new DOMParser().parseFromString(text, 'text/html');
  const [from, to] = [partsOf(document), partsOf(next)];
  if (!from || !to || next.body.className !== document.body.className) return undefined;
  for (const name of ['root', 'user', 'wiki', 'can'] as const) {
    if (from.palette.dataset[name] !== to.palette.dataset[name]) return undefined;
  }
  const scripts = addressesIn(next);
  // Each version of the scripts has different addresses.
  if (!scripts.some((address) => address === addressesIn(document)[0])) return undefined;
  return async () => {
    addStyles(next);
    const tree = to.tree && replaceTree(to.tree);
    from.main.replaceWith(to.main);
    from.outline?.remove();
    if (to.outline) to.main.after(to.outline);
    document.title = next.title;
    for (const name of ['page', 'pageId', 'title'] as const) {
      const value = to.palette.dataset[name];
      if (value === undefined) delete from.palette.dataset[name];
      else from.palette.dataset[name] = value;
    }
    for (const field of document.querySelectorAll<HTMLInputElement>('.theme input[name="next"]')) {
      field.value = location.pathname + location.search;
    }
    for (const menu of document.querySelectorAll<HTMLDetailsElement>('.top details[open]')) menu.open = false;
    announcePage();
    void showPageInTree(location.pathname, to.palette.dataset.pageId ?? '');
    // A module imported for the first time starts on the shown page.
    for (const address of scripts) void import(address);
    await tree;
  };
}

function partsOf(root: Document) {
  const main = root.querySelector<HTMLElement>('main');
  const palette = root.querySelector<HTMLElement>('ibid-palette');
  return (
    main &&
    palette && {
      main,
      palette,
      outline: root.querySelector<HTMLElement>('.outline'),
      tree: root.querySelector('.tree-roots'),
    }
  );
}

function addressesIn(root: Document): string[] {
  // Not `src`, which is not resolved in a parsed document.
  const scripts = root.querySelectorAll<HTMLScriptElement>('head script[type="module"]');
  return [...scripts].map((script) => script.getAttribute('src') ?? '');
}

function addStyles(next: Document): void {
  for (const link of next.querySelectorAll<HTMLLinkElement>('head link[rel="stylesheet"]')) {
    const href = link.getAttribute('href') ?? '';
    if (!document.head.querySelector(`link[rel="stylesheet"][href="${CSS.escape(href)}"]`))
      document.head.append(document.importNode(link));
  }
}
