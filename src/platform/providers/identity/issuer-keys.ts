import { type CryptoKey, importJWK, type JWK } from 'jose';
import { isTrustworthy } from '../../core/trustworthy-url.ts';
import type { Algorithm } from './access-token.ts';
import { fetchJson, isRecord } from './fetch-json.ts';

/**
 * The issuer does not respond and there are no usable keys (never fetched, or too old), so no token can be verified.
 * Becomes a 503.
 */
export class IdentityUnavailable extends Error {
  override name = 'IdentityUnavailable';
}

/** A public key of the issuer, for signatures of one algorithm. */
export interface IssuerKey {
  key_id: string | undefined;
  algorithm: Algorithm;
  key: CryptoKey;
}

interface IssuerKeys {
  /**
   * Returns the known keys, as the same array until they change. The first call fetches them, later calls refresh them
   * in the background. Throws IdentityUnavailable if no fetch has succeeded in the last hour.
   */
  current(): Promise<readonly IssuerKey[]>;
  /**
   * Call this if none of the keys in `seen` verified a token. Returns the current keys if they differ from `seen`,
   * otherwise null. Fetches at most every 10 seconds.
   */
  otherThan(seen: readonly IssuerKey[]): Promise<readonly IssuerKey[] | null>;
}

interface IssuerKeysOptions {
  issuer: string;
  /** Milliseconds since the epoch. */
  now: () => number;
  fetch: typeof fetch;
  log: (message: string, details?: object) => void;
  /** Called before changed keys are returned. */
  onChange: (keys: readonly IssuerKey[]) => void;
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;
/** Timeout of discovery and keys together. */
const TIME_LIMIT = 5 * SECOND;
/** Without keys every request waits for a fetch. This limits how often a failing issuer is called. */
const FIRST_RETRY = 5 * SECOND;
/**
 * Interval at which keys are refreshed in the background while there are requests. Also limits calls of a failing
 * issuer.
 */
const REFRESH = 30 * SECOND;
/** Older keys are refreshed before use, so this is the longest time that a withdrawn key is accepted. */
const MAX_AGE = MINUTE;
/** How long the known keys are used while the issuer is unavailable. */
const MAX_OUTAGE = 60 * MINUTE;
const UNKNOWN_KEY_RETRY = 10 * SECOND;

/**
 * Caches the signing keys of an OpenID Connect issuer (OpenID Connect Discovery 1.0 section 4, RFC 7517). Always
 * fetches discovery and keys together, so that an issuer may move its keys. A withdrawn key is accepted for at most a
 * minute while the issuer responds; while it does not, the known keys are used for an hour.
 */
export function openIssuerKeys(options: IssuerKeysOptions): IssuerKeys {
  const { issuer, now, log } = options;
  let keys: readonly IssuerKey[] | null = null;
  let fingerprint = '';
  let loading: Promise<void> | null = null;
  let failure: unknown;
  /** Start time of the fetch that returned the known keys. */
  let loadedAt = Number.NEGATIVE_INFINITY;
  /** Start time of the last successful fetch, or the time at which a later fetch failed. */
  let lastAttemptAt = Number.NEGATIVE_INFINITY;
  let unknownKeyAt = Number.NEGATIVE_INFINITY;

  /** Absolute, so that fetching does not stop after the clock was set back. */
  const since = (time: number) => Math.abs(now() - time);

  const usableKeys = () => (since(loadedAt) < MAX_OUTAGE ? keys : null);

  function load(): Promise<void> {
    if (loading) return loading;
    const begunAt = now();
    loading = fetchKeys(options)
      .then(
        (fetched) => adopt(fetched, begunAt),
        (error: unknown) => {
          failure = error;
          lastAttemptAt = now();
          log('the keys of the OpenID Connect issuer could not be fetched', { issuer, error: describe(error) });
        },
      )
      .finally(() => {
        loading = null;
      });
    return loading;
  }

  function adopt(fetched: FetchedKeys, begunAt: number): void {
    loadedAt = lastAttemptAt = begunAt;
    if (keys && fetched.fingerprint === fingerprint) return;
    keys = fetched.keys;
    fingerprint = fetched.fingerprint;
    options.onChange(keys);
    log('the OpenID Connect issuer has new keys', { issuer, keys: keys.length, ignored: fetched.ignored });
    if (keys.length === 0)
      log('the issuer publishes no key for ES256, EdDSA or RS256, so all its tokens are refused', {});
  }

  return {
    async current() {
      const age = since(lastAttemptAt);
      if (!usableKeys()) {
        if (loading || age >= FIRST_RETRY) await load();
      } else if (age >= MAX_AGE) await load();
      else if (age >= REFRESH) void load();
      const usable = usableKeys();
      if (!usable) throw new IdentityUnavailable(`The keys of ${issuer} could not be fetched.`, { cause: failure });
      return usable;
    },
    async otherThan(seen) {
      if (keys === seen) {
        if (loading !== null) await loading;
        else if (since(unknownKeyAt) >= UNKNOWN_KEY_RETRY) {
          unknownKeyAt = now();
          await load();
        }
      }
      return keys === seen ? null : keys;
    },
  };
}

interface FetchedKeys {
  keys: IssuerKey[];
  /** Equal for equal keys, whatever their order. */
  fingerprint: string;
  ignored: number;
}

async function fetchKeys({ issuer, fetch }: IssuerKeysOptions): Promise<FetchedKeys> {
  const signal = AbortSignal.timeout(TIME_LIMIT);
  const discovery = new URL(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`);
  const document = await fetchJson(fetch, discovery, signal);
  if (!isRecord(document) || document.issuer !== issuer) {
    const named = isRecord(document) ? JSON.stringify(document.issuer) : 'nothing';
    throw new Error(
      `${discovery} names ${named} as issuer: if that is the intended issuer, set OIDC_ISSUER to exactly that`,
    );
  }
  const address = typeof document.jwks_uri === 'string' ? URL.parse(document.jwks_uri) : null;
  // A remote issuer must not make this service call other services on its own machine.
  const trusted =
    address && isTrustworthy(address) && (address.protocol === 'https:' || discovery.protocol === 'http:');
  if (!trusted) throw new Error(`${discovery} names no jwks_uri that begins with https`);
  return importKeys(await fetchJson(fetch, address, signal));
}

async function importKeys(document: unknown): Promise<FetchedKeys> {
  if (!isRecord(document) || !Array.isArray(document.keys))
    throw new Error('the jwks_uri did not return a JSON Web Key Set');
  const imported = await Promise.all(document.keys.map(importKey));
  const usable = imported.filter((entry) => entry !== null);
  const fingerprint = usable
    .map((entry) => entry.fingerprint)
    .sort()
    .join('\n');
  return { keys: usable.map((entry) => entry.key), fingerprint, ignored: imported.length - usable.length };
}

/** Returns null for anything but a public signing key of an accepted algorithm. */
async function importKey(jwk: unknown): Promise<{ key: IssuerKey; fingerprint: string } | null> {
  const algorithm = isRecord(jwk) ? algorithmOf(jwk) : null;
  if (!isRecord(jwk) || !algorithm) return null;
  const { kty, crv, x, y, n, e, kid } = jwk;
  try {
    const key = await importJWK({ kty, crv, x, y, n, e } as JWK, algorithm);
    if (key instanceof Uint8Array || key.type !== 'public') return null;
    const { modulusLength } = key.algorithm as { modulusLength?: number };
    // Shorter keys can be forged. Longer keys take so long to verify that they allow a denial of service.
    if (modulusLength !== undefined && (modulusLength < 2048 || modulusLength > 8192)) return null;
    const entry = { key_id: kid as string | undefined, algorithm, key };
    return { key: entry, fingerprint: JSON.stringify([kid, algorithm, x, y, n, e]) };
  } catch {
    // One malformed key must not affect the others.
    return null;
  }
}

function algorithmOf(jwk: Record<string, unknown>): Algorithm | null {
  const algorithm =
    jwk.kty === 'RSA'
      ? 'RS256'
      : jwk.kty === 'EC' && jwk.crv === 'P-256'
        ? 'ES256'
        : jwk.crv === 'Ed25519'
          ? 'EdDSA'
          : null;
  if (algorithm === 'EdDSA' && jwk.kty !== 'OKP') return null;
  if (jwk.d !== undefined || jwk.k !== undefined) return null;
  if (jwk.alg !== undefined && jwk.alg !== algorithm) return null;
  if (jwk.use !== undefined && jwk.use !== 'sig') return null;
  if (jwk.key_ops !== undefined && !(Array.isArray(jwk.key_ops) && jwk.key_ops.includes('verify'))) return null;
  if (jwk.kid !== undefined && typeof jwk.kid !== 'string') return null;
  return algorithm;
}

/** Returns the message with its causes: fetch only says "fetch failed", the reason is in its cause. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : `${error.message}: ${describe(error.cause)}`;
}
