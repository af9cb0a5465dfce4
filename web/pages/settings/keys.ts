import type { ApiKey } from '../../../src/organization/keys/schema.ts';
import { type Content, type Html, html } from '../../html.ts';
import { time } from '../../layout.ts';
import { partLinks, readPart } from '../../paging.ts';
import { renderSettings, settingsPage } from '../../settings.ts';
import type { SettingsContext } from '../../settings-context.ts';
import { actionButton, disclosure, hiddenFields } from '../../settings-forms.ts';
import type { Visit, WebResponse } from '../../visit.ts';

const PAGE_SIZE = 100;

interface KeysPage {
  path: string;
  title: string;
  about: string;
  api(context: SettingsContext): string;
  /** The permissions that a key can be restricted to: its creator's own. */
  permissions(context: SettingsContext): string[];
}

function keysPage(keys: KeysPage) {
  const [read, write] = settingsPage({
    path: keys.path,
    title: keys.title,
    flashMessages: { revoked: 'Key revoked. It no longer works.' },
    actions: {
      make: async (visit, context) => createKey(visit, context, keys),
      async revoke(visit, context) {
        await visit.api.delete(`${keys.api(context)}/${encodeURIComponent(visit.form.get('key_id') ?? '')}`);
        return 'revoked';
      },
    },
    main: (visit, context) => renderMain(visit, context, keys),
  });
  return [read, write] as const;
}

async function renderMain(visit: Visit, context: SettingsContext, keys: KeysPage): Promise<Content> {
  const part = await readPart<ApiKey>(visit, `${keys.api(context)}?limit=${PAGE_SIZE}`);
  return html`<p class="lead">${keys.about}</p>
    ${makeForm(visit, keys.permissions(context))}
    <h2>Keys</h2>
    ${part.records.length === 0 ? html`<p class="empty">${part.isFirst ? 'No keys yet' : 'No more keys'}. Create one above, then send it as <code>Authorization: Bearer …</code>.</p>` : html`<ul class="people">${part.records.map(keyEntry)}</ul>`}
    ${partLinks(part)}`;
}

function makeForm({ form }: Visit, permissions: string[]): Html {
  return html`<form method="post" aria-label="Create a key">${hiddenFields({ do: 'make' })}
    <div class="fields"><label class="grow">Name <input name="name" required maxlength="100" autocomplete="off" placeholder="What it is for" value="${form.get('name') ?? ''}"></label>
    <label>Expires <select name="days"><option value="30">in 30 days</option><option value="90" selected>in 90 days</option><option value="365">in a year</option><option value="">never</option></select></label>
    <button class="button main">Create key</button></div>
    <details class="narrow"><summary>Restrict permissions</summary>
      <p class="small">If you select none, the key has all of your permissions.</p>
      <div class="choices">${permissions.map((it) => html`<label><input type="checkbox" name="permission" value="${it}"${form.getAll('permission').includes(it) && html` checked`}> ${it}</label>`)}</div></details></form>`;
}

function keyEntry({ key_id, name, obfuscated_value, permissions, created_at, expires_at, last_used_at }: ApiKey): Html {
  return html`<li><div class="who"><strong>${name}</strong> <code>${obfuscated_value}</code>
    <span class="small">Created ${time(created_at)} · ${last_used_at === undefined ? 'not used yet' : html`last used ${time(last_used_at)}`} · ${expires_at === undefined ? 'does not expire' : html`expires ${time(expires_at)}`}</span>
    ${permissions.length > 0 && html`<span class="small">Restricted to: ${permissions.join(', ')}</span>`}</div>
    ${disclosure(
      html`Revoke<span class="sr-only"> ${name}</span>`,
      'Everything that uses this key stops working at once. This cannot be undone.',
      actionButton('revoke', { key_id }, html`Revoke key<span class="sr-only"> ${name}</span>`, 'bad'),
    )}</li>`;
}

const DAY_MS = 86_400_000;
const DEFAULT_DAYS = 90;

/** Creates a key. The API returns the secret only once, so this replies with a page instead of a redirect. */
async function createKey(visit: Visit, context: SettingsContext, keys: KeysPage): Promise<WebResponse> {
  const { form } = visit;
  const permissions = form.getAll('permission');
  const days = Number(form.get('days') ?? DEFAULT_DAYS);
  const key = await visit.api.post<ApiKey & { secret: string }>(keys.api(context), {
    name: form.get('name') ?? '',
    ...(permissions.length > 0 && { permissions }),
    ...(days > 0 && days <= 3_650 && { expires_at: new Date(Date.now() + days * DAY_MS).toISOString() }),
  });
  return {
    page: renderSettings(
      visit,
      context,
      'Your new key',
      html`<p class="lead">This is <strong>${key.name}</strong>. It is shown only once. Store it where you keep your passwords.</p>
        <p class="secret"><code id="secret" tabindex="0">${key.secret}</code><button class="button main" type="button" data-copy="secret" hidden>Copy</button></p>
        <p class="small" role="status" id="copied"></p>
        <h2>Try it</h2>
        <pre class="snippet" tabindex="0"><code>curl -H "Authorization: Bearer $KEY" ${visit.publicUrl}/v1/workspaces</code></pre>
        <p><a class="button" href="${visit.path}">I have saved it</a></p>`,
    ),
  };
}

export const [workspaceKeys, changeWorkspaceKeys] = keysPage({
  path: '/:workspace/-/keys',
  title: 'API keys',
  about:
    'For programs that work only in this workspace. A key never has more permissions than the person who created it.',
  api: (context) => `${context.api}/api-keys`,
  permissions: (context) => context.workspace.permissions,
});

export const [ownKeys, changeOwnKeys] = keysPage({
  path: '/me/keys',
  title: 'Your API keys',
  about: 'For programs that act as you in all your workspaces.',
  api: () => '/v1/me/api-keys',
  permissions: ({ overview }) =>
    [...new Set(overview.session.organizations.flatMap(({ permissions }) => permissions))].sort(),
});
