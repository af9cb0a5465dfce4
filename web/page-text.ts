import { type Content, fromApi, html } from './html.ts';
import type { WikiContext } from './wiki-context.ts';

/** The scripts that a page's HTML needs for its formulas and diagrams. */
export function scriptsFor(text: string): string[] {
  return [
    READING.test(text) && 'reading.js',
    hasMath(text) && 'math.js',
    text.includes('<pre class="mermaid"') && 'diagrams.js',
  ].filter((name) => name !== false);
}

/** What elements/reading helps with: headings, code, tables, pictures, tasks. */
const READING = /<(?:h[1-6] id=|pre|table|img|li class="task)/;

function hasMath(text: string): boolean {
  return text.includes('<pre class="math"') || text.includes('class="language-math');
}

/** A page's HTML. For those who can write, links to missing pages lead to the form for a new page. */
export function pageText(context: WikiContext, { html: text }: { html: string }): Content {
  if (text.trim() === '') return html`<p class="empty">This page is empty.</p>`;
  if (!context.can('pages:write')) return fromApi(text);
  const missingLink = /<a class="wiki missing" data-target="([^"]*)"/g;
  // The API escaped the target for an attribute; it is unescaped before it becomes part of an address.
  return fromApi(
    text.replace(missingLink, (link, target: string) => {
      const address = `${context.actionUrl('new')}?title=${encodeURIComponent(unescaped(target))}`;
      return html`${fromApi(link)} href="${address}"`.text;
    }),
  );
}

function unescaped(attribute: string): string {
  const names: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
  return attribute.replace(
    /&(?:#x([0-9a-f]+)|#(\d+)|(\w+));/gi,
    (whole, hex?: string, decimal?: string, name?: string) => {
      if (name !== undefined) return names[name] ?? whole;
      const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
      return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
    },
  );
}
