import type { FastifyRequest } from 'fastify';
import type { Access } from './access-rule.ts';
import type { Credential } from './credential.ts';
import type { CredentialOwner, FindOwner } from './credential-owner.ts';
import type { KnownCredential } from './known-credentials.ts';
import { countsRequests, type Policy } from './limits/rate-limit-policies.ts';
import type { RateLimitSubjects } from './limits/rate-limit-subjects.ts';

/** The subjects by which a request was counted on arrival. */
export interface CountedRequest {
  access: Access;
  credential: Credential;
  policies: readonly Policy[];
  /** The workspace or wiki in the path. */
  place: string | undefined;
  /** Owner of the credential, if known on arrival. */
  owner: CredentialOwner;
}

/**
 * Remembers user and workspace of an accepted credential, and counts the request by the subjects unknown on arrival. So
 * only the first request of a credential, and the first to a place, is counted after its answer.
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
    // Callers without access to a workspace do not use up its quota.
    if (place !== undefined && status === 403) entry.setWorkspace(place, undefined);
    const isPlaceNew = place !== undefined && owner.workspace_id === undefined && status < 400;
    if (owner.user_id === undefined || isPlaceNew) count(entry, counted, request).catch(onFailed);
  };
}
