import type { Access } from '../access-rule.ts';
import type { Rate } from './rate-limit-buckets.ts';

/**
 * `general` counts every request; `search` and `uploads` count some of them in addition. All three count by credential,
 * by its user and by the workspace where it is used; user and workspace have a multiple of the credential's quota. A
 * request without a credential, or with a refused one, is counted by address: under `auth` at endpoints without
 * authentication, else under `general`. `invitations` counts messages by workspace, in the endpoints that send them
 * (src/organization/invitations).
 */
export type RequestPolicy = 'general' | 'search' | 'uploads';
export type Policy = RequestPolicy | 'auth' | 'invitations';
export interface Rates extends Record<Policy, Rate> {
  /** Quota of a user and of a workspace, as multiples of a credential's quota. */
  user_factor: number;
  workspace_factor: number;
  /** Invitation messages per user: to all addresses, and to one address. */
  user_invitations: Rate;
  address_invitations: Rate;
  /** Invitation messages of a workspace without a paid plan that is younger than the window. */
  new_workspace_invitations: Rate;
  service_invitations: Rate;
  workspaces: Rate;
}

/** The fields of an endpoint that decide which limits apply. */
export interface RateLimited {
  access: Access;
  /**
   * A rate limit in addition to the general one. At endpoints without authentication, `files` (content embedded in
   * pages) has no `auth` limit, and `callback` (the completion of a request already counted) has its own count.
   */
  limit?: 'search' | 'uploads' | 'invitations' | 'files' | 'callback';
  /**
   * Number of requests that a success returns to the `auth` limit of the address: the request itself if it was counted,
   * and the earlier one that it completes. So guesses use up the limit of everyone who shares the address, and
   * successful sign-ins do not.
   */
  givesBack?: 1 | 2;
}

export const GENERAL: readonly RequestPolicy[] = ['general'];
const AUTH: readonly Policy[] = ['auth'];
const POLICIES_OF_LIMIT = {
  search: ['general', 'search'],
  uploads: ['general', 'uploads'],
  invitations: ['general', 'invitations'],
  files: ['general'],
  callback: ['general'],
} as const satisfies Record<string, readonly Policy[]>;

/** Returns the policies for requests of this endpoint. */
export function policiesOf(endpoint: RateLimited): readonly Policy[] {
  if (isAnonymous(endpoint) && endpoint.limit !== 'files' && endpoint.limit !== 'callback') return AUTH;
  return endpoint.limit ? POLICIES_OF_LIMIT[endpoint.limit] : GENERAL;
}

/** Returns whether the endpoint needs no credential; most such endpoints sign in. */
export function isAnonymous({ access }: Pick<RateLimited, 'access'>): boolean {
  return access.on === 'anyone';
}

/**
 * Returns whether requests with a credential count by it. Invitations are counted when the message is sent, because not
 * every request sends one.
 */
export function countsRequests(policy: Policy): policy is RequestPolicy {
  return policy !== 'invitations' && policy !== 'auth';
}

/** Returns the rates of a user or a workspace, a multiple of a credential's quota. */
export function multiplied(rates: Rates, factor: number): Record<RequestPolicy, Rate> {
  const times = ({ quota, windowSeconds }: Rate) => ({ quota: quota * factor, windowSeconds });
  return { general: times(rates.general), search: times(rates.search), uploads: times(rates.uploads) };
}
