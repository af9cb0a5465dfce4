import type { FastifyRequest } from 'fastify';
import type { Access } from './access-rule.ts';
import type { Credential } from './credential.ts';
import type { CredentialOwner, FindOwner } from './credential-owner.ts';
import type { KnownCredential } from './known-credentials.ts';
import { countsRequests, type Policy } from './limits/rate-limit-policies.ts';
import type { RateLimitSubjects } from './limits/rate-limit-subjects.ts';

/** What a request was counted by when it came. */
export interface CountedRequest {
  access: Access;
  credential: Credential;
  policies: readonly Policy[];
  /** The workspace or wiki that the path names. */
  place: string | undefined;
  /** As far as it was known when the request came. */
  owner: CredentialOwner;
}

/**
 * Remembers the user and the workspace of a credential that was accepted, and counts the request by those that were not
 * known when it came, so that only the first request of a credential, and the first at a place, is counted after its answer.
 */
export function ownerCounter(subjects: RateLimitSubjects, findOwner: FindOwner, onFailed: (error: unknown) => void) {
  async function count(entry: KnownCredential, counted: CountedRequest, request: FastifyRequest): Promise<void> {
    const { access, credential, policies, place, owner } = counted;
    const params = request.params as Record<string, string>;
    const isKnown = entry.user_id !== undefined && (place === undefined || entry.workspaceAt(place) !== undefined);
    const found = isKnown
      ? { user_id: entry.user_id, workspace_id: entry.workspaceAt(place) }
      : await entry.shareLookup(place, () => findOwner(access, credential, params));
    entry.user_id = found.user_id;
    if (place !== undefined) entry.setWorkspace(place, found.workspace_id);
    const uncounted = {
      user_id: owner.user_id === undefined ? found.user_id : undefined,
      workspace_id: owner.workspace_id === undefined ? found.workspace_id : undefined,
    };
    for (const policy of policies.filter(countsRequests)) {
      for (const bucket of subjects.owner(policy, uncounted)) await bucket.take();
    }
  }

  return (entry: KnownCredential, counted: CountedRequest, request: FastifyRequest, status: number): void => {
    const { place, owner } = counted;
    // Callers who may not use a workspace, or not any more, do not use up its quota.
    if (place !== undefined && status === 403) entry.setWorkspace(place, undefined);
    const isPlaceNew = place !== undefined && owner.workspace_id === undefined && status < 400;
    if (owner.user_id === undefined || isPlaceNew) count(entry, counted, request).catch(onFailed);
  };
}
