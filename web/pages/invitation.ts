import type { InvitationOffer } from '../../src/invitations/schema.ts';
import type { User } from '../../src/workspaces/schema.ts';
import { Problem, problemForForm } from '../api.ts';
import { type Content, html } from '../html.ts';
import { problemNote, renderAlone } from '../layout.ts';
import type { Visit, WebRoute } from '../visit.ts';
import { nameField, saveName } from './own-invitations.ts';

const PATH = '/invitations/accept';

async function renderInvitation(visit: Visit, token: string, status = 200, note: Content = false) {
  const query = new URLSearchParams({ token });
  const invitation = await visit.api.get<InvitationOffer>(`/v1/invitations/lookup?${query}`);
  const me = await signedInUser(visit);
  return { status, page: renderAlone(visit, { title: 'Invitation', main: main(invitation, token, me, note) }) };
}

async function signedInUser({ api }: Visit): Promise<User | undefined> {
  try {
    return await api.get<User>('/v1/me');
  } catch (error) {
    if (error instanceof Problem && error.status === 401) return undefined;
    throw error;
  }
}

function main(invitation: InvitationOffer, token: string, me: User | undefined, note: Content): Content {
  const { workspace_name, inviter_name, email, role, state } = invitation;
  const head = html`<h1>Join ${workspace_name}</h1>
    <p>${inviter_name} invited <strong>${email}</strong>. Your role: ${role}.</p>${note}`;
  if (state !== 'pending') {
    return html`${head}<p>This invitation is ${state}. ${state === 'accepted' ? 'You are a member now.' : `Ask ${inviter_name} for a new one.`}</p>
      <p><a class="button" href="/">Go to your wikis</a></p>`;
  }
  const next = `${PATH}?${new URLSearchParams({ token })}`;
  if (me === undefined) {
    return html`${head}<p>Sign in with this address to accept.</p>
      <form method="post" action="/sign-in" class="stack">
        <input type="hidden" name="email" value="${email}"><input type="hidden" name="next" value="${next}">
        <button class="button main wide">Send me a sign-in link</button>
      </form>
      <p class="small"><a href="/sign-in?${String(new URLSearchParams({ email, next }))}">Sign in another way</a></p>`;
  }
  if (me.email !== email) {
    return html`${head}<p>You are signed in as <strong>${me.email}</strong>. Sign out, and sign in with the address that was invited.</p>
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
