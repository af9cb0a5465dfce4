import { type Content, type Html, html } from '../../html.ts';
import type { Visit } from '../../visit.ts';

function developerBar(): Html {
  return html`<header class="reference-top">
<a class="reference-home" href="/">Ibid: your wikis</a>
<nav aria-label="For developers"><a href="/docs">API reference</a> <a href="/docs/getting-started">Getting started</a> <a href="/docs/errors">Errors</a> <a href="/openapi.json">openapi.json</a></nav>
</header>`;
}

/** Renders a document for developers. It works without scripts and without a session. */
export function developerPage(
  { theme, assets }: Visit,
  { title, body, head }: { title: string; body: Content; head?: Content },
): Html {
  return html`<!doctype html>
<html lang="en" data-theme="${theme}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="${theme === 'auto' ? 'light dark' : theme}">
<title>${title} · Ibid API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${assets.url('developers.css')}">
${head}</head>
<body>
${developerBar()}
${body}
</body>
</html>
`;
}
