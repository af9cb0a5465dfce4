import { hash } from 'node:crypto';
import { errors, jwtVerify } from 'jose';
import { makeRoom } from '../../core/make-room.ts';
import { isTrustworthy } from '../../core/trustworthy-url.ts';
import type { Identity } from './access-token.ts';
import { identityFromClaims, LEEWAY_SECONDS, readToken, type TokenParts } from './access-token.ts';
import { type IssuerKey, openIssuerKeys } from './issuer-keys.ts';
import { tracedFetch } from './traced-fetch.ts';

export { IdentityUnavailable } from './issuer-keys.ts';

export interface IdentityProvider {
  /**
   * Returns null if the token must be refused with 401. Throws only IdentityUnavailable, if there are no keys to verify
   * it with.
   */
  verify(token: string): Promise<Identity | null>;
}

interface IdentityProviderOptions {
  issuer: string;
  /** The expected `aud` of tokens; an array must contain it. */
  audience: string;
  /** Milliseconds since the epoch. */
  now?: () => number;
  fetch?: typeof fetch;
  log?: (message: string, details?: object) => void;
  /** Maximum number of verified tokens in the cache. */
  remembered?: number;
}

/** Maximum length in characters (ASCII only). Longer tokens are refused without parsing. */
const TOKEN_LENGTH_MAX = 8192;
/** Maximum number of keys to try for a token without kid. */
const CANDIDATES_MAX = 8;

/**
 * Verifies the access tokens (JWT, RFC 9068 or looser) of one OpenID Connect issuer. Fetches nothing before the first
 * token, so the service starts even if the issuer is unavailable. Throws an Error if the options are invalid.
 */
export function openIdentityProvider(options: IdentityProviderOptions): IdentityProvider {
  const { issuer, audience, now = Date.now, log = () => {}, remembered = 10_000 } = options;
  checkIssuer(issuer);
  if (audience === '') {
    throw new Error(
      'OIDC_AUDIENCE is empty: set it to the audience that the issuer writes into tokens for this service.',
    );
  }

  /** Verified tokens by the SHA-256 of the token, least recently used first. */
  const verified = new Map<string, Identity>();
  let newest: readonly IssuerKey[] | undefined;
  const keys = openIssuerKeys({
    issuer,
    now,
    fetch: options.fetch ?? tracedFetch,
    log,
    onChange(changed) {
      // A withdrawn key must not keep users signed in.
      verified.clear();
      newest = changed;
    },
  });
  const nowSeconds = () => Math.floor(now() / 1000);

  async function recall(digest: string): Promise<Identity | null> {
    if (!verified.has(digest)) return null;
    // Also refreshes the keys while all tokens are cached; it may clear `verified`.
    await keys.current();
    const identity = verified.get(digest);
    if (!identity) return null;
    verified.delete(digest);
    if (identity.expires_at <= nowSeconds() - LEEWAY_SECONDS) return null;
    verified.set(digest, identity);
    return identity;
  }

  function remember(digest: string, identity: Identity): void {
    makeRoom(verified, remembered);
    verified.set(digest, identity);
  }

  /** Returns null if the token is refused, undefined if none of the keys made the signature. */
  async function verifyWith(candidates: IssuerKey[], token: string): Promise<Identity | null | undefined> {
    for (const { key, algorithm } of candidates) {
      try {
        const { payload } = await jwtVerify(token, key, {
          algorithms: [algorithm],
          issuer,
          audience,
          requiredClaims: ['exp', 'sub'],
          clockTolerance: LEEWAY_SECONDS,
          currentDate: new Date(now()),
        });
        const read = identityFromClaims(payload, nowSeconds());
        if ('identity' in read) return read.identity;
        log('the claims of an access token are not accepted', read.problem);
        return null;
      } catch (error) {
        if (error instanceof errors.JWSSignatureVerificationFailed) continue;
        if (!(error instanceof errors.JOSEError)) log('a token could not be verified', { error: String(error) });
        return null;
      }
    }
    return undefined;
  }

  return {
    async verify(token) {
      if (token.length > TOKEN_LENGTH_MAX) return null;
      const digest = hash('sha256', token, 'base64url');
      const known = await recall(digest);
      if (known) return known;

      const parts = readToken(token);
      // Refuse tokens of other issuers before spending a signature check or a fetch on them.
      if (parts?.claims.iss !== issuer) return null;
      let current = await keys.current();
      let identity = await verifyWith(candidatesFor(parts, current), token);
      if (identity === undefined) {
        const others = await keys.otherThan(current);
        if (!others) return null;
        current = others;
        identity = await verifyWith(candidatesFor(parts, current), token);
      }
      if (!identity) return null;
      if (current === newest) remember(digest, identity);
      return identity;
    },
  };
}

function candidatesFor(parts: TokenParts, keys: readonly IssuerKey[]): IssuerKey[] {
  const { algorithm, key_id } = parts;
  return keys
    .filter((key) => key.algorithm === algorithm && (key_id === undefined || key.key_id === key_id))
    .slice(0, CANDIDATES_MAX);
}

/** Throws an Error that says how to set OIDC_ISSUER if it cannot be trusted. */
export function checkIssuer(issuer: string): void {
  const url = URL.parse(issuer);
  if (url && isTrustworthy(url) && !url.username && !url.password && !/[?#]/.test(issuer)) return;
  throw new Error(
    'OIDC_ISSUER is not a trustworthy address: set it to the issuer exactly as its tokens name it, ' +
      'beginning with https (http is accepted for localhost only), without user, query or fragment.',
  );
}
