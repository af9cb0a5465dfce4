import { type Html, html } from '../../html.ts';
import { settingsPage } from '../../settings.ts';
import { issueWidgetToken, type SettingsContext } from '../../settings-context.ts';
import { hiddenFields } from '../../settings-forms.ts';
import type { Visit } from '../../visit.ts';

const WIDGETS = [
  { widget: 'profile', name: 'Profile', needs: '', shows: 'A user and their workspaces.' },
  {
    widget: 'enterprise',
    name: 'Enterprise',
    needs: 'enterprise:manage',
    shows: 'The seats, and the permissions and number of members of each role.',
  },
  { widget: 'developers', name: 'Developers', needs: 'developers:manage', shows: "The workspace's API keys, masked." },
];

export const [widgets, changeWidgets] = settingsPage({
  path: '/:workspace/-/widgets',
  title: 'Widgets',
  scripts: ['widgets.js'],
  flashMessages: { saved: 'Saved. From now on, only pages on these sites can show the widgets.' },
  actions: {
    async origins(visit, context) {
      const widget_origins = (visit.form.get('origins') ?? '').split(/[\s,]+/).filter((line) => line !== '');
      await visit.api.patch(`${context.api}/widget-origins`, { widget_origins });
      return 'saved';
    },
  },
  async main(visit, context) {
    const { widget_origins } = await visit.api.get<{ widget_origins: string[] }>(`${context.api}/widget-origins`);
    const text = visit.form.get('origins') ?? widget_origins.join('\n');
    const available = WIDGETS.filter(({ needs }) => needs === '' || context.can(needs));
    return html`<p class="lead">Show parts of ${context.workspace.name} on your own pages.</p>
      <h2>Allowed sites</h2>
      <form method="post" class="stack">${hiddenFields({ do: 'origins' })}
        <label>Origins, one per line <textarea name="origins" rows="4" spellcheck="false" placeholder="https://intranet.example.com" aria-describedby="origins-hint">${text}</textarea></label>
        <p class="hint" id="origins-hint">Scheme and host, plus the port if it is not the default. ${widget_origins.length === 0 && 'No site is allowed yet, so the widgets work only on Ibid’s own pages.'}</p>
        <p class="row-of-buttons"><button class="button main">Save</button></p></form>
      <h2>Embed a widget</h2>
      <ol class="steps"><li>Your server requests a token: <code>POST ${visit.publicUrl}${context.api}/widget-token</code> with <code>{"widget":"profile"}</code> and the API key of the user who views the page. The token is valid for an hour, for this widget only.</li>
      <li>Your page loads the module and contains the element:</li></ol>
      ${snippet(visit)}
      <p class="small">Colours and fonts follow <code>--ibid-paper</code>, <code>--ibid-ink</code>, <code>--ibid-ink-2</code>, <code>--ibid-line</code>, <code>--ibid-accent</code>, <code>--ibid-radius</code> and <code>--ibid-font</code>. Light or dark mode follows the <code>color-scheme</code> of your page. When a token expires, the element dispatches the event <code>ibid-token-ended</code>. Then set a new <code>token</code>.</p>
      <p class="small">A page that cannot run third-party scripts can show the widget in a frame, with the token after the <code>#</code>: <code>${visit.publicUrl}/-/widgets/${context.workspace.organization_id}/profile#token=…</code></p>
      ${await Promise.all(available.map((it) => renderWidget(visit, context, it)))}`;
  },
});

function snippet({ publicUrl }: Visit): Html {
  const text = `<script type="module" src="${publicUrl}/widgets.js"></script>\n<ibid-profile token="…"></ibid-profile>`;
  return html`<div class="with-copy"><pre class="snippet" tabindex="0"><code id="snippet">${text}</code></pre><button class="button" type="button" data-copy="snippet" hidden>Copy</button></div>
    <p class="small" role="status" id="copied"></p>`;
}

async function renderWidget(
  visit: Visit,
  context: SettingsContext,
  { widget, name, shows }: (typeof WIDGETS)[number],
): Promise<Html> {
  const token = await issueWidgetToken(visit, context, widget);
  const fallback = html`<p class="empty">This widget needs JavaScript.</p>`;
  const element = {
    profile: html`<ibid-profile token="${token}">${fallback}</ibid-profile>`,
    enterprise: html`<ibid-enterprise token="${token}">${fallback}</ibid-enterprise>`,
    developers: html`<ibid-developers token="${token}">${fallback}</ibid-developers>`,
  }[widget];
  return html`<h2>${name} <code class="small">&lt;ibid-${widget}&gt;</code></h2><p>${shows}</p>${element}`;
}
