import { decodeJwt } from 'jose';
import * as openid from 'openid-client';
import { databaseTime } from '../../core/clock.ts';
import { isTrustworthy } from '../../core/trustworthy-url.ts';
import type { Identity } from './access-token.ts';
import { type ClaimProblem, identityFromClaims, LEEWAY_SECONDS } from './access-token.ts';
import { isRecord, readAtMost } from './fetch-json.ts';
import { groupsOf } from './group-claim.ts';
import { checkIssuer, IdentityUnavailable } from './identity.ts';
import { tracedFetch } from './traced-fetch.ts';

/** The data of a sign-in between `begin` and `complete`. `verifier` is secret; the authorization URL has `state` and `nonce` too. */
export interface OpenIdAttempt {
  state: string;
  nonce: string;
  verifier: string;
}

/** Why the issuer's response signs no user in. `facts` are for the log and contain no secrets. */
export interface IssuerRefusal {
  refused: 'issuer_refused' | 'code_refused' | 'clock' | 'answer_invalid';
  facts: Record<string, unknown>;
}

/**
 * Signs in at an OpenID Connect issuer with an authorization code and PKCE. Both halves throw IdentityUnavailable if
 * the issuer does not respond.
 */
export interface OpenIdSignIn {
  begin(): Promise<{ authorization_url: string; attempt: OpenIdAttempt }>;
  /** `callback`: the query parameters of the issuer's redirect back to this service. */
  complete(callback: URLSearchParams, attempt: OpenIdAttempt): Promise<SignedInAtIssuer | IssuerRefusal>;
  /**
   * Returns the URL where a browser ends its session at the issuer of this ID token (OpenID Connect RP-Initiated Logout
   * 1.0). Returns undefined if sign-out there is disabled, if the issuer has no such URL or does not respond, or if the
   * token was issued by another issuer or for another client.
   */
  endSessionUrl(id_token: string): Promise<string | undefined>;
}

interface SignedInAtIssuer {
  identity: Identity;
  /** For `endSessionUrl`; undefined if it is too long for a URL. */
  id_token: string | undefined;
  /** Undefined if groups are disabled or the issuer does not send them. */
  groups: string[] | undefined;
}

interface OpenIdSignInOptions {
  issuer: string;
  client_id: string;
  /** '' for a public client. */
  client_secret: string;
  redirect_uri: string;
  /** Where the issuer redirects the browser after signing out there. If undefined, its session stays open. */
  signed_out_uri: string | undefined;
  /** The claim that lists the groups of a user. If undefined, groups are disabled. */
  groups_claim: string | undefined;
  log: (message: string, details?: object) => void;
}

const ANSWER_SECONDS = 10;
/** In characters. Servers refuse URLs longer than 8 KiB. */
const ID_TOKEN_LENGTH_MAX = 6_000;
/** How long the issuer's metadata and keys are cached; a withdrawn key is accepted for this time at most. */
const DESCRIPTION_MS = 60_000;

