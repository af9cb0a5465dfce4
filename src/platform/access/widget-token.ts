import { hash, randomBytes, randomUUID } from 'node:crypto';
import { jwtVerify, SignJWT } from 'jose';
import { databaseTime } from '../core/clock.ts';
import type { Query } from '../db/db.ts';
import { sql } from '../db/sql.ts';
import { WIDGETS, type Widget } from './roles.ts';

/** Claims of a widget token: ids, without email or name. */
export interface WidgetClaims {
  user_id: string;
  workspace_id: string;
  widget: Widget;
  /** The key or session that requested the token; the token ends with it. null for an issuer's access token. */
  issued_by: string | null;
  /** The only origin whose pages may use the token; null for a token without an origin, which is read-only. */
  origin: string | null;
  /** Time of signing, in seconds since 1970. */
  issued_at: number;
  /** Whether `origin` is this service's own origin, which no workspace has to allow. */
  isOwnOrigin: boolean;
}

type SignedClaims = Omit<WidgetClaims, 'issued_at' | 'isOwnOrigin'>;

export interface WidgetTokens {
  sign(claims: SignedClaims): Promise<string>;
  /** Returns null for anything except an unexpired widget token of this service. */
  verify(token: string): Promise<WidgetClaims | null>;
}

/**
 * A token without an origin is read-only and valid for an hour; a token that can act is valid for minutes. Both end
 * earlier with the membership, or with the key or session that requested them.
 */
const SHOWING_SECONDS = 3_600;
const ACTING_SECONDS = 600;

const AUDIENCE = 'widget';
const TYPE = 'widget+jwt';
const CACHE_MAX = 10_000;

/** Returns whether the `typ` header claims a widget token of this service, without verifying anything. */
export function looksLikeWidgetToken(token: string): boolean {
  const dot = token.indexOf('.');
  if (dot < 0 || dot > 512) return false;
  return Buffer.from(token.slice(0, dot), 'base64url').includes(`"${TYPE}"`);
}

/**
 * Opens the signer and verifier. The signing key is in the database, so every process accepts the tokens of the others.
 */
export async function openWidgetTokens(query: Query, publicUrl: string): Promise<WidgetTokens> {
  await query(sql`
    insert into signing_keys (kid, secret) select 'widget-1', ${randomBytes(32)}
    where not exists (select from signing_keys) on conflict do nothing`);
  const keys = await query<{ kid: string; secret: Buffer }>(
    sql`select kid, secret from signing_keys order by created_at`,
  );
  const newest = keys.at(-1);
  if (!newest) throw new Error('there is no signing key for widget tokens');
  const ownOrigin = new URL(publicUrl).origin;
  const verified = new Map<string, { claims: WidgetClaims; expires: number }>();

  return {
    sign: (claims) =>
      new SignJWT({
        org: claims.workspace_id,
        widget: claims.widget,
        ...(claims.issued_by && { key: claims.issued_by }),
        ...(claims.origin !== null && { origin: claims.origin }),
      })
        .setProtectedHeader({ alg: 'HS256', typ: TYPE, kid: newest.kid })
        .setSubject(claims.user_id)
        .setAudience(AUDIENCE)
        .setJti(randomUUID())
        .setIssuedAt(new Date(databaseTime()))
        .setExpirationTime(
          new Date(databaseTime() + 1_000 * (claims.origin === null ? SHOWING_SECONDS : ACTING_SECONDS)),
        )
        .sign(newest.secret),
    async verify(token) {
      const digest = hash('sha256', token, 'base64');
      const known = verified.get(digest);
      if (known) {
        if (known.expires > databaseTime()) return known.claims;
        verified.delete(digest);
        return null;
      }
      const good = isCanonical(token) ? await verifyWithKeys(token, keys, ownOrigin) : null;
      if (!good) return null;
      if (verified.size >= CACHE_MAX) verified.clear();
      verified.set(digest, good);
      return good.claims;
    },
  };
}

/**
 * Returns whether each part is canonically encoded: decoding ignores the unused bits of the last base64url character.
 */
function isCanonical(token: string): boolean {
  return token.split('.').every((part) => Buffer.from(part, 'base64url').toString('base64url') === part);
}

async function verifyWithKeys(token: string, keys: { kid: string; secret: Buffer }[], ownOrigin: string) {
  try {
    const { payload } = await jwtVerify(
      token,
      (header) => keys.find((key) => key.kid === header.kid)?.secret ?? Buffer.alloc(32),
      {
        algorithms: ['HS256'],
        audience: AUDIENCE,
        typ: TYPE,
        currentDate: new Date(databaseTime()),
        requiredClaims: ['sub', 'exp', 'iat', 'org', 'widget'],
      },
    );
    const claims = claimsOf(payload, ownOrigin);
    return claims && { claims, expires: (payload.exp ?? 0) * 1000 };
  } catch {
    // All invalid tokens are refused alike.
    return null;
  }
}

function claimsOf(payload: Record<string, unknown>, ownOrigin: string): WidgetClaims | null {
  const { sub, org, widget, key, iat, origin: site } = payload;
  if (
    typeof iat !== 'number' ||
    typeof sub !== 'string' ||
    typeof org !== 'string' ||
    typeof widget !== 'string' ||
    !Object.hasOwn(WIDGETS, widget)
  )
    return null;
  const issued_by = typeof key === 'string' ? key : null;
  const origin = typeof site === 'string' ? site : null;
  return {
    user_id: sub,
    workspace_id: org,
    widget: widget as Widget,
    issued_by,
    issued_at: iat,
    origin,
    isOwnOrigin: origin === ownOrigin,
  };
}
