/** Elements whose content is not shown as text: one that ends itself, as in XHTML, would take what follows with it. */
const SWALLOWING =
  /<(applet|audio|button|canvas|dialog|iframe|math|nav|noembed|noframes|noscript|object|script|select|style|svg|template|textarea|title|video|xmp)(?=[\s/>])/gi;
/** The rest of a tag that ends itself. */
const REST = /(?:"[^"]*"|'[^']*'|[^"'<>])*?\/>/y;

/** A longer tag is read as it is. */
const TAG_MAX = 2_000;

/** Of these, the ones that are not shown as text where they are in Markdown. */
export const IN_MARKDOWN = /<(applet|audio|canvas|dialog|math|noscript|object|svg|template|video)(?=[\s/>])/gi;

/** HTML in which these elements have end tags where they end themselves. Keeps the lines. Linear in the length. */
export function withEndTags(html: string, elements: RegExp = SWALLOWING): string {
  let kept = '';
  let from = 0;
  for (const { index, 0: opening, 1: name = '' } of html.matchAll(elements)) {
    if (index < from) continue;
    const start = index + opening.length;
    const attributes = html.slice(start, start + TAG_MAX);
    REST.lastIndex = 0;
    const [rest] = REST.exec(attributes) ?? [];
    if (rest === undefined) continue;
    kept += `${html.slice(from, start)}${rest.slice(0, -2)}></${name}>`;
    from = start + rest.length;
  }
  return kept + html.slice(from);
}
