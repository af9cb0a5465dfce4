import type { Tokens } from '../../../src/organization/session/schema.ts';
import type { Overview } from '../../../src/organization/workspaces/schema.ts';
import { Problem } from '../../api.ts';
import { type Content, html } from '../../html.ts';
import { problemNote, renderAlone } from '../../layout.ts';
import type { Visit, WebRoute } from '../../visit.ts';
import { homeUrl } from '../home-url.ts';
import { otherAddressNote } from './other-address.ts';
import { createSessionCookies } from './sign-in.ts';

function renderForm(visit: Visit, token: string, withPassword: boolean, note: Content = false): Content {
  const given = (name: string) => visit.form.get(name) ?? '';
  return html`<h1>Welcome to Ibid</h1>
    <p>You are the first user. Tell us who you are, then upload a folder to turn it into a wiki.</p>
    ${note}
    <form method="post" action="/welcome" class="stack">
      <input type="hidden" name="token" value="${token}">
      <label>Your name <input name="display_name" required maxlength="100" autocomplete="name" autofocus value="${given('display_name')}"></label>
      <label>Your e-mail <input name="email" type="email" required maxlength="254" autocomplete="username" value="${given('email')}"></label>
      <label>Workspace name <span class="hint">a team, a project or yourself</span>
        <input name="workspace" maxlength="100" autocomplete="organization" value="${given('workspace')}"></label>
      ${withPassword && html`<label>Password <span class="hint">optional; without one, you sign in with a link sent by e-mail</span><input name="password" type="password" autocomplete="new-password"></label>`}
      <button class="button main wide">Create my wiki</button>
    </form>`;
}

/** The page of the link that the service prints at its first start. */
export const welcome: WebRoute = {
  method: 'GET',
  path: '/welcome',
  handle: async (visit) => {
    const token = visit.query.get('token');
    const { methods } = await visit.api.get<{ methods: string[] }>('/v1/auth/methods');
    const otherAddress = otherAddressNote(visit);
    const main =
      token === null
        ? html`<h1>Welcome to Ibid</h1><p>Open the link that the service printed at startup. It ends in <code>/welcome?token=…</code>. Until the first user exists, each start prints a new link.</p><p><a class="button" href="/sign-in">I already have an account</a></p>`
        : otherAddress
          ? html`<h1>Welcome to Ibid</h1>${otherAddress}`
          : renderForm(visit, token, methods.includes('password'));
    return { page: renderAlone(visit, { title: 'Welcome', main }) };
  },
};

export const makeFirstUser: WebRoute = {
  method: 'POST',
  path: '/welcome',
  handle: async (visit) => {
    const { form: fields, api } = visit;
    const field = (name: string) => (fields.get(name) ?? '').trim();
    const password = fields.get('password') ?? '';
    try {
      const tokens = await api.post<Tokens>('/v1/auth/first-owner', {
        token: field('token'),
        email: field('email'),
        display_name: field('display_name'),
        ...(password !== '' && { password }),
      });
      const own = api.as(tokens.access_token);
      if (field('workspace') === '') await own.post('/v1/onboarding');
      else await own.post('/v1/workspaces', { name: field('workspace') });
      const overview = await own.get<Overview>('/v1/overview');
      return { redirect: `${homeUrl(overview)}/-/upload?first`, cookies: await createSessionCookies(visit, tokens) };
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      const { methods } = await api.get<{ methods: string[] }>('/v1/auth/methods');
      const main = renderForm(visit, field('token'), methods.includes('password'), problemNote(error));
      return { status: error.status, page: renderAlone(visit, { title: 'Welcome', main }) };
    }
  },
};
