import { cleanName } from '@ibid/markdown/clean-name.ts';

/** The accepted signature algorithms. A key is bound to one algorithm, so a token cannot choose another for it. */
const ALGORITHMS = ['ES256', 'EdDSA', 'RS256'] as const;
export type Algorithm = (typeof ALGORITHMS)[number];

/** Tolerated clock difference between the issuer and this service. */
export const LEEWAY_SECONDS = 30;

/** Content of a token that has not been verified yet. */
export interface TokenParts {
  algorithm: Algorithm;
  key_id: string | undefined;
  claims: Record<string, unknown>;
}

const COMPACT = /^([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)$/;
/**
 * RFC 9068 names access tokens at+jwt; most issuers still send JWT or nothing. RFC 7515 allows omitting "application/".
 */
const ACCEPTED_TYPE = /^(?:application\/)?(?:at\+)?jwt$/i;
/** Critical extensions, unencoded payloads, and keys chosen by the sender. */
const REFUSED_HEADERS = ['crit', 'b64', 'jwk', 'jku', 'x5u', 'x5c'];
/** The end of the year 9999; later times fit neither a Date nor the database. */
const LATEST_SECONDS = 253_402_300_799;

/** Parses a token in JWS compact form without verifying it. Returns null if it cannot be a valid token. */
export function readToken(token: string): TokenParts | null {
  const parts = COMPACT.exec(token)?.slice(1);
  if (!parts?.every(isCanonical)) return null;
  const header = readJsonObject(parts[0] ?? '');
  const claims = readJsonObject(parts[1] ?? '');
  if (!header || !claims) return null;

  const { alg, kid, typ } = header;
  const algorithm = ALGORITHMS.find((accepted) => accepted === alg);
  if (!algorithm) return null;
  if (kid !== undefined && typeof kid !== 'string') return null;
  if (typ !== undefined && (typeof typ !== 'string' || !ACCEPTED_TYPE.test(typ))) return null;
  if (REFUSED_HEADERS.some((name) => Object.hasOwn(header, name))) return null;
  return { algorithm, key_id: kid, claims };
}

/**
 * The claim that prevents an identity; with the seconds by which the issuer's clock is ahead, if the clock is the
 * reason.
 */
export interface ClaimProblem {
  claim: string;
  seconds_ahead?: number;
}

/**
 * Returns the identity in the claims, or the problem with iss, exp, iat or sub. The caller has verified signature,
 * issuer, audience, exp and nbf. Invalid parts of the profile are omitted.
 */
export function identityFromClaims(
  claims: Record<string, unknown>,
  nowSeconds: number,
): { identity: Identity } | { problem: ClaimProblem } {
  const { iss, sub, exp, iat } = claims;
  if (typeof iss !== 'string') return { problem: { claim: 'iss' } };
  if (typeof exp !== 'number' || exp > LATEST_SECONDS) return { problem: { claim: 'exp' } };
  if (iat !== undefined && typeof iat !== 'number') return { problem: { claim: 'iat' } };
  if (iat !== undefined && iat > nowSeconds + LEEWAY_SECONDS) {
    return { problem: { claim: 'iat', seconds_ahead: Math.round(iat - nowSeconds) } };
  }
  if (typeof sub !== 'string' || sub === '' || sub.length > 255 || UNPRINTABLE.test(sub)) {
    return { problem: { claim: 'sub' } };
  }

  const email = emailClaim(claims.email);
  const identity: Identity = {
    issuer: iss,
    subject: sub,
    email,
    // Several issuers write custom claims as strings.
    email_verified: email !== '' && (claims.email_verified === true || claims.email_verified === 'true'),
    display_name: nameClaim(claims.name),
    avatar_url: pictureClaim(claims.picture),
    expires_at: exp,
  };
  return { identity: Object.freeze(identity) };
}

/** Control characters and halves of surrogate pairs. */
const UNPRINTABLE = /[\p{Cc}\p{Cs}]/u;
const INVALID_IN_ADDRESSES = /[\p{Cc}\p{Cf}\p{Cs}\p{Z}]/u;

/**
 * Addresses with invalid characters are dropped instead of cleaned: a cleaned address could belong to another person.
 */
function emailClaim(value: unknown): string {
  if (typeof value !== 'string' || value.length > 254 || INVALID_IN_ADDRESSES.test(value)) return '';
  if (!/^[^@]+@[^@]+$/.test(value)) return '';
  // ASCII only: full case folding would merge addresses of different people (CVE-2019-19844).
  return value.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}

function nameClaim(value: unknown): string {
  if (typeof value !== 'string') return '';
  const name = cleanName(value.slice(0, 1_000)).slice(0, 255);
  return name.replace(/\p{Cs}$/u, '').trim();
}

function pictureClaim(value: unknown): string {
  if (typeof value !== 'string' || value.length > 2048 || UNPRINTABLE.test(value)) return '';
  const url = URL.parse(value);
  if (url?.protocol !== 'https:' || url.username || url.password || url.href.length > 2048) return '';
  return url.href;
}

/** Base64url has several encodings of the same bytes; only the canonical one is accepted. */
function isCanonical(part: string): boolean {
  return Buffer.from(part, 'base64url').toString('base64url') === part;
}

function readJsonObject(part: string): Record<string, unknown> | null {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(part, 'base64url'));
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
    return repeatsName(text) ? null : (value as Record<string, unknown>);
  } catch {
    // Neither UTF-8 nor JSON.
    return null;
  }
}

/**
 * Returns whether an object in valid JSON text has a duplicate name; parsers differ in which of the values they use.
 */
function repeatsName(text: string): boolean {
  const open: Set<string>[] = [];
  for (const [, string, colon, bracket] of text.matchAll(/("(?:[^"\\]|\\.)*")\s*(:)?|([{}])/g)) {
    if (bracket === '{') open.push(new Set());
    if (bracket === '}') open.pop();
    if (!string || !colon) continue;
    const name: string = JSON.parse(string);
    const names = open.at(-1);
    if (names?.has(name)) return true;
    names?.add(name);
  }
  return false;
}

/** The identity of a verified access token. (issuer, subject) identifies a user; the rest is profile, '' if unknown. */
export interface Identity {
  issuer: string;
  subject: string;
  /** ASCII letters are lower case. */
  email: string;
  /** True only if the issuer sends true, or the string "true". */
  email_verified: boolean;
  display_name: string;
  /** An https URL. */
  avatar_url: string;
  /** Seconds since the epoch. */
  expires_at: number;
}
