import { Problem } from '../../api.ts';
import { html } from '../../html.ts';
import { renderAlone } from '../../layout.ts';
import type { Cookie, WebRoute } from '../../visit.ts';
import { userHere } from './sign-in.ts';

export const signOut: WebRoute = {
  method: 'POST',
  path: '/sign-out',
  handle: async (visit) => {
    const cookies: Cookie[] = [{ name: visit.sessionCookie, value: '', maxAgeSeconds: 0 }];
    let atIssuer = '';
    try {
      // Read the issuer's sign-out address first, because it is deleted with the session.
      atIssuer = (await visit.api.get<{ end_session_url: string }>('/v1/auth/sign-out')).end_session_url;
      await visit.api.post('/v1/auth/sign-out');
    } catch (error) {
      // The session has already ended.
      if (!(error instanceof Problem) || error.status !== 401) throw error;
    }
    if (atIssuer === '') return { redirect: '/sign-in', cookies };
    // Chromium blocks the redirect of a form to another site unless `form-action` names it.
    const main = html`<h1>Signing out</h1>
      <p>You are signed out of this service. Next, sign out of your organization.</p>
      <p><a class="button main wide" href="${atIssuer}">Sign out of your organization</a></p>`;
    const head = html`<meta http-equiv="refresh" content="0;url=${atIssuer}">`;
    return { cookies, page: renderAlone(visit, { title: 'Signing out', main, head }) };
  },
};

/** The issuer redirects the browser here. The path has no query, because several issuers cannot register one. */
export const signedOut: WebRoute = {
  method: 'GET',
  path: '/sign-out',
  handle: async (visit) => {
    const isSignedIn = (await userHere(visit)) !== undefined;
    const main = isSignedIn
      ? html`<h1>Sign out</h1>
        <form method="post" action="/sign-out"><button class="button main wide">Sign out</button></form>`
      : html`<h1>You are signed out</h1>
        <p><a class="button main wide" href="/sign-in">Sign in</a></p>`;
    return { page: renderAlone(visit, { title: isSignedIn ? 'Sign out' : 'You are signed out', main }) };
  },
};