/** Opens sign-in at an issuer; fetches nothing before the first sign-in. Throws an Error if the options are invalid. */
export function openOpenIdSignIn(options: OpenIdSignInOptions): OpenIdSignIn {
  const { issuer, client_id, client_secret, redirect_uri, signed_out_uri, groups_claim, log } = options;
  checkIssuer(issuer);
  let known: { config: Promise<openid.Configuration>; until: number } | undefined;

  function configuration(): Promise<openid.Configuration> {
    if (known && known.until > Date.now()) return known.config;
    const config = openid.discovery(new URL(issuer), client_id, METADATA, authenticationBy(client_secret), {
      timeout: ANSWER_SECONDS,
      [openid.customFetch]: fetchBounded,
      // checkIssuer accepts plain http only for loopback addresses.
      execute: issuer.startsWith('http:')
        ? [openid.allowInsecureRequests, openid.enableNonRepudiationChecks]
        : [openid.enableNonRepudiationChecks],
    });
    const asked = { config, until: Date.now() + DESCRIPTION_MS };
    known = asked;
    // Current callers get the error; the next sign-in fetches again.
    config.catch(() => {
      if (known === asked) known = undefined;
    });
    return config;
  }

  async function identityOf(
    callback: URLSearchParams,
    attempt: OpenIdAttempt,
  ): Promise<SignedInAtIssuer | IssuerRefusal> {
    const config = await configuration();
    const tokens = await openid.authorizationCodeGrant(config, new URL(`${redirect_uri}?${callback}`), {
      expectedState: attempt.state,
      expectedNonce: attempt.nonce,
      pkceCodeVerifier: attempt.verifier,
      idTokenExpected: true,
    });
    const claims = tokens.claims();
    if (!claims) return { refused: 'answer_invalid', facts: { claim: 'id_token' } };
    // Many issuers put the profile into the ID token; others return it only from the userinfo endpoint.
    const isComplete =
      claims.email !== undefined && (groups_claim === undefined || groupsOf(claims, groups_claim) !== undefined);
    const asks = !isComplete && config.serverMetadata().userinfo_endpoint !== undefined;
    const more: Partial<openid.UserInfoResponse> = asks
      ? await openid.fetchUserInfo(config, tokens.access_token, claims.sub)
      : {};
    // Take `email_verified` from the document that contains the address.
    const isInUserinfo = asks && claims.email === undefined;
    const { email, email_verified } = isInUserinfo ? more : claims;
    const read = identityFromClaims({ ...more, ...claims, email, email_verified }, Math.floor(databaseTime() / 1000));
    if ('problem' in read) return refusalOf(read.problem);
    const doubt = whyUnverified(read.identity, email, email_verified);
    if (doubt) log(doubt.message, { ...doubt.facts, issuer, from: isInUserinfo ? 'userinfo' : 'id_token' });
    const groups = groups_claim === undefined ? undefined : groupsOf({ ...more, ...claims }, groups_claim);
    if (groups_claim !== undefined && groups === undefined) {
      const is_elsewhere = '_claim_names' in claims;
      const missing = { issuer, subject: read.identity.subject, claim: groups_claim, is_elsewhere };
      log('the issuer names no groups for a user who signs in, so their roles stay unchanged', missing);
    }
    const id_token = signed_out_uri === undefined ? '' : (tokens.id_token ?? '');
    if (id_token.length <= ID_TOKEN_LENGTH_MAX) return { ...read, groups, id_token: id_token || undefined };
    const facts = { issuer, subject: read.identity.subject, length: id_token.length };
    log('the ID token of a user is too long to be used for signing out at the issuer', facts);
    return { ...read, groups, id_token: undefined };
  }

  return {
    async begin() {
      const config = await configuration().catch((cause: unknown) => {
        throw new IdentityUnavailable('the issuer is unavailable', { cause });
      });
      const verifier = openid.randomPKCECodeVerifier();
      const attempt = { state: openid.randomState(), nonce: openid.randomNonce(), verifier };
      const url = openid.buildAuthorizationUrl(config, {
        redirect_uri,
        scope: scopeOf(config, groups_claim),
        state: attempt.state,
        nonce: attempt.nonce,
        code_challenge: await openid.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      });
      return { authorization_url: url.href, attempt };
    },
    async complete(callback, attempt) {
      try {
        return await identityOf(callback, attempt);
      } catch (cause) {
        if (!isRefusal(cause)) throw new IdentityUnavailable('the issuer is unavailable', { cause });
        return refusalOfError(cause);
      }
    },
    async endSessionUrl(id_token) {
      if (signed_out_uri === undefined) return undefined;
      try {
        return endSessionAddress(await configuration(), id_token, signed_out_uri);
      } catch (cause) {
        log('the issuer is not responding, so its session stays open', { issuer, error: String(cause) });
        return undefined;
      }
    },
  };
}

/**
 * Returns undefined if the issuer has no trustworthy endpoint, or the token was issued by another issuer or for another
 * client.
 */
function endSessionAddress(
  config: openid.Configuration,
  id_token_hint: string,
  post_logout_redirect_uri: string,
): string | undefined {
  const { issuer, end_session_endpoint } = config.serverMetadata();
  const url = URL.parse(end_session_endpoint ?? '');
  const { iss, aud } = decodeJwt(id_token_hint);
  const isOurs = iss === issuer && [aud].flat().includes(config.clientMetadata().client_id);
  if (!isOurs || !url || !isTrustworthy(url)) return undefined;
  return openid.buildEndSessionUrl(config, { id_token_hint, post_logout_redirect_uri }).href;
}

/**
 * Explains for the log why a user has no verified address and thus finds no invitation. Returns undefined if the
 * address is verified.
 */
function whyUnverified(identity: Identity, email: unknown, email_verified: unknown) {
  const { subject } = identity;
  if (identity.email === '') {
    const reason = email === undefined ? 'openid_no_address' : 'openid_address_invalid';
    return { message: 'the issuer names no e-mail address of a user who signs in', facts: { reason, subject } };
  }
  if (identity.email_verified) return undefined;
  const claim = email_verified === undefined ? 'missing' : JSON.stringify(email_verified).slice(0, 40);
  const facts = { reason: 'openid_address_unverified', subject, email: identity.email, email_verified: claim };
  return { message: 'the issuer does not say that the address of a user who signs in is verified', facts };
}

