import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type JWTPayload, SignJWT } from 'jose';
// @ts-expect-error The package has no types.
import { Provider } from 'oidc-provider';
import { privateKeys } from './openid-provider.ts';

export interface Account {
  sub: string;
  email?: string;
  /** Some issuers write custom claims as strings. */
  email_verified?: boolean | string;
  name?: string;
  /** Of any type, because hostile issuers may send anything. */
  groups?: unknown;
}

interface Forgery {
  sign?: (claims: JWTPayload) => Promise<string>;
  userinfo?: Account;
}

/** A certified OpenID provider on a loopback port for signing in, which can also act like a malicious one. */
export interface SignInProvider {
  issuer: string;
  /** Acts as a browser that is sent to this address and signs in with this account; returns the redirect URL. */
  browse(authorizationUrl: string, account: Account): Promise<string>;
  /** Same for a user whom the provider refuses; returns the redirect URL. */
  deny(authorizationUrl: string): Promise<string>;
  /**
   * Makes the token endpoint return an ID token with these claims instead of the ordinary ones, correctly signed unless
   * `how.sign` signs it. `how.userinfo` replaces the answer of the userinfo endpoint.
   */
  forge(claims: JWTPayload | undefined, how?: Forgery): void;
  /** Acts as a browser that is sent to sign out and confirms it; returns the redirect URL. */
  endSession(address: string): Promise<string>;
  /** Removes `end_session_endpoint` from the discovery document. */
  hideSignOut(): void;
  exchanges(): number;
  /** Number of times that the provider's keys were fetched. */
  keyFetches(): number;
  stop(): Promise<void>;
}

const CLIENTS = { confidential: 'secret-of-ibid', public: '' };

/**
 * Starts the provider. `in_id_token`: whether the profile is in the ID token; otherwise the userinfo endpoint returns
 * it.
 */
export async function startSignInProvider(callback: string, in_id_token = false): Promise<SignInProvider> {
  const accounts = new Map<string, Account>();
  let present = '';
  let forged: JWTPayload | undefined;
  let forgery: Forgery = {};
  let exchanges = 0;
  let keyFetches = 0;
  let hidesSignOut = false;
  let handle: (request: IncomingMessage, response: ServerResponse) => unknown = () => undefined;
  const server = createServer((request, response) => handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const key = privateKeys.RS256;
  const provider = new Provider(issuer, {
    clients: Object.entries(CLIENTS).map(([client_id, client_secret]) => ({
      client_id,
      redirect_uris: [callback],
      post_logout_redirect_uris: [new URL('/sign-out', callback).href],
      ...(client_secret ? { client_secret } : { token_endpoint_auth_method: 'none' }),
    })),
    jwks: { keys: [{ ...key.export({ format: 'jwk' }), alg: 'RS256', use: 'sig', kid: 'sign-in' }] },
    ttl: { Interaction: 600, Grant: 600, Session: 600, AccessToken: 600, IdToken: 600, AuthorizationCode: 60 },
    cookies: { keys: ['test'] },
    conformIdTokenClaims: !in_id_token,
    // Many issuers support more algorithms than a client should accept.
    enabledJWA: { idTokenSigningAlgValues: ['RS256', 'PS256', 'HS256'] },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name', 'groups'] },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_context: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    findAccount: (_context: unknown, accountId: string) => ({ accountId, claims: () => accounts.get(accountId) }),
    // Every user has consented to everything.
    loadExistingGrant: async ({ oidc }: { oidc: { client: { clientId: string }; session: { accountId: string } } }) => {
      const grant = new provider.Grant({ clientId: oidc.client.clientId, accountId: oidc.session.accountId });
      grant.addOIDCScope('openid email profile');
      await grant.save();
      return grant;
    },
  });
  const ordinary = provider.callback();

  const signCorrectly = (claims: JWTPayload) =>
    new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'sign-in' }).sign(key);

  async function answerForged(request: IncomingMessage, response: ServerResponse): Promise<void> {
    for await (const _ of request);
    const now = Math.floor(Date.now() / 1000);
    const ordinaryClaims = { iss: issuer, aud: 'confidential', sub: 'forged', iat: now, exp: now + 300 };
    const { sign = signCorrectly } = forgery;
    const id_token = await sign({ ...ordinaryClaims, ...forged });
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ access_token: 'x', token_type: 'Bearer', id_token }));
  }

  async function answerWithoutSignOut(response: ServerResponse): Promise<void> {
    const described = await fetch(`${issuer}/.well-known/oauth-authorization-server`);
    const { end_session_endpoint: _, ...rest } = await described.json();
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(rest));
  }

  handle = (request, response) => {
    if (request.url?.startsWith('/interaction/')) {
      const denied = { error: 'access_denied', error_description: 'not in the group wiki' };
      return provider.interactionFinished(
        request,
        response,
        present === '' ? denied : { login: { accountId: present } },
      );
    }
    if (request.url === '/.well-known/openid-configuration' && hidesSignOut) return answerWithoutSignOut(response);
    if (request.url === '/jwks') keyFetches += 1;
    if (request.url === '/token') {
      exchanges += 1;
      if (forged) return answerForged(request, response);
    }
    if (request.url === '/me' && forgery.userinfo) {
      response.setHeader('content-type', 'application/json');
      return response.end(JSON.stringify(forgery.userinfo));
    }
    return ordinary(request, response);
  };

  async function follow(authorizationUrl: string): Promise<string> {
    const cookies = new Map<string, string>();
    let at = authorizationUrl;
    while (!at.startsWith(callback)) {
      const cookie = [...cookies].map((pair) => pair.join('=')).join('; ');
      const response = await fetch(at, { redirect: 'manual', headers: { cookie } });
      for (const set of response.headers.getSetCookie()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
        cookies.set(name, value);
      }
      const next = response.headers.get('location');
      if (next === null) throw new Error(`${at} did not redirect the browser: ${await response.text()}`);
      at = new URL(next, at).href;
    }
    return at;
  }

  async function endSession(address: string): Promise<string> {
    const asked = await fetch(address, { redirect: 'manual' });
    const form = await asked.text();
    const xsrf = /name="xsrf" value="([^"]*)"/.exec(form)?.[1];
    if (xsrf === undefined) throw new Error(`the provider does not ask for a sign-out: ${asked.status} ${form}`);
    const cookie = asked.headers
      .getSetCookie()
      .map((set) => set.split(';')[0])
      .join('; ');
    const body = new URLSearchParams({ xsrf, logout: 'yes' });
    const done = await fetch(`${issuer}/session/end/confirm`, {
      method: 'POST',
      redirect: 'manual',
      headers: { cookie },
      body,
    });
    return done.headers.get('location') ?? `${done.status} ${await done.text()}`;
  }

  return {
    issuer,
    endSession,
    hideSignOut() {
      hidesSignOut = true;
    },
    browse(authorizationUrl, account) {
      accounts.set(account.sub, account);
      present = account.sub;
      return follow(authorizationUrl);
    },
    deny(authorizationUrl) {
      present = '';
      return follow(authorizationUrl);
    },
    forge(claims, how = {}) {
      forged = claims;
      forgery = how;
    },
    exchanges: () => exchanges,
    keyFetches: () => keyFetches,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
