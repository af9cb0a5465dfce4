import type { OperatorConsole } from '../../../src/operation/operator/schema.ts';
import { renderDocument } from '../../document.ts';
import { type Content, type Html, html } from '../../html.ts';
import { userMenu } from '../../people/user-menu.ts';
import { loadSettingsContext, type SettingsContext } from '../../settings-context.ts';
import { type FormPage, formPage, sectionLinks } from '../../settings-forms.ts';
import type { Visit, WebRoute } from '../../visit.ts';
import { loadWikiContext } from '../../wiki-context.ts';

/** The context of a page for operators, available once the user is known to be one. */
export interface OperatorContext {
  console: OperatorConsole;
  settings: SettingsContext;
  actor: { credential_kind: 'operator'; user_id: string; request_id: string };
}

export const HOME = '/-/admin';

interface Me {
  user_id: string;
  email: string;
  email_verified: boolean;
}

interface OperatorPage extends FormPage<OperatorContext> {
  title: string;
}

/** Creates the routes of a page for operators and its forms. For all other users the address does not exist. */
export function operatorPage({ title, ...page }: OperatorPage): [read: WebRoute, write: WebRoute] {
  return formPage(page, {
    load: loadOperatorContext,
    render: (visit, context, main) => renderOperator(visit, context, title, main),
  });
}

/**
 * Throws Problem 401 without a session. For users who are not operators, throws the same error as for a missing wiki.
 */
async function loadOperatorContext(visit: Visit): Promise<OperatorContext> {
  const { operatorConsole, request } = visit;
  const user = await visit.api.get<Me>('/v1/me');
  if (!operatorConsole?.isOperator(user)) {
    logStranger(visit, user);
    const [, workspace = '', wiki = ''] = visit.path.split('/');
    await loadWikiContext({ ...visit, params: { workspace, wiki } });
    throw new Error('no workspace has such a slug');
  }
  return {
    console: operatorConsole,
    settings: await loadSettingsContext({ ...visit, params: {} }),
    actor: { credential_kind: 'operator', user_id: user.user_id, request_id: request.id },
  };
}

/** Logs why the page was refused. The user sees a 404, so only the log tells an operator the reason. */
function logStranger({ operatorConsole, request }: Visit, { user_id, email }: Me): void {
  const reason = !operatorConsole
    ? 'operators_not_set'
    : operatorConsole.isOperator({ email, email_verified: true })
      ? 'operator_address_unverified'
      : 'no_operator';
  const line = { request_id: request.id, endpoint: `${request.method} ${HOME}`, status: 404, reason, user_id, email };
  request.log.warn(line, 'refused access to the operator pages');
}

function renderOperator(visit: Visit, { settings }: OperatorContext, title: string, main: Content): Html {
  return renderDocument(visit, {
    title: `${title} · Ibid`,
    kind: 'wiki',
    scripts: ['settings.js'],
    body: html`
<a class="skip" href="#main">Skip to content</a>
<header class="top">
  <a class="brand" href="/"><span class="mark" aria-hidden="true">ib.</span><span class="brand-name">Ibid</span></a>
  <nav class="do last" aria-label="Actions"><a class="button quiet always" href="/">Back to your wikis</a>${userMenu(visit, settings)}</nav>
</header>
<div class="frame">
  ${sectionLinks(
    'Operations',
    html`<h2>Operations</h2><ul>
    ${[
      ['', 'Overview'],
      ['#jobs', 'Jobs'],
      ['#workspaces', 'Workspaces'],
    ].map(
      ([place, name]) =>
        html`<li><a href="${HOME}${place}"${place === '' && visit.path === HOME && html` aria-current="page"`}>${name}</a></li>`,
    )}</ul>`,
  )}
  <main id="main" tabindex="-1"><div class="page-bar"><nav class="crumbs" aria-label="Breadcrumbs"><ol><li><a href="/">Ibid</a></li><li>${visit.path === HOME ? html`<span>Operations</span>` : html`<a href="${HOME}">Operations</a>`}</li></ol></nav></div><article class="settings"><h1>${title}</h1>${main}</article></main>
  <footer class="end">Ibid · <a href="/docs">API</a></footer>
</div>`,
  });
}

/** A table that scrolls by itself in a narrow window. */
export function table(name: string, heads: readonly Content[], rows: readonly Html[]): Html {
  return html`<div class="scroll" tabindex="0" role="group" aria-label="${name}"><table class="log"><thead><tr>${heads.map((it) => html`<th scope="col">${it}</th>`)}</tr></thead>
    <tbody>${rows}</tbody></table></div>`;
}
