import type { Nodes, Root } from 'mdast';

/** The elements of HTML, including obsolete ones. */
const HTML = new Set(
  (
    'a abbr acronym address applet area article aside audio b base basefont bdi bdo bgsound big blink blockquote body br ' +
    'button canvas caption center cite code col colgroup command content data datalist dd del details dfn dialog dir div dl dt ' +
    'em embed fieldset figcaption figure font footer form frame frameset h1 h2 h3 h4 h5 h6 head header hgroup hr html i iframe ' +
    'image img input ins isindex kbd keygen label legend li link listing main map mark marquee math menu menuitem meta meter nav ' +
    'nobr noembed noframes noscript object ol optgroup option output p param picture plaintext portal pre progress q rb rp rt rtc ' +
    'ruby s samp script search section select shadow slot small source spacer span strike strong style sub summary sup svg table ' +
    'tbody td template textarea tfoot th thead time title tr track tt u ul var video wbr xmp'
  ).split(' '),
);

/** Comments, processing instructions, and tags with their names. */
const TOKEN = /<!--[\s\S]*?(?:-->|$)|<[!?][^>]*>|<(\/?)([a-z][^\s/>]*)(?:[^"'<>]|"[^"]*"|'[^']*')*>/gi;

/**
 * Converts tags to text, in place, if they are no HTML elements and are never closed: `List<String>` and `<your-name>`
 * are words. Skips documents with <svg> or <math>, which have elements of their own. Linear in the length of the text.
 */
export function showUnknownTags(tree: Root, markdown: string): void {
  if (!/<\/?[a-z]/i.test(markdown)) return;
  const opened = new Set<string>();
  const closed = new Set<string>();
  let hasUnknown = false;
  let isForeign = false;
  eachHtml(tree, (node) => {
    for (const [, slash, name = ''] of node.value.matchAll(TOKEN)) {
      const lower = name.toLowerCase();
      (slash === '/' ? closed : opened).add(lower);
      hasUnknown ||= lower !== '' && !HTML.has(lower);
      isForeign ||= lower === 'svg' || lower === 'math';
    }
  });
  if (!hasUnknown || isForeign) return;
  const isText = (slash: string, name: string) => !HTML.has(name) && !(slash === '/' ? opened : closed).has(name);
  eachHtml(tree, (node, isInLine) => {
    let isShown = false;
    // Skip tags that a mask changed: they are already listed as losses.
    const written = new Set<string>(markdown.slice(...rangeOf(node)).match(TOKEN));
    const value = node.value.replace(TOKEN, (whole: string, slash: string | undefined, name: string | undefined) => {
      if (slash === undefined || name === undefined || !written.has(whole)) return whole;
      if (!isText(slash, name.toLowerCase())) return whole;
      isShown = true;
      return isInLine ? whole : `&lt;${whole.slice(1)}`;
    });
    if (isShown && isInLine) (node as { type: string }).type = 'text';
    else node.value = value;
  });
}

function rangeOf({ position }: Extract<Nodes, { type: 'html' }>): [number, number] {
  return [position?.start.offset ?? 0, position?.end.offset ?? 0];
}

const IN_LINES = new Set<Nodes['type']>([
  'paragraph',
  'heading',
  'tableCell',
  'emphasis',
  'strong',
  'delete',
  'link',
  'linkReference',
]);

function eachHtml(
  node: Nodes,
  each: (node: Extract<Nodes, { type: 'html' }>, isInLine: boolean) => void,
  isInLine = false,
): void {
  if (node.type === 'html') each(node, isInLine);
  if (!('children' in node)) return;
  const isLine = IN_LINES.has(node.type);
  for (const child of node.children) eachHtml(child, each, isLine);
}
