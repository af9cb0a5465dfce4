import type { RequestContext } from '../db/request-context.ts';
import type { Access } from './access-rule.ts';
import { type Credential, claimsOf, kindOf } from './credential-kinds.ts';

/** What a request can see beyond its path and the caller's memberships. */
interface ExtraContext {
  /** The hash of an invitation's secret. */
  invitation: Buffer | undefined;
  /** The id of the workspace that the request may create. */
  new_workspace_id: string | undefined;
}

/**
 * The context of a request: its caller and what its path names. A caller without a credential sees only what the secret
 * of an invitation opens; without such a secret, the service itself looks up the caller.
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

/** The object that the path of a request names; a widget token names its workspace itself. */
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
