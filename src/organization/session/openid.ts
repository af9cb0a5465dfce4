import { refusal } from '../../platform/access/before-sign-in.ts';
import { ApiError } from '../../platform/core/errors.ts';
import type { Services } from '../../platform/http/services.ts';
import { IdentityUnavailable } from '../../platform/providers/identity/identity.ts';
import type { OpenIdSignIn } from '../../platform/providers/identity/openid-sign-in.ts';

/** Purpose for sealing attempts. */
export const ATTEMPT = 'ibid openid attempt';

export const CALLBACK_PATH = '/sign-in/callback';
/** The issuer redirects the browser here after ending its own session. */
export const SIGNED_OUT_PATH = '/sign-out';

/** Throws 403 if no issuer is configured. */
export function issuerOf({ signIn }: Services): OpenIdSignIn {
  if (signIn.openid) return signIn.openid;
  throw refusal('openid_off');
}

/** Throws 503 `identity_unavailable`. */
export async function askIssuer<T>(asked: Promise<T>): Promise<T> {
  try {
    return await asked;
  } catch (cause) {
    if (!(cause instanceof IdentityUnavailable)) throw cause;
    throw new ApiError('identity_unavailable', 'The identity provider is not responding. Try again in a moment.', {
      cause,
    });
  }
}
