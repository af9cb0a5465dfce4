import type { Tokens } from '../../../src/organization/session/schema.ts';
import type { User } from '../../../src/organization/workspaces/schema.ts';
import { cookieOf, deviceCookieName } from '../../../src/platform/http/browser-cookie.ts';
import { Problem } from '../../api.ts';
import { type Content, html } from '../../html.ts';
import { problemNote, renderAlone } from '../../layout.ts';
import { themeForm } from '../../people/user-menu.ts';
import type { Cookie, Visit, WebResponse, WebRoute } from '../../visit.ts';
import { localUrl } from '../home.ts';
import { connectForm, hasOtherAccount } from './connect-accounts.ts';
import { otherAddressNote } from './other-address.ts';

const SESSION_SECONDS = 90 * 86_400;
const ATTEMPT_COOKIE = 'ibid_openid';
/** Where to go after signing in by mail. It is kept in the browser that asked, so that no link of a mail can choose it. */
const NEXT_COOKIE = 'ibid_next';
/** How long the link of a mail is good. */
const NEXT_SECONDS = 15 * 60;

/**
 * The cookie of a session, and that of the device, which stays when the session ends. The session's tokens stop working: from
 * now on the cookie is its only credential.
 */
export async function createSessionCookies(visit: Visit, { access_token }: Tokens): Promise<Cookie[]> {
  const kept = await visit.api
    .as(access_token)
    .post<{ browser_secret: string; device_token: string }>('/v1/auth/browser');
  return [
    { name: visit.sessionCookie, value: kept.browser_secret, maxAgeSeconds: SESSION_SECONDS },
    { name: deviceCookieName(visit.publicUrl), value: kept.device_token, maxAgeSeconds: SESSION_SECONDS },
  ];
}

interface Methods {
  methods: readonly string[];
  has_users: boolean;
}

function signInPage(visit: Visit, { methods, has_users }: Methods, next: string, note: Content = false): Content {
  const passwords = methods.includes('password');
  return html`<h1>Sign in</h1>
    ${otherAddressNote(visit)}${note}
    ${!has_users && html`<p class="note">There is no user yet. Open the link that the service printed when it started, in its log: it ends in <code>/welcome?token=…</code> and makes the first user.</p>`}
    ${
      methods.includes('openid') &&
      html`<p><a class="button main wide" href="/sign-in/openid?next=${encodeURIComponent(next)}">Sign in with your organization</a></p>
      <p class="or"><span>or</span></p>`
    }
    <form method="post" action="/sign-in" class="stack">
      <input type="hidden" name="next" value="${next}">
      <label>E-mail <input name="email" type="email" required maxlength="254" autocomplete="username" autofocus value="${visit.form.get('email') ?? visit.query.get('email') ?? ''}"></label>
      ${passwords && html`<label>Password <span class="hint">if you have one</span><input name="password" type="password" autocomplete="current-password"></label>`}
      <button class="button main wide">${passwords ? 'Sign in' : 'Send me a link'}</button>
      <p class="small">${passwords ? 'Without a password you get a link by mail.' : 'You get a mail with a link that signs you in, once, within 15 minutes.'}</p>
    </form>
    ${themeForm(visit)}`;
}

async function renderSignIn(visit: Visit, next: string, status = 200, note: Content = false): Promise<WebResponse> {
  const main = signInPage(visit, await visit.api.get<Methods>('/v1/auth/methods'), next, note);
  return { status, page: renderAlone(visit, { title: 'Sign in', main }) };
}

/** The secret of a link is sent by a button, so that mail scanners, which open links, do not use it up. */
export const signIn: WebRoute = {
  method: 'GET',
  path: '/sign-in',
  handle: async (visit) => {
    const token = visit.query.get('token');
    if (token === null) {
      const note =
        visit.query.has('deleted') && html`<div class="note good" role="status"><p>Your account is deleted.</p></div>`;
      return renderSignIn(visit, localUrl(visit.query.get('next')), 200, note);
    }
    return linkPage(visit, token);
  },
};

