import type { OwnInvitation } from '../../../src/organization/invitations/schema.ts';
import type { Overview, User } from '../../../src/organization/workspaces/schema.ts';
import { Problem, problemForForm } from '../../api.ts';
import { type Content, html, nothing } from '../../html.ts';
import { problemNote, renderAlone } from '../../layout.ts';
import type { Visit, WebRoute } from '../../visit.ts';
import { homeUrl } from '../home-url.ts';

const PATH = '/invitations';

export function loadOwnInvitations({ api }: Visit): Promise<OwnInvitation[]> {
  return api.get('/v1/me/invitations');
}

/**
 * Lists the invitations to the user's address, each with a button that accepts it. A field for the user's name appears
 * once.
 */
export function invitationList(user: User, invitations: readonly OwnInvitation[]): Content {
  if (invitations.length === 0) return nothing;
  return html`<ul class="list">${invitations.map(
    ({
      invitation_id,
      workspace_name,
      inviter_name,
      role,
    }) => html`<li><form method="post" action="${PATH}" class="stack">
      <p><strong>${workspace_name}</strong><br><span class="small">${inviter_name} invited you. Your role: ${role}.</span></p>
      <input type="hidden" name="invitation_id" value="${invitation_id}">
      ${nameField(user)}
      <button class="button main wide">Join ${workspace_name}</button></form></li>`,
  )}</ul>`;
}

/** The caller, as returned by `GET /v1/me`. */
export type Me = User & { email_verified: boolean };

/** Explains why a user sees no invitation, and who can change that. */
export function noInvitations({ email, email_verified }: Me): string {
  const who = 'Ask the people who run its sign-in';
  if (email === '') {
    return `Your organization does not send your e-mail address, so invitations cannot reach you. ${who} to send it (the claim "email"), then sign in again.`;
  }
  if (!email_verified) {
    return `Invitations require a verified address, and your organization does not confirm that ${email} is yours. ${who} to confirm it (the claim "email_verified"), then sign in again.`;
  }
  return `No invitation for ${email}. Ask an owner of the workspace to invite this address.`;
}

/** Asks for the name of a user whose display name still comes from their address. */
export function nameField({ email, display_name }: Pick<User, 'email' | 'display_name'>): Content {
  const isUnnamed = display_name === '' || display_name === email.slice(0, email.indexOf('@'));
  return (
    isUnnamed &&
    html`<label>Your name <span class="hint">shown to other members</span><input name="display_name" maxlength="100" autocomplete="name" value="${display_name}"></label>`
  );
}

/** Stores the name from a form with `nameField`. Throws Problem for an invalid name. */
export async function saveName({ api, form }: Visit): Promise<void> {
  const display_name = form.get('display_name')?.trim() ?? '';
  if (display_name === '') return;
  try {
    await api.patch('/v1/me', { display_name });
  } catch (error) {
    // The names of users who sign in elsewhere come from their identity provider.
    if (!(error instanceof Problem) || error.status !== 403) throw error;
  }
}

async function renderInvitations(visit: Visit, status = 200, note: Content = false) {
  const overview = await visit.api.get<Overview>('/v1/overview');
  const invitations = await loadOwnInvitations(visit);
  const me = await visit.api.get<Me>('/v1/me');
  const { user } = overview.session;
  const home = homeUrl(overview);
  return {
    status,
    page: renderAlone(visit, {
      title: 'Invitations',
      main: html`<h1>${invitations.length === 0 ? 'Invitations' : 'You are invited'}</h1>${note}
        ${invitations.length === 0 && html`<p>${noInvitations(me)} Invitations expire after seven days.</p>`}
        ${invitationList(user, invitations)}
        <p><a class="button quiet wide" href="${home}">${home === '/begin' ? 'Create a workspace of your own' : 'Not now'}</a></p>`,
    }),
  };
}

export const ownInvitations: WebRoute = { method: 'GET', path: PATH, handle: (visit) => renderInvitations(visit) };

export const acceptOwnInvitation: WebRoute = {
  method: 'POST',
  path: PATH,
  handle: async (visit) => {
    const id = encodeURIComponent(visit.form.get('invitation_id') ?? '');
    try {
      await saveName(visit);
      const { slug } = await visit.api.post<{ slug: string }>(`/v1/me/invitations/${id}/accept`);
      return { redirect: `/${slug}` };
    } catch (error) {
      const problem = problemForForm(error);
      return renderInvitations(visit, problem.status, problemNote(problem));
    }
  },
};
