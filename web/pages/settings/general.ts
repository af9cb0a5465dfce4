import type { Workspace } from '../../../src/organization/workspaces/schema.ts';
import { type Html, html } from '../../html.ts';
import { logoUrl } from '../../people/brand.ts';
import { settingsPage } from '../../settings.ts';
import { requireSetting, type SettingsContext } from '../../settings-context.ts';
import { actionButton, disclosure, hiddenFields } from '../../settings-forms.ts';
import type { Visit } from '../../visit.ts';

export const [general, changeGeneral] = settingsPage({
  path: '/:workspace/-/general',
  title: 'General',
  flashMessages: {
    renamed: 'Saved. Links with an earlier address redirect here.',
    logo: 'Logo changed. Other browsers will show it within five minutes.',
    letter: 'Logo removed. Other browsers will show the letter within five minutes.',
  },
  actions: {
    async rename({ api, form }, context) {
      const { slug } = await api.patch<Workspace>(context.api, {
        name: form.get('name') ?? '',
        slug: (form.get('slug') ?? '').trim(),
      });
      return { redirect: `/${slug}/-/general?flash=renamed` };
    },
    async logo({ api, file }, context) {
      // The API detects the type from the bytes.
      await api.putBytes(logoUrl(context.workspace.organization_id), file ?? Buffer.alloc(0), 'image/png');
      return 'logo';
    },
    async letter({ api }, context) {
      await api.delete(logoUrl(context.workspace.organization_id));
      return 'letter';
    },
    async delete({ api, form }, context) {
      await api.post(`${context.api}/deletion`, { name: form.get('confirmed_name') ?? '' });
      return { redirect: '/me?flash=workspace' };
    },
  },
  async main(visit, context) {
    requireSetting(visit, context, 'enterprise:manage');
    return html`<p class="lead">The name and address of ${context.workspace.name}.</p>
      ${nameForm(visit, context)}
      ${logoForm(context)}
      ${context.can('workspace:delete') && deletion(visit, context)}`;
  },
});

function nameForm({ form, publicUrl }: Visit, { workspace }: SettingsContext): Html {
  const isRefused = form.get('do') === 'rename';
  const value = (name: 'name' | 'slug') => (isRefused && form.get(name)) || workspace[name];
  return html`<form method="post" class="stack" aria-label="Name and address">${hiddenFields({ do: 'rename' })}
    <label>Name <input name="name" required maxlength="100" autocomplete="organization" value="${value('name')}"></label>
    <div><label>Address <input name="slug" required maxlength="48" pattern="[a-z0-9]+(-[a-z0-9]+)*" autocomplete="off" spellcheck="false" value="${value('slug')}" aria-describedby="slug-what"></label>
      <p class="small" id="slug-what">The part after ${publicUrl}/ in the address of every page: 1 to 48 characters from a–z, 0–9 and single hyphens. The last ten addresses redirect to the current one.</p></div>
    <p><button class="button main">Save</button></p></form>`;
}

function logoForm({ workspace }: SettingsContext): Html {
  return html`<h2>Logo</h2>
    <div class="own-picture"><img class="logo" src="${logoUrl(workspace.organization_id)}" alt="Current logo" width="64" height="64" data-fresh>
    <form method="post" enctype="multipart/form-data" class="fields" aria-label="Logo">${hiddenFields({ do: 'logo' })}
      <label class="grow">Picture <span class="hint">PNG, JPEG, WebP or GIF; at most 1 MiB and 1024 pixels on each side; ideally square</span><input type="file" name="picture" required accept="image/png,image/jpeg,image/webp,image/gif" data-scaled></label>
      <button class="button">Save logo</button></form>
    ${actionButton('letter', {}, 'Remove logo', 'quiet')}</div>`;
}

/** Maximum number of wikis whose exports are offered by name. */
const EXPORTS_SHOWN = 20;

function deletion({ hasPayments }: Visit, { workspace, overview }: SettingsContext): Html {
  const wikis = overview.wikis.filter(({ organization_id }) => organization_id === workspace.organization_id);
  const more = wikis.length - EXPORTS_SHOWN;
  const form = html`<form method="post" class="fields">${hiddenFields({ do: 'delete' })}
      <label class="grow">Workspace name, to confirm <input name="confirmed_name" required maxlength="100" autocomplete="off"></label>
      <button class="button bad">Delete workspace</button></form>`;
  return html`<h2>Delete workspace</h2>
    <p>Every member loses access at once. API keys, widgets and invitations stop working, and so do running uploads. Owners can restore everything within 30 days, from their profile. After that, the workspace is deleted for good, with its wikis and files.</p>
    ${
      wikis.length > 0 &&
      html`<p>Export what you want to keep first:</p>
      <ul class="list">${wikis.slice(0, EXPORTS_SHOWN).map(({ slug, title }) => html`<li><a href="/${workspace.slug}/${slug}/-/transfer">Export ${title}</a></li>`)}
      ${more > 0 && html`<li><a href="/${workspace.slug}/-/wikis">${more} more</a></li>`}</ul>`
    }
    ${disclosure(`Delete ${workspace.name}`, `${hasPayments ? 'If your plan renews, cancel it first. ' : ''}A workspace under a legal hold cannot be deleted.`, form)}`;
}
