import type { InvitationOffer } from '../../../src/organization/invitations/schema.ts';
import type { Tokens } from '../../../src/organization/session/schema.ts';
import { Problem, problemForForm } from '../../api.ts';
import { type Content, html } from '../../html.ts';
import { problemNote, renderAlone } from '../../layout.ts';
import type { Cookie, Visit, WebRoute } from '../../visit.ts';
import { type Me, nameField, noInvitations, saveName } from './own-invitations.ts';
import { createSessionCookies } from './sign-in.ts';

const PATH = '/invitations/accept';

async function renderInvitation(visit: Visit, token: string, status = 200, note: Content = false) {
  const query = new URLSearchParams({ token });
  const invitation = await visit.api.get<InvitationOffer>(`/v1/invitations/lookup?${query}`);
  const me = await signedInUser(visit);
  return { status, page: renderAlone(visit, { title: 'Invitation', main: main(invitation, token, me, note) }) };
}

async function signedInUser({ api }: Visit): Promise<Me | undefined> {
  try {
    return await api.get<Me>('/v1/me');
  } catch (error) {
    if (error instanceof Problem && error.status === 401) return undefined;
    throw error;
  }
}

function main(invitation: InvitationOffer, token: string, me: Me | undefined, note: Content): Content {
  const { workspace_name, inviter_name, email, role, state, signs_in } = invitation;
  const head = html`<h1>Join ${workspace_name}</h1>
    <p>${inviter_name} invited <strong>${email}</strong>. Your role: ${role}.</p>${note}`;
  if (state !== 'pending') {
    return html`${head}<p>This invitation is ${state}. ${state === 'accepted' ? 'You are now a member.' : `Ask ${inviter_name} for a new one.`}</p>
      <p><a class="button" href="/">Go to your wikis</a></p>`;
  }
  const next = `${PATH}?${new URLSearchParams({ token })}`;
  if (me === undefined && signs_in) {
    return html`${head}<form method="post" action="/invitations/join" class="stack"><input type="hidden" name="token" value="${token}">
      ${nameField({ email, display_name: '' })}
      <button class="button main wide" autofocus>Join as ${email}</button></form>
      <p class="small">Already have an account with another way to sign in? <a href="/sign-in?${String(new URLSearchParams({ email, next }))}">Sign in first</a></p>`;
  }
  if (me === undefined) {
    return html`${head}<p>Sign in with this address to accept.</p>
      <form method="post" action="/sign-in" class="stack">
        <input type="hidden" name="email" value="${email}"><input type="hidden" name="next" value="${next}">
        <button class="button main wide">Send me a sign-in link</button>
      </form>
      <p class="small"><a href="/sign-in?${String(new URLSearchParams({ email, next }))}">Sign in another way</a></p>`;
  }
  if (me.email === '' || (me.email === email && !me.email_verified)) {
    return html`${head}<p>${noInvitations(me)}</p>
      <form method="post" action="/sign-out"><button class="button wide">Sign out</button></form>`;
  }
  if (me.email !== email) {
    return html`${head}<p>You are signed in as <strong>${me.email}</strong>. Sign out, then sign in with the invited address.</p>
      <form method="post" action="/sign-out"><button class="button wide">Sign out</button></form>`;
  }
  return html`${head}<form method="post" action="${PATH}" class="stack"><input type="hidden" name="token" value="${token}">
    ${nameField(me)}
    <button class="button main wide" autofocus>Accept</button></form>`;
}

export const invitation: WebRoute = {
  method: 'GET',
  path: PATH,
  handle: (visit) => renderInvitation(visit, visit.query.get('token') ?? ''),
};

export const acceptInvitation: WebRoute = {
  method: 'POST',
  path: PATH,
  handle: async (visit) => {
    const token = visit.form.get('token') ?? '';
    try {
      await saveName(visit);
      const { slug } = await visit.api.post<{ slug: string }>('/v1/invitations/accept', { token });
      return { redirect: `/${slug}` };
    } catch (error) {
      const problem = problemForForm(error);
      return renderInvitation(visit, token, problem.status, problemNote(problem));
    }
  },
};

/**
 * Signs in a new user by the link in their message and accepts the invitation. If accepting fails, the user stays
 * signed in and sees the error.
 */
export const joinByInvitation: WebRoute = {
  method: 'POST',
  path: '/invitations/join',
  handle: async (visit) => {
    const token = visit.form.get('token') ?? '';
    // Another user has signed in since the page was shown; the page names that user.
    if (await signedInUser(visit)) return renderInvitation(visit, token);
    let cookies: Cookie[] = [];
    try {
      const tokens = await visit.api.post<Tokens>('/v1/auth/invitation', { token });
      cookies = await createSessionCookies(visit, tokens);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      return renderInvitation(visit, token, error.status, problemNote(error));
    }
    const [session] = cookies;
    const own = { ...visit, api: visit.api.withCookie(`${session?.name}=${session?.value}`) };
    try {
      await saveName(own);
      const { slug } = await own.api.post<{ slug: string }>('/v1/invitations/accept', { token });
      return { redirect: `/${slug}`, cookies };
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      return { ...(await renderInvitation(own, token, error.status, problemNote(error))), cookies };
    }
  },
};
