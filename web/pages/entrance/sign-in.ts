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
/**
 * The address to open after signing in by mail. It is stored in the browser that requested the mail, so that no link in
 * a mail can choose it.
 */
const NEXT_COOKIE = 'ibid_next';
/** How long the link in a mail is valid. */
const NEXT_SECONDS = 15 * 60;

/**
 * Creates the cookies of a session and of its device; the device cookie outlives the session. The session's tokens stop
 * working, so the cookie becomes its only credential.
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
    ${!has_users && html`<p class="note">There are no users yet. To create the first user, open the link that the service printed to its log at startup. It ends in <code>/welcome?token=…</code>.</p>`}
    ${
      methods.includes('openid') &&
      html`<p><a class="button main wide" href="/sign-in/openid?next=${encodeURIComponent(next)}">Sign in with your organization</a></p>
      <p class="or"><span>or</span></p>`
    }
    <form method="post" action="/sign-in" class="stack">
      <input type="hidden" name="next" value="${next}">
      <label>E-mail <input name="email" type="email" required maxlength="254" autocomplete="username" autofocus value="${visit.form.get('email') ?? visit.query.get('email') ?? ''}"></label>
      ${passwords && html`<label>Password <span class="hint">if you have one</span><input name="password" type="password" autocomplete="current-password"></label>`}
      <button class="button main wide">${passwords ? 'Sign in' : 'Send me a sign-in link'}</button>
      <p class="small">${passwords ? 'Without a password, we send you a sign-in link by e-mail.' : 'We send you a sign-in link by e-mail. It works once, within 15 minutes.'}</p>
    </form>
    ${themeForm(visit)}`;
}

async function renderSignIn(visit: Visit, next: string, status = 200, note: Content = false): Promise<WebResponse> {
  const main = signInPage(visit, await visit.api.get<Methods>('/v1/auth/methods'), next, note);
  return { status, page: renderAlone(visit, { title: 'Sign in', main }) };
}

/** A button sends the secret of a link, so that mail scanners, which open links, do not consume it. */
export const signIn: WebRoute = {
  method: 'GET',
  path: '/sign-in',
  handle: async (visit) => {
    const token = visit.query.get('token');
    if (token === null) {
      const note =
        visit.query.has('deleted') &&
        html`<div class="note good" role="status"><p>Your account has been deleted.</p></div>`;
      return renderSignIn(visit, localUrl(visit.query.get('next')), 200, note);
    }
    return linkPage(visit, token);
  },
};

/** Returns the address that a link signs in. Throws Problem 401 for an invalid secret. */
async function addressOfLink({ api }: Visit, token: string): Promise<string> {
  // No valid secret has such a length.
  const secret = token === '' || token.length > 256 ? 'none' : token;
  const { email } = await api.get<{ email: string }>(`/v1/auth/email/lookup?${new URLSearchParams({ token: secret })}`);
  return email;
}

/** Names the user whom the link signs in. Asks for confirmation if another user is signed in in this browser. */
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
    ? html`<h1>Switch accounts?</h1>
      <p>This link signs in <strong>${email}</strong>, but this browser is signed in as <strong>${other.email || other.display_name}</strong>.</p>
      <p><a class="button main wide" href="/" autofocus>Stay signed in as ${other.email || other.display_name}</a></p>
      ${form}
      <p class="small">Signing in as ${email} ends your current session in this browser. If you did not request the link, stay signed in as before.</p>`
    : html`${(await mayConnect(visit)) ? connectForm(token, email) : html`<h1>Sign in</h1><p>This link signs you in as <strong>${email}</strong>.</p>`}${form}`;
  return { page: renderAlone(visit, { title: 'Sign in', main }) };
}

/**
 * Returns whether the session's user has another account with the same address as the link; false without a session.
 */
async function mayConnect(visit: Visit): Promise<boolean> {
  try {
    return await hasOtherAccount(visit);
  } catch (error) {
    if (error instanceof Problem && error.status === 401) return false;
    throw error;
  }
}

/** Returns the user of the session in this browser, if any. */
export async function userHere({ api }: Visit): Promise<User | undefined> {
  try {
    return await api.get<User>('/v1/me');
  } catch (error) {
    if (error instanceof Problem && error.status === 401) return undefined;
    throw error;
  }
}

/** Returns the user of the session in this browser if it is a different user. */
async function otherUser(visit: Visit, email: string): Promise<User | undefined> {
  const me = await userHere(visit);
  return me?.email === email ? undefined : me;
}

/**
 * Ends the browser's previous session when a new session replaces its cookie. Otherwise it would stay valid unnoticed.
 */
async function endFormerSession({ api, request, sessionCookie }: Visit): Promise<void> {
  if (cookieOf(request.raw, sessionCookie) === undefined) return;
  try {
    await api.post('/v1/auth/sign-out');
  } catch (error) {
    // The session has already ended.
    if (!(error instanceof Problem) || error.status !== 401) throw error;
  }
}

/** Creates the cookies of a new session and ends the browser's previous session. */
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
        title: visit.hasMail ? 'Check your e-mail' : 'Ask for your link',
        main: !visit.hasMail
          ? html`<h1>Ask for your link</h1>
          <p>This service has no mail server, so nothing was sent. If <strong>${email}</strong> can sign in here, the people who run the service can find your link in its log. It works once, within 15 minutes.</p>`
          : html`<h1>Check your e-mail</h1>
          <p>If <strong>${email}</strong> can sign in here, a link is on its way. It works once, within 15 minutes.</p>
          <p class="small">Nothing arrived? Check your spam folder, or <a href="/sign-in?next=${encodeURIComponent(next)}">try again</a>.</p>`,
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
      // Another user has signed in since the page was shown, or the form did not come from this page.
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

/**
 * The callback of the OpenID provider. It requires the cookie of the attempt, so that only the browser that began the
 * attempt can complete it.
 */
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
        <p>Your groups also give you access to ${without_seat.join(', ')}, but no seat is free there. Ask an administrator for a seat, then sign in again.</p>
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
