import { EXPLAINED_ERRORS } from '../../../src/platform/http/openapi/error-codes.ts';
import { type Html, html } from '../../html.ts';
import type { Visit, WebResponse } from '../../visit.ts';
import { developerPage } from './developer-page.ts';

/** Every error code with its status, its meaning and what to do; openapi.json links to each by its name. */
export function errorsPage(visit: Visit): WebResponse {
  return {
    page: developerPage(visit, {
      title: 'Errors',
      body: html`<main class="reference-plain">
<h1>Errors</h1>
<p>Every refusal has one body: <code>error</code> is a code for programs, <code>message</code> a sentence for developers, <code>request_id</code> what to quote in a report. A 422 has <code>detail</code> as well: a list of the fields that do not match.</p>
<p>Programs decide by the status and the code. Codes are added, never removed or renamed; treat an unknown code as its status says.</p>
${EXPLAINED_ERRORS.map(
  ({ code, status, meaning, remedy }) => html`<section id="${code}">
<h2><code>${code}</code> <span class="status">${status}</span></h2>
<p>${withCode(meaning)}</p>
<p>${withCode(remedy)}</p>
</section>
`,
)}</main>`,
    }),
  };
}

/** What is between backquotes is code. */
function withCode(text: string): Html[] {
  return text.split('`').map((part, i) => (i % 2 === 1 ? html`<code>${part}</code>` : html`${part}`));
}
