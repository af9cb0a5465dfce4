import type { RequestContext } from '../db/request-context.ts';
import type { Access } from './access-rule.ts';
import { type Credential, claimsOf, kindOf } from './credential-kinds.ts';

/** Objects visible to a request in addition to its path and the caller's memberships. */
interface ExtraContext {
  invitation: Buffer | undefined;
  /** Id of the workspace that the request may create. */
  new_workspace_id: string | undefined;
}

/**
 * Returns the context of a request: its caller and the objects in its path. A caller without a credential sees only the
 * invitation whose secret the request contains; without such a secret, the service itself looks up the caller.
 */
export function requestContext(
  access: Access,
  credential: Credential,
  params: Record<string, string>,
  extra: ExtraContext,
): RequestContext {
  const isByLink = credential.kind === 'none' && extra.invitation !== undefined;
  const who: RequestContext = isByLink ? { who: 'link' } : kindOf(credential).context(credential);
  return { ...who, ...extra, path: requestPath(access, credential, params) };
}

/** Returns the object in the path of a request; a widget token contains its workspace. */
export function requestPath(
  access: Access,
  credential: Credential,
  params: Record<string, string>,
): RequestContext['path'] {
  switch (access.on) {
    case 'anyone':
    case 'caller':
      return undefined;
    case 'workspace':
      return { workspace_id: params[access.param] ?? '' };
    case 'wiki':
      return { wiki_id: params.wiki_id ?? '' };
    case 'widget': {
      const claims = claimsOf(credential);
      return claims && { workspace_id: claims.workspace_id };
    }
  }
}
