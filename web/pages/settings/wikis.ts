import { type Html, html } from '../../html.ts';
import type { WikiEntry } from '../../place.ts';
import { actionButton, guarded, hidden, type Settings, settingsPage } from '../../settings.ts';
import type { Visit } from '../../visit.ts';

const wiki = ({ form }: Visit) => `/v1/wikis/${encodeURIComponent(form.get('wiki_id') ?? '')}`;

export const [wikis, changeWikis] = settingsPage({
  path: '/:workspace/-/wikis',
  title: 'Wikis',
  said: {
    made: 'The wiki is made.',
    renamed: 'The wiki has its new title. Its address stays, so that links keep working.',
    deleted: 'The wiki is deleted.',
  },
  deeds: {
    async make({ api, form }, at) {
      await api.post(`${at.api}/wikis`, { title: form.get('title') ?? '' });
      return 'made';
    },
    async rename(visit) {
      await visit.api.patch(wiki(visit), { title: visit.form.get('title') ?? '' });
      return 'renamed';
    },
    async delete(visit) {
      await visit.api.delete(wiki(visit));
      return 'deleted';
    },
  },
  async main(_visit, at) {
    const list = at.overview.wikis.filter(({ organization_id }) => organization_id === at.workspace.organization_id);
    return html`<p class="lead">What ${at.workspace.name} writes, each with pages of its own.</p>
      ${
        at.may('wikis:create') &&
        html`<form method="post" class="fields" aria-label="Make a wiki">${hidden({ do: 'make' })}
        <label class="grow">Title of a new wiki <input name="title" required maxlength="255" autocomplete="off"></label><button class="button main">Make it</button></form>`
      }
      <ul class="people">${list.map((it) => entry(it, at))}</ul>
      ${list.length === 0 && html`<p class="empty">There is no wiki here. ${at.may('wikis:create') ? 'Make one above.' : 'Ask a member to make one.'}</p>`}`;
  },
});

function entry({ wiki_id, slug, title }: WikiEntry, at: Settings): Html {
  const address = `/${at.workspace.slug}/${slug}`;
  return html`<li><div class="who"><strong><a href="${address}">${title}</a></strong><span class="small">${address}</span></div>
    ${(at.may('wikis:export') || at.may('pages:write')) && html`<a class="button quiet" href="${address}/-/transfer">Export or import<span class="sr-only"> ${title}</span></a>`}
    ${
      at.may('wikis:manage') &&
      guarded(
        html`Change<span class="sr-only"> ${title}</span>`,
        'A new title leaves the address as it is. Who deletes a wiki deletes its pages, their history and its sources for good: export it before.',
        html`<form method="post" class="fields">${hidden({ do: 'rename', wiki_id })}<label class="grow">Title <input name="title" required maxlength="255" value="${title}"></label><button class="button">Rename</button></form>
        ${actionButton('delete', { wiki_id }, html`Delete for good<span class="sr-only">: ${title}</span>`, 'bad')}`,
      )
    }</li>`;
}
