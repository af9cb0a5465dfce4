import crypto from 'node:crypto';
import { StartError } from '@ibid/postgres-server/start-error.ts';
import type { Logger } from 'pino';
import { loadPlans } from '../../organization/billing/plans.ts';
import { CALLBACK_PATH, SIGNED_OUT_PATH } from '../../organization/session/openid.ts';
import { isOfDomains } from '../../platform/core/sign-in/mail-domains.ts';
import { type IdentityProvider, openIdentityProvider } from '../../platform/providers/identity/identity.ts';
import { type OpenIdSignIn, openOpenIdSignIn } from '../../platform/providers/identity/openid-sign-in.ts';
import type { Plan } from '../../platform/providers/payments/payments.ts';
import type { Config } from '../config.ts';
import { orStartError, publicUrlOf } from './from-config.ts';

export interface ExternalConfig {
  plans: readonly Plan[];
  /** Accepts an issuer's access tokens. */
  identities: IdentityProvider | undefined;
  /** Signs users in through an issuer. */
  openid: OpenIdSignIn | undefined;
}

/** Checks options that may be invalid before anything is started. Throws StartError. */
export function readExternalConfig(config: Config, log: Logger): ExternalConfig {
  const plans = orStartError(() => loadPlans(config.PLANS_FILE));
  const identities = orStartError(() => openIdentities(config, log));
  const openid = orStartError(() => openSignIn(config, log));
  refuseOldNode(config);
  return { plans, identities, openid };
}

function openIdentities(config: Config, log: Logger): IdentityProvider | undefined {
  const { OIDC_ISSUER: issuer, OIDC_AUDIENCE: audience, SIGN_IN_DOMAINS: domains } = config;
  if (!issuer || !audience) return undefined;
  const provider = openIdentityProvider({
    issuer,
    audience,
    log: (message, details) => log.warn(details ?? {}, message),
  });
  if (domains.length === 0) return provider;
  return {
    async verify(token) {
      const identity = await provider.verify(token);
      if (!identity || (identity.email_verified && isOfDomains(identity.email, domains))) return identity;
      const { subject, email, email_verified } = identity;
      log.warn(
        { subject, email, email_verified, domains },
        'an access token has no verified address in SIGN_IN_DOMAINS',
      );
      return null;
    },
  };
}

function openSignIn(config: Config, log: Logger): OpenIdSignIn | undefined {
  const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: client_id, OIDC_CLIENT_SECRET: client_secret } = config;
  if (!issuer || !client_id) return undefined;
  const redirect_uri = publicUrlOf(config) + CALLBACK_PATH;
  // The audience of an ID token is the client id. If access tokens have the same audience, a stored ID token would be
  // accepted as an access token.
  const mayStoreIdTokens = config.OIDC_AUDIENCE !== client_id;
  const signsOutThere = config.OIDC_SIGN_OUT === 'on' && mayStoreIdTokens;
  const signed_out_uri = signsOutThere ? publicUrlOf(config) + SIGNED_OUT_PATH : undefined;
  const groups_claim = config.OIDC_ROLES.length > 0 ? config.OIDC_GROUPS_CLAIM : undefined;
  const warn = (message: string, details?: object) => log.warn(details ?? {}, message);
  return openOpenIdSignIn({ issuer, client_id, client_secret, redirect_uri, signed_out_uri, groups_claim, log: warn });
}

function refuseOldNode({ PASSWORD_SIGN_IN }: Config): void {
  if (PASSWORD_SIGN_IN !== 'on' || typeof crypto.argon2 === 'function') return;
  throw new StartError('PASSWORD_SIGN_IN needs Node.js 24.7 or newer: update Node.js, or set PASSWORD_SIGN_IN to off.');
}
