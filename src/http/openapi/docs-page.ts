import { escapeHtml } from '../../core/escape-html.ts';
import type { Endpoint } from '../endpoint.ts';
import { describeAccess } from './describe-access.ts';
import { operationId } from './operation-id.ts';

/** The API documentation as a page: every endpoint with its access rule, an example request and an example answer. */
export function docsPage(endpoints: readonly Endpoint[]): string {
  const entries = endpoints.map((endpoint) => {
    const { body, reply } = endpoint.example;
    const sample = body === undefined ? '' : `<h3>Request</h3><pre>${json(body)}</pre>`;
    return `<section id="${operationId(endpoint)}">
<h2><code>${endpoint.method} ${escapeHtml(endpoint.path.replace(/[:*]([a-z_]+)/g, '{$1}'))}</code></h2>
<p>${escapeHtml(endpoint.summary)}. ${escapeHtml(endpoint.description ?? '')} ${escapeHtml(describeAccess(endpoint.access).replaceAll('`', ''))}</p>
${sample}<h3>Answer (${endpoint.status ?? 200})</h3><pre>${json(reply)}</pre>
</section>`;
  });
  const list = endpoints.map(
    (endpoint) => `<li><a href="#${operationId(endpoint)}">${escapeHtml(endpoint.summary)}</a></li>`,
  );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Ibid API</title>
<style>
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; background: light-dark(#fcfbf8, #171816); color: light-dark(#22201b, #e7e5dc); overflow-wrap: break-word; }
a { color: light-dark(#0d6157, #7fcdbd); }
:focus-visible { outline: 2px solid; outline-offset: 2px; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; padding: 0.75rem; border: 1px solid light-dark(#8d887a, #83887a); border-radius: 0.25rem; background: light-dark(#f5f3ed, #1e201d); }
ul { columns: 16rem; }
</style>
</head>
<body>
<main>
<h1>Ibid API</h1>
<p>Send a credential with each request: <code>Authorization: Bearer &lt;API key or access token&gt;</code>.
The machine-readable description is <a href="/openapi.json">openapi.json</a>. What can be typed into a search is in docs/search.md.</p>
<ul>${list.join('')}</ul>
${entries.join('\n')}
</main>
</body>
</html>
`;
}

function json(value: unknown): string {
  return escapeHtml(JSON.stringify(value, null, 2));
}
