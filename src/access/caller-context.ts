import type { RequestContext } from '../db/request-context.ts';
import type { Access } from './access-rule.ts';
import type { Credential } from './credential.ts';

/** What a request opens beyond its path and the caller's memberships. */
interface Opened {
  /** The hash of an invitation's secret. */
  invitation: Buffer | undefined;
  /** The id of the workspace that the request may make. */
  new_workspace_id: string | undefined;
}

/** The scope of a credential alone, which opens what its user has without a path. */
export function callerContext(credential: Credential): RequestContext {
  switch (credential.kind) {
    case 'none':
      return { who: 'service' };
    case 'key':
      return { who: 'key', hash: credential.hash };
    case 'session':
      return { who: 'session', hash: credential.hash };
    case 'identity':
      return { who: 'identity', issuer: credential.identity.issuer, subject: credential.identity.subject };
    case 'widget':
      return { who: 'widget', user_id: credential.claims.user_id, workspace_id: credential.claims.workspace_id };
  }
}

/**
 * The scope of a request: who asks, and what its path names. Who asks without a credential sees what the secret of an
 * invitation opens and nothing else; without such a secret it is the service itself that asks who this may be.
 */
export function requestContext(
  access: Access,
  credential: Credential,
  params: Record<string, string>,
  opened: Opened,
): RequestContext {
  const isByLink = credential.kind === 'none' && opened.invitation !== undefined;
  const who: RequestContext = isByLink ? { who: 'link' } : callerContext(credential);
  return { ...who, ...opened, path: requestPath(access, credential, params) };
}

/** What the path of a request names; a widget's token names its workspace itself. */
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
    case 'widget':
      return credential.kind === 'widget' ? { workspace_id: credential.claims.workspace_id } : undefined;
  }
}
