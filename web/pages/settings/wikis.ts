import type { OrganizationWiki, WikiSettings } from '../../../src/wiki/wikis/schema.ts';
import type { DeletedWiki } from '../../../src/wiki/wikis/trash/schema.ts';
import { Problem } from '../../api.ts';
import { type Html, html } from '../../html.ts';
import { time } from '../../layout.ts';
import { settingsPage } from '../../settings.ts';
import type { SettingsContext } from '../../settings-context.ts';
import { disclosure, hiddenFields } from '../../settings-forms.ts';
import type { Visit } from '../../visit.ts';

/** Maximum number of wikis whose settings are shown; each costs an API request. */
const ROOTS_MAX = 20;

/** Normalizes a title to its appearance: browsers show runs of white space as one space. */
const comparable = (title: string) => title.normalize('NFC').replace(/\s+/g, ' ').trim();

const wikiPath = ({ form }: Visit) => `/v1/wikis/${encodeURIComponent(form.get('wiki_id') ?? '')}`;

const deletedPath = ({ form }: Visit, context: SettingsContext) =>
  `${context.api}/deleted-wikis/${encodeURIComponent(form.get('wiki_id') ?? '')}`;

/** Throws Problem 422 unless the form contains the title of the wiki to delete. */
function requireTitle({ form, request }: Visit, title: string): void {
  if (comparable(form.get('confirm_title') ?? '') === comparable(title)) return;
  throw new Problem(422, {
    error: 'validation_failed',
    message: `Nothing was deleted. To delete this wiki, type its title: ${title}`,
    request_id: request.id,
  });
}

export const [wikis, changeWikis] = settingsPage({
  path: '/:workspace/-/wikis',
  title: 'Wikis',
  flashMessages: {
    made: 'Wiki created.',
    renamed: 'Saved. The address stays the same, so links keep working.',
    deleted: 'Wiki moved to the trash. You can restore it below within 30 days.',
    restored: 'Wiki restored.',
    purged: 'Wiki deleted for good.',
    rooted: 'Saved. Applies to future uploads; existing pages stay unchanged.',
  },
  actions: {
    async make({ api, form }, context) {
      await api.post(`${context.api}/wikis`, { title: form.get('title') ?? '' });
      return 'made';
    },
    async rename(visit) {
      const { api, form } = visit;
      await api.patch(wikiPath(visit), { title: form.get('title') ?? '', description: form.get('description') ?? '' });
      return 'renamed';
    },
    async root(visit) {
      await visit.api.patch(`${wikiPath(visit)}/settings`, { site_root: visit.form.get('site_root') ?? '' });
      return 'rooted';
    },
    async delete(visit) {
      requireTitle(visit, (await visit.api.get<OrganizationWiki>(wikiPath(visit))).title);
      await visit.api.delete(wikiPath(visit));
      return 'deleted';
    },
    async restore(visit, context) {
      await visit.api.post(`${deletedPath(visit, context)}/restore`);
      return 'restored';
    },
    async purge(visit, context) {
      const deleted = await visit.api.get<DeletedWiki[]>(`${context.api}/deleted-wikis`);
      const wiki = deleted.find(({ wiki_id }) => wiki_id === visit.form.get('wiki_id'));
      if (wiki) requireTitle(visit, wiki.title);
      await visit.api.delete(deletedPath(visit, context));
      return 'purged';
    },
  },
  async main({ api }, context) {
    const list = context.overview.wikis.filter(
      ({ organization_id }) => organization_id === context.workspace.organization_id,
    );
    const roots = new Map<string, string>();
    if (context.can('wikis:manage')) {
      const read = async (wiki_id: string) => {
        const { site_root } = await api.get<WikiSettings>(`/v1/wikis/${wiki_id}/settings`);
        roots.set(wiki_id, site_root ?? '');
      };
      await Promise.all(list.slice(0, ROOTS_MAX).map(({ wiki_id }) => read(wiki_id)));
    }
    const deleted = context.can('wikis:create') ? await api.get<DeletedWiki[]>(`${context.api}/deleted-wikis`) : [];
    return html`<p class="lead">The wikis of ${context.workspace.name}, each with its own pages.</p>
      ${
        context.can('wikis:create') &&
        html`<form method="post" class="fields" aria-label="Create a wiki">${hiddenFields({ do: 'make' })}
        <label class="grow">Title of a new wiki <input name="title" required maxlength="255" autocomplete="off"></label><button class="button main">Create</button></form>`
      }
      <ul class="people">${list.map((it) => wikiEntry(it, context, roots.get(it.wiki_id)))}</ul>
      ${deleted.length > 0 && html`<h2>Trash</h2><p>Deleted wikis are kept here for 30 days.</p><ul class="people">${deleted.map(deletedEntry)}</ul>`}
      ${list.length === 0 && html`<p class="empty">No wikis here yet. ${context.can('wikis:create') ? 'Create one above.' : 'Ask a member to create one.'}</p>`}`;
  },
});

function wikiEntry(
  { wiki_id, slug, title, description }: OrganizationWiki,
  context: SettingsContext,
  root: string | undefined,
): Html {
  const address = `/${context.workspace.slug}/${slug}`;
  return html`<li><div class="who"><strong><a href="${address}">${title}</a></strong><span class="small">${address}</span></div>
    ${(context.can('wikis:export') || context.can('pages:write')) && html`<a class="button quiet" href="${address}/-/transfer">Export or import<span class="sr-only"> ${title}</span></a>`}
    ${
      context.can('wikis:manage') &&
      disclosure(
        html`Change<span class="sr-only"> ${title}</span>`,
        'A new title does not change the address. A deleted wiki is kept in the trash for 30 days.',
        html`<form method="post" class="stack">${hiddenFields({ do: 'rename', wiki_id })}<label>Title <input name="title" required maxlength="255" value="${title}"></label>
          <label>Description <textarea name="description" rows="2" maxlength="1000">${description}</textarea></label><p><button class="button">Save</button></p></form>
        ${
          root !== undefined &&
          html`<form method="post" class="fields">${hiddenFields({ do: 'root', wiki_id })}<label class="grow">Site root of its files, such as /powershell/ <input name="site_root" maxlength="200" autocomplete="off" spellcheck="false" value="${root}"></label><button class="button">Set</button></form>
          <p class="small">In uploaded files, links that begin with this root lead to pages of the uploaded folder.</p>`
        }
        <form method="post" class="fields">${hiddenFields({ do: 'delete', wiki_id })}<label class="grow">Title of the wiki, to confirm <input name="confirm_title" required autocomplete="off" spellcheck="false"></label><button class="button bad">Delete<span class="sr-only"> ${title}</span></button></form>`,
      )
    }</li>`;
}

function deletedEntry({ wiki_id, title, deleted_at, purged_after }: DeletedWiki): Html {
  return html`<li><div class="who"><strong>${title}</strong><span class="small">Deleted ${time(deleted_at)}, kept until ${time(purged_after)}</span></div>
    <form method="post">${hiddenFields({ do: 'restore', wiki_id })}<button class="button">Restore<span class="sr-only"> ${title}</span></button></form>
    ${disclosure(
      html`Delete for good<span class="sr-only"> ${title}</span>`,
      'Its pages, their history, attachments and sources are deleted immediately. This cannot be undone.',
      html`<form method="post" class="fields">${hiddenFields({ do: 'purge', wiki_id })}<label class="grow">Title of the wiki, to confirm <input name="confirm_title" required autocomplete="off" spellcheck="false"></label><button class="button bad">Delete for good<span class="sr-only">: ${title}</span></button></form>`,
    )}</li>`;
}
