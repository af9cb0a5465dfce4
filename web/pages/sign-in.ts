import { cookieOf } from '../../src/http/browser-cookie.ts';
import { type Api, Problem } from '../api.ts';
import { type Content, html } from '../html.ts';
import { alone, refusal, themeForm } from '../layout.ts';
import type { Cookie, Shown, Visit, WebRoute } from '../visit.ts';
import { ownAddress } from './home.ts';

interface Tokens {
  access_token: string;
}

const DAYS_90 = 90 * 86_400;
const ATTEMPT = 'ibid_openid';

/** The cookie that stands for a session from now on; the session's tokens end with this. */
export async function keptIn(visit: Visit, { access_token }: Tokens): Promise<Cookie> {
  const { browser_secret } = await visit.api.as(access_token).post<{ browser_secret: string }>('/v1/auth/browser');
  return { name: visit.sessionCookie, value: browser_secret, seconds: DAYS_90 };
}

function signInPage(visit: Visit, methods: readonly string[], next: string, note: Content = false): Content {
  const passwords = methods.includes('password');
  return html`<h1>Sign in</h1>
    ${note}
    ${
      methods.includes('openid') &&
      html`<p><a class="button main wide" href="/sign-in/openid?next=${encodeURIComponent(next)}">Sign in with your organization</a></p>
      <p class="or"><span>or</span></p>`
    }
    <form method="post" action="/sign-in" class="stack">
      <input type="hidden" name="next" value="${next}">
      <label>E-mail <input name="email" type="email" required maxlength="254" autocomplete="username" autofocus value="${visit.form.get('email') ?? ''}"></label>
      ${passwords && html`<label>Password <span class="hint">if you have one</span><input name="password" type="password" autocomplete="current-password"></label>`}
      <button class="button main wide">${passwords ? 'Sign in' : 'Send me a link'}</button>
      <p class="small">${passwords ? 'Without a password you get a link by mail.' : 'You get a mail with a link that signs you in, once, within 15 minutes.'}</p>
    </form>
    ${themeForm(visit)}`;
}

async function methodsOf(api: Api): Promise<string[]> {
  return (await api.get<{ methods: string[] }>('/v1/auth/methods')).methods;
}

async function shown(visit: Visit, next: string, status = 200, note: Content = false): Promise<Shown> {
  const main = signInPage(visit, await methodsOf(visit.api), next, note);
  return { status, page: alone(visit, { title: 'Sign in', main }) };
}

/** A link's secret is used by a button, so that programs that look into mail do not use it up. */
export const signIn: WebRoute = {
  method: 'GET',
  path: '/sign-in',
  run: async (visit) => {
    const token = visit.query.get('token');
    if (token === null) return shown(visit, ownAddress(visit.query.get('next')));
    return {
      page: alone(visit, {
        title: 'Sign in',
        main: html`<h1>Sign in</h1><p>You opened the link in your mail.</p>
          <form method="post" action="/sign-in/link" class="stack">
            <input type="hidden" name="token" value="${token}">
            <input type="hidden" name="next" value="${ownAddress(visit.query.get('next'))}">
            <button class="button main wide" autofocus>Sign in</button>
          </form>`,
      }),
    };
  },
};

export const sendSignIn: WebRoute = {
  method: 'POST',
  path: '/sign-in',
  run: async (visit) => {
    const { form, api } = visit;
    const next = ownAddress(form.get('next'));
    const email = (form.get('email') ?? '').trim();
    const password = form.get('password') ?? '';
    try {
      if (password !== '') {
        const tokens = await api.post<Tokens>('/v1/auth/password', { email, password });
        return { redirect: next, cookies: [await keptIn(visit, tokens)] };
      }
      await api.post('/v1/auth/email', { email });
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      return shown(visit, next, error.status, refusal(error));
    }
    return {
      page: alone(visit, {
        title: 'Look into your mail',
        main: html`<h1>Look into your mail</h1>
          <p>If <strong>${email}</strong> may sign in here, a link is on its way. It is good for 15 minutes, once.</p>
          <p class="small">Nothing came? Look into the spam folder, or <a href="/sign-in">try again</a>. Where no mail server is set up, the link is in the log of the service.</p>`,
      }),
    };
  },
};

export const signInByLink: WebRoute = {
  method: 'POST',
  path: '/sign-in/link',
  run: async (visit) => {
    const next = ownAddress(visit.form.get('next'));
    try {
      const tokens = await visit.api.post<Tokens>('/v1/auth/email/complete', { token: visit.form.get('token') ?? '' });
      return { redirect: next, cookies: [await keptIn(visit, tokens)] };
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      return shown(visit, next, error.status, refusal(error));
    }
  },
};

export const beginOpenId: WebRoute = {
  method: 'GET',
  path: '/sign-in/openid',
  run: async ({ api, query }) => {
    const begun = await api.post<{ authorization_url: string; attempt: string }>('/v1/auth/openid');
    const value = `${begun.attempt}~${encodeURIComponent(ownAddress(query.get('next')))}`;
    return { redirect: begun.authorization_url, cookies: [{ name: ATTEMPT, value, seconds: 600 }] };
  },
};

/** What the provider sent the browser back with counts only beside the cookie that the same browser began with. */
export const completeOpenId: WebRoute = {
  method: 'GET',
  path: '/sign-in/callback',
  run: async (visit) => {
    const [attempt = '', wanted = ''] = (cookieOf(visit.request.raw, ATTEMPT) ?? '').split('~');
    const next = ownAddress(readable(wanted));
    const over = { name: ATTEMPT, value: '', seconds: 0 };
    try {
      const callback_url = visit.publicUrl + visit.request.url;
      const tokens = await visit.api.post<Tokens>('/v1/auth/openid/complete', { attempt, callback_url });
      return { redirect: next, cookies: [over, await keptIn(visit, tokens)] };
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      return { ...(await shown(visit, next, error.status, refusal(error))), cookies: [over] };
    }
  },
};

function readable(encoded: string): string {
  try {
    return decodeURIComponent(encoded);
  } catch {
    // A cookie that somebody changed says nothing of where to go.
    return '/';
  }
}

export const signOut: WebRoute = {
  method: 'POST',
  path: '/sign-out',
  run: async (visit) => {
    const ended = { name: visit.sessionCookie, value: '', seconds: 0 };
    try {
      await visit.api.post('/v1/auth/sign-out');
    } catch (error) {
      // A session that has ended already is as good as signed out.
      if (!(error instanceof Problem) || error.status !== 401) throw error;
    }
    return { redirect: '/sign-in', cookies: [ended] };
  },
};
