import { type Content, type Html, html, nothing } from './html.ts';
import type { Visit } from './visit.ts';

export interface DocumentParts {
  title: string;
  body: Content;
  /** Names of scripts to load in addition to reader.js. */
  scripts?: readonly string[];
  head?: Content;
  dir?: 'ltr' | 'rtl';
  /** Whether the body contains PAINTED_WITH before its end. */
  isPaintedInParts?: boolean;
  kind: 'wiki' | 'plain' | 'write' | 'framed';
}

/**
 * Blocks painting until the browser has parsed this element, because a browser that paints half a page moves it when
 * the rest arrives. The element is at the end of every document, except long texts, which have it above the text. It is
 * a separate element because Chromium paints at the start of the element it waits for.
 */
export const PAINTED_WITH = html`<span id="painted-with" hidden></span>`;

/** Renders a whole HTML document. All of it must work without its scripts. */
export function renderDocument(
  { theme, sidebarWidth, assets }: Visit,
  { title, body, scripts = [], head, kind, dir = 'ltr', isPaintedInParts = false }: DocumentParts,
): Html {
  const loaded = [...new Set(['reader.js', ...scripts])];
  return html`<!doctype html>
<html lang="en"${dir === 'rtl' && html` dir="rtl"`} data-theme="${theme}" data-sidebar="${sidebarWidth}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
<meta name="color-scheme" content="${theme === 'auto' ? 'light dark' : theme}">
<title>${title}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${assets.url('style.css')}">
<link rel="expect" href="#painted-with" blocking="render">
${loaded.includes('math.js') && html`<link rel="stylesheet" href="${assets.url('math.css')}">`}
${loaded.map((name) => html`<script type="module" src="${assets.url(name)}"></script>\n`)}${head ?? nothing}
</head>
<body class="${kind}">
${body}${!isPaintedInParts && PAINTED_WITH}
</body>
</html>
`;
}