/** Errors: Problem 401 for a secret that signs no user in. */
async function addressOfLink({ api }: Visit, token: string): Promise<string> {
  // No secret is so short or so long.
  const secret = token === '' || token.length > 256 ? 'none' : token;
  const { email } = await api.get<{ email: string }>(`/v1/auth/email/lookup?${new URLSearchParams({ token: secret })}`);
  return email;
}

/** Names the user whom the link signs in, and asks in a browser in which another user is signed in. */
async function linkPage(visit: Visit, token: string): Promise<WebResponse> {
  let email: string;
  try {
    email = await addressOfLink(visit, token);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return renderSignIn(visit, '/', error.status, problemNote(error));
  }
  const other = await otherUser(visit, email);
  const form = html`<form method="post" action="/sign-in/link" class="stack">
      <input type="hidden" name="token" value="${token}"><input type="hidden" name="leaves" value="${other?.user_id ?? ''}">
      <button class="button ${other ? '' : 'main'} wide"${!other && html` autofocus`}>Sign in as ${email}</button>
    </form>`;
  const main = other
    ? html`<h1>Who do you want to be?</h1>
      <p>The link in the mail signs in <strong>${email}</strong>. In this browser you are signed in as <strong>${other.email || other.display_name}</strong>.</p>
      <p><a class="button main wide" href="/" autofocus>Stay ${other.email || other.display_name}</a></p>
      ${form}
      <p class="small">If you sign in as ${email}, your present session in this browser ends. If you did not ask for the link, stay who you are.</p>`
    : html`${(await mayConnect(visit)) ? connectForm(token, email) : html`<h1>Sign in</h1><p>The link in your mail signs in <strong>${email}</strong>.</p>`}${form}`;
  return { page: renderAlone(visit, { title: 'Sign in', main }) };
}

/** Whether the user of the session has another account with the same address, which is that of the link. */
async function mayConnect(visit: Visit): Promise<boolean> {
  try {
    return await hasOtherAccount(visit);
  } catch (error) {
    if (error instanceof Problem && error.status === 401) return false;
    throw error;
  }
}

/** The user of the session in this browser, if there is one. */
export async function userHere({ api }: Visit): Promise<User | undefined> {
  try {
    return await api.get<User>('/v1/me');
  } catch (error) {
    if (error instanceof Problem && error.status === 401) return undefined;
    throw error;
  }
}

/** The user of the session in this browser, if that is another one. */
async function otherUser(visit: Visit, email: string): Promise<User | undefined> {
  const me = await userHere(visit);
  return me?.email === email ? undefined : me;
}

/** Ends the session that the browser had when another one takes the place of its cookie: it would go on unseen. */
async function endFormerSession({ api, request, sessionCookie }: Visit): Promise<void> {
  if (cookieOf(request.raw, sessionCookie) === undefined) return;
  try {
    await api.post('/v1/auth/sign-out');
  } catch (error) {
    // It has ended already.
    if (!(error instanceof Problem) || error.status !== 401) throw error;
  }
}

/** The cookies of a new session, which takes the place of the one that the browser had. */
async function replaceSession(visit: Visit, tokens: Tokens): Promise<Cookie[]> {
  const cookies = await createSessionCookies(visit, tokens);
  await endFormerSession(visit);
  return cookies;
}

