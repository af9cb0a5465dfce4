import type { EmailChange, Session } from '../../../src/organization/session/schema.ts';
import type { DeletedWorkspace } from '../../../src/organization/workspaces/schema.ts';
import { deviceCookieName } from '../../../src/platform/http/browser-cookie.ts';
import { ownPicturePath } from '../../elements/people/avatar.ts';
import { browserName } from '../../elements/people/browser-name.ts';
import { type Content, type Html, html } from '../../html.ts';
import { time } from '../../layout.ts';
import { partLinks, readPart } from '../../paging.ts';
import { face } from '../../people/face.ts';
import { themeForm } from '../../people/user-menu.ts';
import { settingsPage } from '../../settings.ts';
import type { SettingsContext } from '../../settings-context.ts';
import { actionButton, disclosure, hiddenFields } from '../../settings-forms.ts';
import type { Visit } from '../../visit.ts';
import { otherAccountNote } from '../entrance/connect-accounts.ts';

const SHOWN = 100;

export const [profile, changeProfile] = settingsPage({
  path: '/me',
  title: 'Profile',
  flashMessages: {
    named: 'Name changed.',
    email: 'Two e-mails are on their way. Open the link in each within 24 hours.',
    pictured: 'Picture changed.',
    unpictured: 'Picture removed.',
    password: 'Password set. You are signed out everywhere else.',
    unset: 'Password removed. You now sign in with a link sent by e-mail.',
    ended: 'Browser or program signed out.',
    workspace: 'Workspace deleted. You can restore it below within 30 days.',
  },
  actions: {
    async name({ api, form }) {
      await api.patch('/v1/me', { display_name: form.get('display_name') ?? '' });
      return 'named';
    },
    async email({ api, form }) {
      await api.post('/v1/me/email-change', { email: form.get('email') ?? '' });
      return 'email';
    },
    async picture({ api, file }) {
      // The API detects the type from the bytes.
      await api.putBytes('/v1/me/avatar', file ?? Buffer.alloc(0), 'image/png');
      return 'pictured';
    },
    async unpicture({ api }) {
      await api.delete('/v1/me/avatar');
      return 'unpictured';
    },
    async password({ api, form }) {
      const current = form.get('current_password') ?? '';
      await api.post('/v1/me/password', {
        new_password: form.get('new_password') ?? '',
        ...(current !== '' && { current_password: current }),
      });
      return 'password';
    },
    async unset({ api }) {
      await api.delete('/v1/me/password');
      return 'unset';
    },
    async end({ api, form }) {
      await api.delete(`/v1/me/sessions/${encodeURIComponent(form.get('session_id') ?? '')}`);
      return 'ended';
    },
    async restore({ api, form }) {
      const workspace_id = form.get('workspace_id') ?? '';
      const { slug } = await api.post<{ slug: string }>('/v1/me/deleted-workspaces/restore', { workspace_id });
      return { redirect: `/${slug}` };
    },
    async everywhere({ api, sessionCookie }) {
      await api.post('/v1/auth/sign-out-everywhere');
      return { redirect: '/sign-in', cookies: [{ name: sessionCookie, value: '', maxAgeSeconds: 0 }] };
    },
    async delete({ api, form, sessionCookie, publicUrl }) {
      await api.post('/v1/me/deletion', { email: form.get('email') ?? '' });
      const cookies = [sessionCookie, deviceCookieName(publicUrl)].map((name) => ({
        name,
        value: '',
        maxAgeSeconds: 0,
      }));
      return { redirect: '/sign-in?deleted', cookies };
    },
  },
  async main(visit, context) {
    const [sessions, { methods }, other, deleted, changes] = await Promise.all([
      readPart<Session>(visit, `/v1/me/sessions?limit=${SHOWN}`),
      visit.api.get<{ methods: string[] }>('/v1/auth/methods'),
      otherAccountNote(visit, context.user.email),
      visit.api.get<DeletedWorkspace[]>('/v1/me/deleted-workspaces'),
      visit.api.get<EmailChange[]>('/v1/me/email-change'),
    ]);
    return html`
      <form method="post" class="fields" aria-label="Your name">${hiddenFields({ do: 'name' })}
        <label class="grow">Name <input name="display_name" required maxlength="100" autocomplete="name" value="${context.user.display_name}"></label>
        <button class="button main">Save</button></form>
      ${pictureForm(context)}
        <h2>E-mail address</h2>${emailForm(visit, context, changes)}
        ${other}
      <h2>Your workspaces</h2>${workspaceList(context)}
      ${deleted.length > 0 && deletedList(deleted)}
      ${methods.includes('password') && passwordForm(context)}
      <h2>Where you are signed in</h2>
      <ul class="people">${sessions.records.map(sessionEntry)}</ul>${partLinks(sessions)}
      ${disclosure('Sign out everywhere', 'Signs out all of these at once, including this one. API keys keep working.', actionButton('everywhere', {}, 'Sign out everywhere', 'bad'))}
      <h2>Theme</h2><div class="narrowly">${themeForm(visit)}</div>
      ${ownData()}`;
  },
});

