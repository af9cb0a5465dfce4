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
<p>Begin with <a href="/docs/getting-started">ten minutes of the API</a>. Every <a href="/docs/errors">error code</a> says what to do. Programs read <a href="/openapi.json">openapi.json</a>.</p>
<p>Send a credential with each request: <code>Authorization: Bearer &lt;API key or access token&gt;</code>. To try an operation here, enter a key under <em>Authentication</em>, or be signed in.</p>
</div>
<div slot="overview-api-description"></div>
<form slot="authentication" class="reference-key" autocomplete="off">
<h1>Authentication</h1>
<p id="reference-key-state" role="status">Requests from this page use the session of this browser, if you are signed in.</p>
<label for="reference-key">API key or access token</label>
<input id="reference-key" type="password" autocomplete="off" spellcheck="false" required>
<p>The key stays in this page and is gone when you leave it.</p>
<button type="submit">Use this key</button>
<button type="button" hidden>Remove the key</button>
</form>
</openapi-explorer>
<noscript><div class="reference-plain">
<h1>Ibid API</h1>
<p>The reference needs JavaScript. The same description, for programs and other viewers, is <a href="/openapi.json">openapi.json</a>.</p>
<p><a href="/docs/getting-started">Getting started</a> needs no script, nor does the list of <a href="/docs/errors">errors</a>.</p>
<p>Send a credential with each request: <code>Authorization: Bearer &lt;API key or access token&gt;</code>.</p>
</div></noscript>
</div>`,
    }),
  };
}
