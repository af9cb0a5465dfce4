import { html, type TemplateResult } from 'lit';
import { formatDay, Widget } from './widget.ts';

interface Developers {
  api_keys: {
    key_id: string;
    name: string;
    obfuscated_value: string;
    permissions: string[];
    created_at: string;
    expires_at?: string;
    last_used_at?: string;
  }[];
}

/** The API keys of a workspace, masked. They are created and revoked in the workspace's settings. */
export class DevelopersWidget extends Widget<Developers> {
  protected readonly widget = 'developers';

  protected renderAnswer({ api_keys }: Developers): TemplateResult {
    return html`<h2>API keys</h2>
      ${api_keys.length === 0 ? html`<p class="small">There are no keys yet. They are made in the settings of the workspace.</p>` : ''}
      <ul>${api_keys.map(
        (key) => html`<li><div class="row"><span>${key.name}</span><code>${key.obfuscated_value}</code></div>
        <p class="small">Made ${formatDay(key.created_at)} · ${key.last_used_at ? `last used ${formatDay(key.last_used_at)}` : 'not used yet'} · ${key.expires_at ? `ends ${formatDay(key.expires_at)}` : 'does not end'}</p>
        ${key.permissions.length === 0 ? '' : html`<p class="small">Restricted to: ${key.permissions.join(', ')}</p>`}</li>`,
      )}</ul>`;
  }
}
