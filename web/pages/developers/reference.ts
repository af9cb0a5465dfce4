import { html } from '../../html.ts';
import type { Visit, WebResponse } from '../../visit.ts';
import { developerPage } from './developer-page.ts';

/**
 * openapi-explorer uses inline style attributes, so only this page allows them. The page runs only our scripts and
 * calls only this service.
 */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self'; " +
  "connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'";

/**
 * The API reference. The browser renders it from the OpenAPI description; without scripts the page links to
 * descriptions.
 */
export function referencePage(visit: Visit): WebResponse {
  return {
    contentSecurityPolicy: POLICY,
    page: developerPage(visit, {
      title: 'API reference',
      head: html`<script type="module" src="${visit.assets.url('reference.js')}"></script>\n`,
      body: html`<div class="reference">
<openapi-explorer spec-url="/docs/openapi.json" collapse hide-server-selection>
<div slot="overview">
<h1>Ibid API</h1>
<p>Start with the <a href="/docs/getting-started">ten-minute tutorial</a>. Each <a href="/docs/errors">error code</a> explains what to do. For programs, the API is described in <a href="/openapi.json">openapi.json</a>.</p>
<p>Send a credential with each request: <code>Authorization: Bearer &lt;API key or access token&gt;</code>. To try an operation here, enter a key under <em>Authentication</em> or sign in.</p>
</div>
<div slot="overview-api-description"></div>
<form slot="authentication" class="reference-key" autocomplete="off">
<h1>Authentication</h1>
<p id="reference-key-state" role="status">Requests from this page use the session of this browser, if you are signed in.</p>
<label for="reference-key">API key or access token</label>
<input id="reference-key" type="password" autocomplete="off" spellcheck="false" required>
<p>The key is kept only in this page, until you leave it.</p>
<button type="submit">Use this key</button>
<button type="button" hidden>Remove key</button>
</form>
</openapi-explorer>
<noscript><div class="reference-plain">
<h1>Ibid API</h1>
<p>The reference needs JavaScript. The same description is available to programs and other viewers as <a href="/openapi.json">openapi.json</a>.</p>
<p><a href="/docs/getting-started">Getting started</a> and the list of <a href="/docs/errors">errors</a> work without JavaScript.</p>
<p>Send a credential with each request: <code>Authorization: Bearer &lt;API key or access token&gt;</code>.</p>
</div></noscript>
</div>`,
    }),
  };
}
