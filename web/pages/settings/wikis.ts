import type { OrganizationWiki, WikiSettings } from '../../../src/wikis/schema.ts';

import { Problem } from '../../api.ts';
import { type Html, html } from '../../html.ts';
import { settingsPage } from '../../settings.ts';
import type { SettingsContext } from '../../settings-context.ts';
import { disclosure, hiddenFields } from '../../settings-forms.ts';
import type { Visit } from '../../visit.ts';

/** Wikis whose settings are shown; each is asked for. */
const ROOTS_MAX = 20;

/** A title as it looks: browsers show runs of white space as one space. */
const comparable = (title: string) => title.normalize('NFC').replace(/\s+/g, ' ').trim();

const wikiPath = ({ form }: Visit) => `/v1/wikis/${encodeURIComponent(form.get('wiki_id') ?? '')}`;

export const [wikis, changeWikis] = settingsPage({
  path: '/:workspace/-/wikis',
  title: 'Wikis',
  flashMessages: {
    made: 'The wiki is made.',
    renamed: 'The wiki has its new title. Its address stays, so that links keep working.',
    deleted: 'The wiki is deleted.',
    rooted: 'Counts for what is uploaded from now on; pages stay as they are.',
  },
  actions: {
    async make({ api, form }, context) {
      await api.post(`${context.api}/wikis`, { title: form.get('title') ?? '' });
      return 'made';
    },
    async rename(visit) {
      await visit.api.patch(wikiPath(visit), { title: visit.form.get('title') ?? '' });
      return 'renamed';
    },
    async root(visit) {
      await visit.api.patch(`${wikiPath(visit)}/settings`, { site_root: visit.form.get('site_root') ?? '' });
      return 'rooted';
    },
    async delete(visit) {
      const { title } = await visit.api.get<OrganizationWiki>(wikiPath(visit));
      if (comparable(visit.form.get('confirm_title') ?? '') !== comparable(title)) {
        throw new Problem(422, {
          error: 'validation_failed',
          message: `Nothing was deleted. To delete this wiki, type its title: ${title}`,
          request_id: visit.request.id,
        });
      }
      await visit.api.delete(wikiPath(visit));
      return 'deleted';
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
    return html`<p class="lead">The wikis of ${context.workspace.name}, each with its own pages.</p>
      ${
        context.can('wikis:create') &&
        html`<form method="post" class="fields" aria-label="Create a wiki">${hiddenFields({ do: 'make' })}
        <label class="grow">Title of a new wiki <input name="title" required maxlength="255" autocomplete="off"></label><button class="button main">Create</button></form>`
      }
      <ul class="people">${list.map((it) => wikiEntry(it, context, roots.get(it.wiki_id)))}</ul>
      ${list.length === 0 && html`<p class="empty">There is no wiki here. ${context.can('wikis:create') ? 'Create one above.' : 'Ask a member to create one.'}</p>`}`;
  },
});

function wikiEntry(
  { wiki_id, slug, title }: OrganizationWiki,
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
        'A new title does not change the address. Deleting a wiki deletes its pages, their history and its sources for good, and cannot be undone: export it first.',
        html`<form method="post" class="fields">${hiddenFields({ do: 'rename', wiki_id })}<label class="grow">Title <input name="title" required maxlength="255" value="${title}"></label><button class="button">Rename</button></form>
        ${
          root !== undefined &&
          html`<form method="post" class="fields">${hiddenFields({ do: 'root', wiki_id })}<label class="grow">Root of the site of its files, such as /powershell/ <input name="site_root" maxlength="200" autocomplete="off" spellcheck="false" value="${root}"></label><button class="button">Set</button></form>
          <p class="small">Links of uploaded files that begin with it lead to the pages of their folder.</p>`
        }
        <form method="post" class="fields">${hiddenFields({ do: 'delete', wiki_id })}<label class="grow">Title of the wiki, to confirm <input name="confirm_title" required autocomplete="off" spellcheck="false"></label><button class="button bad">Delete for good<span class="sr-only">: ${title}</span></button></form>`,
      )
    }</li>`;
}
