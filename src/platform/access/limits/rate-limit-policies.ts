import type { Access } from '../access-rule.ts';
import type { Rate } from './rate-limit-buckets.ts';

/**
 * `general` counts every request, `search` and `uploads` some of them in addition; all three by credential, by its user
 * and by the workspace that it is used at, which have a multiple of the credential's quota. A request
 * without a credential, or with a refused one, is counted by address: under `auth` at endpoints that need no
 * credential, else under `general`. `invitations` counts messages by workspace, in the endpoints that send them
 * (src/organization/invitations).
 */
export type RequestPolicy = 'general' | 'search' | 'uploads';
export type Policy = RequestPolicy | 'auth' | 'invitations';
export interface Rates extends Record<Policy, Rate> {
  /** How many times the quota of a credential its user has, and a workspace. */
  user_factor: number;
  workspace_factor: number;
  /** Messages with invitations that a user sends, to all addresses and to one of them. */
  user_invitations: Rate;
  address_invitations: Rate;
  /** The same of a workspace without a paid plan, as long as it is not older than the window. */
  new_workspace_invitations: Rate;
  /** The same of all users together. */
  service_invitations: Rate;
  /** Workspaces that a user creates. */
  workspaces: Rate;
}

/** The fields of an endpoint that decide which limits apply. */
export interface RateLimited {
  access: Access;
  /**
   * A rate limit in addition to the general one. Where no credential is needed, `files` has none, for what pages show, and
   * `callback` counts apart, for what follows a request that was counted.
   */
  limit?: 'search' | 'uploads' | 'invitations' | 'files' | 'callback';
  /**
   * How many requests a success gives back to the `auth` limit of the address: the request itself where that counts it, and the
   * earlier one that it completes. So a guess uses up the limit of those behind the same address, and a sign-in does not.
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

/** The policies that apply to a request of this endpoint. */
export function policiesOf(endpoint: RateLimited): readonly Policy[] {
  if (isAnonymous(endpoint) && endpoint.limit !== 'files' && endpoint.limit !== 'callback') return AUTH;
  return endpoint.limit ? POLICIES_OF_LIMIT[endpoint.limit] : GENERAL;
}

/** Whether the endpoint is called without a credential, mostly to sign in. */
export function isAnonymous({ access }: Pick<RateLimited, 'access'>): boolean {
  return access.on === 'anyone';
}

/**
 * Whether requests with a credential count by it. Invitations are counted where the message is sent, because not every
 * request sends one.
 */
export function countsRequests(policy: Policy): policy is RequestPolicy {
  return policy !== 'invitations' && policy !== 'auth';
}

/** The rates of a user or a workspace, who have a multiple of a credential's quota. */
export function multiplied(rates: Rates, factor: number): Record<RequestPolicy, Rate> {
  const times = ({ quota, windowSeconds }: Rate) => ({ quota: quota * factor, windowSeconds });
  return { general: times(rates.general), search: times(rates.search), uploads: times(rates.uploads) };
}
