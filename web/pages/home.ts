import type { Overview } from '../../src/organization/workspaces/schema.ts';
import { html } from '../html.ts';
import { renderAlone } from '../layout.ts';
import type { Cookie, WebRoute } from '../visit.ts';
import { otherAccountNote } from './entrance/connect-accounts.ts';
import { invitationList, loadOwnInvitations, type Me, noInvitations } from './entrance/own-invitations.ts';
import { homeUrl } from './home-url.ts';

export const home: WebRoute = {
  method: 'GET',
  path: '/',
  handle: async (visit) => {
    const [overview, invitations] = await Promise.all([
      visit.api.get<Overview>('/v1/overview'),
      loadOwnInvitations(visit),
    ]);
    return { redirect: invitations.length > 0 ? '/invitations' : homeUrl(overview) };
  },
};

/** Shown to users without a wiki: their invitations, and a form that creates a workspace. */
export const begin: WebRoute = {
  method: 'GET',
  path: '/begin',
  handle: async (visit) => {
    const overview = await visit.api.get<Overview>('/v1/overview');
    if (overview.wikis.length > 0) return { redirect: homeUrl(overview) };
    const invitations = await loadOwnInvitations(visit);
    const me = await visit.api.get<Me>('/v1/me');
    const other = await otherAccountNote(visit, me.email);
    return {
      page: renderAlone(visit, {
        title: 'Get started',
        main: html`<h1>You’re not in a workspace yet</h1>
          ${other}
          ${invitationList(overview.session.user, invitations)}
          ${invitations.length === 0 && html`<p>${noInvitations(me)}</p>`}
          <p>${invitations.length === 0 ? 'You can also create' : 'Or create'} a workspace of your own. It comes with a wiki.</p>
          <form method="post" action="/begin" class="stack">
            <label>Workspace name <input name="name" required maxlength="100" autocomplete="organization"></label>
            <button class="button main">Create workspace</button>
          </form>
          <form method="post" action="/sign-out"><button class="button quiet">Sign out</button></form>`,
      }),
    };
  },
};

export const beginWorkspace: WebRoute = {
  method: 'POST',
  path: '/begin',
  handle: async ({ api, form }) => {
    await api.post('/v1/workspaces', { name: form.get('name') ?? '' });
    const overview = await api.get<Overview>('/v1/overview');
    return { redirect: `${homeUrl(overview)}/-/upload` };
  },
};

export const chooseTheme: WebRoute = {
  method: 'POST',
  path: '/theme',
  handle: async ({ form }) => {
    const value = form.get('theme') ?? 'auto';
    const known = value === 'light' || value === 'dark';
    const cookie: Cookie = { name: 'theme', value: known ? value : 'auto', maxAgeSeconds: known ? 31_536_000 : 0 };
    return { redirect: localUrl(form.get('next')), cookies: [cookie] };
  },
};

/** Returns a path of this service for redirects; "/" for any other address. */
export function localUrl(next: string | null): string {
  // Browsers treat two slashes, or a slash and a backslash, as the beginning of another host.
  return next !== null && /^\/(?![/\\])[^\s\\]*$/.test(next) ? next : '/';
}
