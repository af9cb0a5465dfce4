import assert from 'node:assert/strict';
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
// @ts-expect-error The package has no types.
import { Provider } from 'oidc-provider';

export const AUDIENCE = 'https://wiki.example.org/api';
export const ALGORITHMS = ['ES256', 'EdDSA', 'RS256'] as const;
export type Algorithm = (typeof ALGORITHMS)[number];

export const privateKeys: Record<Algorithm, KeyObject> = {
  ES256: generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey,
  EdDSA: generateKeyPairSync('ed25519').privateKey,
  RS256: generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey,
};

/** A certified OpenID provider on a loopback port, whose keys can be replaced while it runs. */
export interface OpenIdProvider {
  issuer: string;
  /** Switches to other keys. Their key ids contain `generation`. */
  useKeys(generation: string, keys?: Record<Algorithm, KeyObject>): void;
  /**
   * Returns an access token of the client whose tokens are signed with this algorithm. Its subject is the algorithm's
   * name.
   */
  token(client: Algorithm): Promise<string>;
  stop(): void;
}

export async function startOpenIdProvider(): Promise<OpenIdProvider> {
  let answer: (request: unknown, response: unknown) => void = () => {};
  const server = createServer((request, response) => answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  answer = callbackOf(issuer, 'first', privateKeys);
  return {
    issuer,
    useKeys(generation, keys = privateKeys) {
      answer = callbackOf(issuer, generation, keys);
    },
    async token(client) {
      const response = await fetch(`${issuer}/token`, {
        method: 'POST',
        headers: { authorization: `Basic ${Buffer.from(`${client}:secret`).toString('base64')}` },
        body: new URLSearchParams({ grant_type: 'client_credentials', resource: AUDIENCE, scope: 'api' }),
      });
      const body = (await response.json()) as { access_token?: string };
      assert.ok(body.access_token, `The provider should issue a token, but answered ${JSON.stringify(body)}.`);
      return body.access_token;
    },
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}

function callbackOf(issuer: string, generation: string, keys: Record<Algorithm, KeyObject>) {
  const jwks = ALGORITHMS.map((alg) => ({
    ...keys[alg].export({ format: 'jwk' }),
    alg,
    use: 'sig',
    kid: `${generation}-${alg}`,
  }));
  const provider = new Provider(issuer, {
    clients: ALGORITHMS.map((alg) => ({
      client_id: alg,
      client_secret: 'secret',
      grant_types: ['client_credentials'],
      redirect_uris: [],
      response_types: [],
    })),
    jwks: { keys: jwks },
    ttl: { ClientCredentials: 7200 },
    // A token in JWT form is not stored, and tests use no other record of the provider.
    adapter: class {
      async find() {}
      async upsert() {}
    },
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_context: unknown, _resource: string, client: { clientId: string }) => ({
          scope: 'api',
          audience: AUDIENCE,
          accessTokenFormat: 'jwt',
          jwt: { sign: { alg: client.clientId } },
        }),
      },
    },
    extraTokenClaims: () => ({
      email: 'Ann.Lee@Example.ORG',
      email_verified: true,
      name: 'Ann Lee',
      picture: 'https://img.example.org/ann.png',
    }),
  });
  return provider.callback();
}
