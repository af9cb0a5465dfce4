import type { Usage } from '../../../src/organization/usage/schema.ts';
import { quotaAmount } from '../../../src/platform/core/quotas.ts';
import { type Content, type Html, html } from '../../html.ts';
import { settingsPage } from '../../settings.ts';

const LABELS: Record<Usage['name'], { name: string; explanation: string }> = {
  bytes: {
    name: 'Storage',
    explanation: 'Sources, attachments and archives, and all revisions of pages as Markdown and HTML.',
  },
  pages: { name: 'Pages', explanation: 'Including pages in the trash, until they are purged.' },
  files: { name: 'Files being uploaded', explanation: 'Files of unfinished uploads.' },
  wikis: { name: 'Wikis', explanation: '' },
  invitations: { name: 'Pending invitations', explanation: '' },
  keys: { name: 'API keys', explanation: 'Keys of the workspace. Personal keys do not count.' },
  jobs: { name: 'Jobs', explanation: 'Queued and running uploads, exports and imports.' },
};

/** Fraction of a limit from which the page highlights it. */
const NEARLY = 0.9;

export const [usage] = settingsPage({
  path: '/:workspace/-/usage',
  title: 'Usage',
  flashMessages: {},
  actions: {},
  async main(visit, context) {
    const list = await visit.api.get<Usage[]>(`${context.api}/usage`);
    return html`<p class="lead">The usage of ${context.workspace.name} and its limits. Anything that would exceed a limit is refused; existing data stays.</p>
      <div class="scroll" tabindex="0" role="group" aria-label="Usage"><table class="usage"><thead><tr><th scope="col">Resource</th><th scope="col" class="number">Used</th><th scope="col" class="number">Limit</th><th scope="col">Share of the limit</th></tr></thead>
      <tbody>${list.map(usageRow)}</tbody></table></div>
      <p class="small">The operator of this service sets the limits.</p>`;
  },
});

function usageRow({ name, used, limit, unlimited }: Usage): Html {
  const label = LABELS[name];
  return html`<tr><th scope="row">${label.name}${label.explanation !== '' && html`<br><span class="small">${label.explanation}</span>`}</th>
    <td class="number">${quotaAmount(name, used)}</td><td class="number">${unlimited ? 'unlimited' : quotaAmount(name, limit)}</td>
    <td>${unlimited ? '–' : partOfLimit(label.name, used, limit)}</td></tr>`;
}

function partOfLimit(name: string, used: number, limit: number): Content {
  const part = limit === 0 ? 1 : used / limit;
  const percent = `${Math.floor(100 * part)} %`;
  const note = part >= 1 ? ', limit reached' : part >= NEARLY ? ', close to the limit' : '';
  return html`<meter aria-label="${name}" min="0" max="1" high="${NEARLY}" optimum="0" value="${Math.min(1, part)}">${percent}</meter>
    <span class="small">${percent}${note}</span>`;
}
