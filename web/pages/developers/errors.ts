import { EXPLAINED_ERRORS } from '../../../src/platform/http/openapi/error-codes.ts';
import { type Html, html } from '../../html.ts';
import type { Visit, WebResponse } from '../../visit.ts';
import { developerPage } from './developer-page.ts';

/** Lists every error code with its status, its meaning and the remedy; openapi.json links to each by its name. */
export function errorsPage(visit: Visit): WebResponse {
  return {
    page: developerPage(visit, {
      title: 'Errors',
      body: html`<main class="reference-plain">
<h1>Errors</h1>
<p>Every error response has the same body: <code>error</code> is a code for programs, <code>message</code> is a sentence for developers, and <code>request_id</code> identifies the request in a report. A 422 also has <code>detail</code>, a list of the fields that do not match.</p>
<p>Programs should decide by status and code. Codes are added, never removed or renamed. Handle an unknown code by its status.</p>
${EXPLAINED_ERRORS.map(
  ({ code, status, meaning, remedy, fixedBy }) => html`<section id="${code}">
<h2><code>${code}</code> <span class="status">${status}</span></h2>
<p>${withCode(meaning)}</p>
<p>${withCode(remedy)} Fixed by ${fixedBy}.</p>
</section>
`,
)}</main>`,
    }),
  };
}

/** Renders text between backquotes as code. */
function withCode(text: string): Html[] {
  return text.split('`').map((part, i) => (i % 2 === 1 ? html`<code>${part}</code>` : html`${part}`));
}
