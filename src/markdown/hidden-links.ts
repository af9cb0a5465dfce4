import { wikiLinksIn } from './wiki-link-syntax.ts';
import { pathOf, pathOfTarget } from './wiki-links.ts';

/** A wiki link to a page, or to a missing one, as `page-elements.ts` and our serializer write it. */
const WIKI_LINK =
  /<a class="wiki( missing)?( embed)?"(?: href="([^"]*)")?(?: data-target="[^"]*")?(?: data-fragment="[^"]*")?>([^<]*)<\/a>/g;

/** A text as it is shown, which starts from `folder`. */
interface ShownText {
  markdown: string;
  html: string;
}

/** The paths that the wiki links of a text lead to. */
export function wikiLinkPaths(html: string, folder: string): string[] {
  const paths = new Set<string>();
  for (const { 3: url } of html.matchAll(WIKI_LINK)) {
    const path = url === undefined ? undefined : pathOf(url, folder);
    if (path !== undefined) paths.add(path);
  }
  return [...paths];
}

/**
 * The HTML of a text in which wiki links to pages that its reader may not see are as those to pages that do not exist. Other
 * links stay: their address is what the author wrote, whether or not there is a page.
 */
export function withHiddenLinks(
  { markdown, html }: ShownText,
  folder: string,
  isHidden: (path: string) => boolean,
): string {
  const targetsOf = Map.groupBy(wikiLinksIn(markdown), ({ text }) => text);
  const seen = new Map<string, number>();
  return html.replace(
    WIKI_LINK,
    (whole, missing: string | undefined, embed = '', url: string | undefined, label: string) => {
      const text = decoded(label);
      const nth = seen.get(text) ?? 0;
      seen.set(text, nth + 1);
      if (missing || url === undefined) return whole;
      const path = pathOf(url, folder);
      if (path === undefined || !isHidden(path)) return whole;
      const targets = targetsOf.get(text) ?? [];
      const written = targets.find(({ target }) => pathOfTarget(target) === path) ?? targets[nth] ?? targets[0];
      const target = encoded(written?.target ?? text);
      const fragment = /#.*$/.exec(url)?.[0];
      return `<a class="wiki missing${embed}" data-target="${target}"${fragment ? ` data-fragment="${fragment}"` : ''}>${label}</a>`;
    },
  );
}

function decoded(text: string): string {
  return text.replace(/&#x([0-9A-F]+);/gi, (_, hex) => String.fromCodePoint(parseInt(hex, 16)));
}

/** As our serializer writes a value between double quotes. */
function encoded(value: string): string {
  return value.replace(/["&'`]/g, (character) => `&#x${character.charCodeAt(0).toString(16).toUpperCase()};`);
}