/**
 * Requests the scope `groups` only if the issuer lists it: some issuers require it for groups, others refuse unknown
 * scopes.
 */
function scopeOf(config: openid.Configuration, groups_claim: string | undefined): string {
  const hasGroups = config.serverMetadata().scopes_supported?.includes('groups');
  return `openid email profile${groups_claim !== undefined && hasGroups ? ' groups' : ''}`;
}

const METADATA = { [openid.clockTolerance]: LEEWAY_SECONDS };

/** Authenticates with the method that the issuer supports: in a header (the default of the protocol) or in the body. */
function authenticationBy(secret: string): openid.ClientAuth {
  if (secret === '') return openid.None();
  const [basic, post] = [openid.ClientSecretBasic(secret), openid.ClientSecretPost(secret)];
  return (server, ...rest) => {
    const { token_endpoint_auth_methods_supported: supported } = server;
    const takesHeader = !supported || supported.includes('client_secret_basic');
    return (takesHeader ? basic : post)(server, ...rest);
  };
}

/**
 * Returns whether a user, or an attacker, can cause this error. All other errors are between the issuer and this
 * service.
 */
function isRefusal(error: unknown): boolean {
  if (error instanceof openid.AuthorizationResponseError) return true;
  if (error instanceof openid.ResponseBodyError) return error.error === 'invalid_grant' && error.status < 500;
  const code = error instanceof openid.ClientError ? error.code : undefined;
  return code !== undefined && REFUSALS.has(code);
}

function refusalOf({ claim, seconds_ahead }: ClaimProblem): IssuerRefusal {
  if (seconds_ahead === undefined) return { refused: 'answer_invalid', facts: { claim } };
  return { refused: 'clock', facts: { claim, seconds_ahead, tolerated: LEEWAY_SECONDS } };
}

/** Converts an error of `openid-client`, whose messages contain neither code nor token. */
function refusalOfError(error: unknown): IssuerRefusal {
  if (error instanceof openid.AuthorizationResponseError) {
    const code = /^[\w.-]{1,64}$/.test(error.error) ? error.error : 'error';
    const description = error.error_description?.slice(0, 300);
    return { refused: 'issuer_refused', facts: { error: code, description } };
  }
  if (error instanceof openid.ResponseBodyError) {
    return { refused: 'code_refused', facts: { error: error.error, description: error.error_description } };
  }
  const seconds = secondsAhead(error);
  if (seconds !== undefined) return refusalOf({ claim: 'iat', seconds_ahead: seconds });
  const { cause } = error as Error;
  return {
    refused: 'answer_invalid',
    facts: { error: String(error), detail: cause instanceof Error && cause.message },
  };
}

/**
 * Returns how many seconds the issuer's clock is ahead (negative if it is slow), if a fresh token is outside its
 * validity period because of the clock.
 */
function secondsAhead(error: unknown): number | undefined {
  if (!(error instanceof openid.ClientError) || error.code !== 'OAUTH_JWT_TIMESTAMP_CHECK_FAILED') return undefined;
  const detail = error.cause instanceof Error ? error.cause.cause : undefined;
  if (!isRecord(detail) || !isRecord(detail.claims) || typeof detail.now !== 'number') return undefined;
  const { iat } = detail.claims;
  const seconds = typeof iat === 'number' ? Math.round(iat - detail.now) : 0;
  return Math.abs(seconds) > LEEWAY_SECONDS ? seconds : undefined;
}

/** Codes of `openid-client` for invalid ID tokens and callbacks. */
const REFUSALS = new Set([
  'OAUTH_INVALID_RESPONSE',
  'OAUTH_JWT_CLAIM_COMPARISON_FAILED',
  'OAUTH_JWT_TIMESTAMP_CHECK_FAILED',
  'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED',
  'OAUTH_KEY_SELECTION_FAILED',
  // The ID token is encrypted, has critical extensions, or is signed with an algorithm without public keys (HS256).
  'OAUTH_UNSUPPORTED_OPERATION',
]);

const fetchBounded: openid.CustomFetch = async (url, options) => {
  const response = await tracedFetch(url, options as RequestInit);
  const bytes = await readAtMost(response, url);
  const { status, statusText, headers } = response;
  // The body is already decoded.
  const kept = [...headers].filter(([name]) => name !== 'content-encoding' && name !== 'content-length');
  return new Response(bytes.length > 0 ? bytes : null, { status, statusText, headers: kept as [string, string][] });
};
