/**
 * Elements whose content is not shown as text. Parsers ignore the `/` of a self-closing tag (XHTML), so such an element
 * would swallow the following text.
 */
const SWALLOWING =
  /<(applet|audio|button|canvas|dialog|iframe|math|nav|noembed|noframes|noscript|object|script|select|style|svg|template|textarea|title|video|xmp)(?=[\s/>])/gi;
/** The rest of a self-closing tag. */
const REST = /(?:"[^"]*"|'[^']*'|[^"'<>])*?\/>/y;

/** Longer tags are left unchanged. */
const TAG_MAX = 2_000;

/** The subset of these elements that Markdown does not show as text. */
export const IN_MARKDOWN = /<(applet|audio|canvas|dialog|math|noscript|object|svg|template|video)(?=[\s/>])/gi;

/** Adds end tags to these elements if they are self-closing. Keeps line numbers. Linear in the length. */
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