export const sendSignIn: WebRoute = {
  method: 'POST',
  path: '/sign-in',
  handle: async (visit) => {
    const { form, api } = visit;
    const next = localUrl(form.get('next'));
    const email = (form.get('email') ?? '').trim();
    const password = form.get('password') ?? '';
    try {
      if (password !== '') {
        const device_token = cookieOf(visit.request.raw, deviceCookieName(visit.publicUrl));
        const tokens = await api.post<Tokens>('/v1/auth/password', {
          email,
          password,
          ...(device_token && { device_token }),
        });
        return { redirect: next, cookies: await replaceSession(visit, tokens) };
      }
      await api.post('/v1/auth/email', { email });
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      return renderSignIn(visit, next, error.status, problemNote(error));
    }
    return {
      cookies: [{ name: NEXT_COOKIE, value: encodeURIComponent(next), maxAgeSeconds: NEXT_SECONDS }],
      page: renderAlone(visit, {
        title: visit.hasMail ? 'Check your mail' : 'Ask for your link',
        main: !visit.hasMail
          ? html`<h1>Ask for your link</h1>
          <p>This service has no mail server, so nothing was sent. If <strong>${email}</strong> can sign in here, the people who run the service find your link in its log. It works once, within 15 minutes.</p>`
          : html`<h1>Check your mail</h1>
          <p>If <strong>${email}</strong> can sign in here, a link is on its way. It works once, within 15 minutes.</p>
          <p class="small">Nothing arrived? Look in the spam folder, or <a href="/sign-in?next=${encodeURIComponent(next)}">try again</a>.</p>`,
      }),
    };
  },
};

export const signInByLink: WebRoute = {
  method: 'POST',
  path: '/sign-in/link',
  handle: async (visit) => {
    const next = localUrl(decodePath(cookieOf(visit.request.raw, NEXT_COOKIE) ?? '/'));
    const deletedNext: Cookie = { name: NEXT_COOKIE, value: '', maxAgeSeconds: 0 };
    const token = visit.form.get('token') ?? '';
    try {
      const email = await addressOfLink(visit, token);
      // A user signed in here after the page was shown, or the form did not come from it.
      const other = await otherUser(visit, email);
      if (other && other.user_id !== visit.form.get('leaves')) return linkPage(visit, token);
      const tokens = await visit.api.post<Tokens>('/v1/auth/email/complete', { token });
      return { redirect: next, cookies: [deletedNext, ...(await replaceSession(visit, tokens))] };
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      return renderSignIn(visit, next, error.status, problemNote(error));
    }
  },
};

export const beginOpenId: WebRoute = {
  method: 'GET',
  path: '/sign-in/openid',
  handle: async ({ api, query }) => {
    const started = await api.post<{ authorization_url: string; attempt: string }>('/v1/auth/openid');
    const value = `${started.attempt}~${encodeURIComponent(localUrl(query.get('next')))}`;
    return { redirect: started.authorization_url, cookies: [{ name: ATTEMPT_COOKIE, value, maxAgeSeconds: 600 }] };
  },
};

/** The callback of the OpenID provider. It needs the cookie of the attempt, so that only the browser that began it can end it. */
export const completeOpenId: WebRoute = {
  method: 'GET',
  path: '/sign-in/callback',
  handle: async (visit) => {
    const [attempt = '', wanted = ''] = (cookieOf(visit.request.raw, ATTEMPT_COOKIE) ?? '').split('~');
    const next = localUrl(decodePath(wanted));
    const deletedAttempt: Cookie = { name: ATTEMPT_COOKIE, value: '', maxAgeSeconds: 0 };
    try {
      const callback_url = visit.publicUrl + visit.request.url;
      const { without_seat, ...tokens } = await visit.api.post<Tokens & { without_seat: string[] }>(
        '/v1/auth/openid/complete',
        { attempt, callback_url },
      );
      const cookies = [deletedAttempt, ...(await replaceSession(visit, tokens))];
      if (without_seat.length === 0) return { redirect: next, cookies };
      const main = html`<h1>You are signed in</h1>
        <p>Your groups also open ${without_seat.join(', ')}, which has no free seat. Ask its administrators for one, then sign in again.</p>
        <p><a class="button main wide" href="${next}">Continue</a></p>`;
      return { cookies, page: renderAlone(visit, { title: 'You are signed in', main }) };
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      return { ...(await renderSignIn(visit, next, error.status, problemNote(error))), cookies: [deletedAttempt] };
    }
  },
};

function decodePath(encoded: string): string {
  try {
    return decodeURIComponent(encoded);
  } catch {
    // The cookie is malformed.
    return '/';
  }
}