function pictureForm({ user }: SettingsContext): Html {
  return html`<div class="own-picture">${face(user, 'large')}
    <form method="post" enctype="multipart/form-data" class="fields" aria-label="Your picture">${hiddenFields({ do: 'picture' })}
      <label class="grow">Picture <span class="hint">PNG, JPEG, WebP or GIF; at most 1 MiB and 1024 pixels on each side</span><input type="file" name="picture" required accept="image/png,image/jpeg,image/webp,image/gif" data-scaled></label>
      <button class="button">Save picture</button></form>
    ${ownPicturePath(user.avatar_url) !== undefined && actionButton('unpicture', {}, 'Remove picture', 'quiet')}</div>`;
}

function emailForm({ form }: Visit, { user }: SettingsContext, changes: readonly EmailChange[]): Html {
  const refused = form.get('do') === 'email' ? (form.get('email') ?? '') : '';
  return html`<p>You sign in as <strong>${user.email}</strong>.</p>
    ${changes.map(
      ({
        email,
        old_confirmed,
        new_confirmed,
        expires_at,
      }) => html`<div class="note"><p>The change to <strong>${email}</strong> is pending. Open the link sent to
      ${old_confirmed ? 'the new address' : new_confirmed ? 'the old address' : 'each of the two addresses'}. The links work until ${time(expires_at)}.</p></div>`,
    )}
    <form method="post" class="fields" aria-label="Change your address">${hiddenFields({ do: 'email' })}
      <label class="grow">New address <input name="email" type="email" required maxlength="254" autocomplete="email" value="${refused}"></label>
      <button class="button">Send links</button></form>
    <p class="small">The address changes once you open two links: one sent to the old address and one sent to the new one. If you signed in more than 15 minutes ago, <a href="/sign-in?next=%2Fme">sign in again</a> first. Invitations apply to your current address.</p>`;
}

/**
 * The form posts to the API directly and the response is the archive, so no script must wait for it and no page must
 * store it.
 */
function ownData(): Html {
  return html`<h2>Your data</h2>
    <p>A ZIP file with everything this service stores about you: your profile, sessions, keys and memberships, everything you wrote that you can still read, and your activity.</p>
    <form method="post" action="/v1/me/export"><button class="button">Download your data</button></form>
    ${disclosure('Delete your account', deletionWords(), deletionForm())}`;
}

function deletionWords(): Content {
  return html`Your name, address, sessions, keys, drafts and stars are deleted at once. This cannot be undone. Pages that you wrote stay in their workspaces, without your name. Workspaces that others own are not affected. If you are the only member of a workspace, delete its wikis first. If you signed in more than 15 minutes ago, <a href="/sign-in?next=%2Fme">sign in again</a> first.`;
}

function deletionForm(): Html {
  return html`<form method="post" class="fields">${hiddenFields({ do: 'delete' })}
    <label class="grow">Your address, to confirm <input name="email" type="email" required maxlength="254" autocomplete="off"></label>
    <button class="button bad">Delete my account</button></form>`;
}

function workspaceList({ overview }: SettingsContext): Content {
  const { organizations } = overview.session;
  if (organizations.length === 0) {
    return html`<p class="empty">You are not in any workspace. See <a href="/invitations">your invitations</a>, or <a href="/begin">create a workspace</a>.</p>`;
  }
  return html`<ul class="list">${organizations.map(({ name, slug, role }) => html`<li><a href="/${slug}">${name}</a> <span class="tag">${role}</span></li>`)}</ul>`;
}

function deletedList(deleted: readonly DeletedWorkspace[]): Html {
  return html`<h2>Deleted workspaces</h2>
    <ul class="people">${deleted.map(
      ({ workspace_id, name, deleted_at, purged_after }) => html`<li><div class="who"><strong>${name}</strong>
      <span class="small">Deleted ${time(deleted_at)}</span><span class="small">Deleted for good after ${time(purged_after)}</span></div>
      ${actionButton('restore', { workspace_id }, html`Restore<span class="sr-only"> ${name}</span>`)}</li>`,
    )}</ul>`;
}

function passwordForm({ user }: SettingsContext): Html {
  return html`<h2>Password</h2>
    <form method="post" class="stack narrowly">${hiddenFields({ do: 'password' })}
      <input type="text" name="username" autocomplete="username" value="${user.email}" hidden>
      <label>Current password <span class="hint">leave empty if you have none</span><input name="current_password" type="password" autocomplete="current-password"></label>
      <label>New password <span class="hint">at least 12 characters</span><input name="new_password" type="password" required autocomplete="new-password"></label>
      <button class="button">Set password</button></form>
    ${disclosure('Remove password', 'You will sign in with a link sent by e-mail. Your sessions stay signed in.', actionButton('unset', {}, 'Remove password', 'bad'))}`;
}

const nameOf = (agent: string) => browserName(agent, ' on ') || 'A program';

function sessionEntry({ session_id, created_at, last_used_at, address, user_agent, current }: Session): Html {
  return html`<li><div class="who"><strong>${nameOf(user_agent)}</strong>${current && html` <span class="tag">this one</span>`}
    <span class="small">From ${address}</span><span class="small">Signed in ${time(created_at)}</span><span class="small">Last used ${time(last_used_at)}</span></div>
    ${!current && actionButton('end', { session_id }, html`Sign out<span class="sr-only"> ${nameOf(user_agent)} from ${address}</span>`)}</li>`;
}
