import type { Access } from '../../access/access-rule.ts';

/** Describes an access rule in words, for openapi.json and /docs. */
export function describeAccess(access: Access): string {
  switch (access.on) {
    case 'anyone':
      return 'Needs no credential.';
    case 'caller':
      if (access.session) return 'Needs the access token of a session.';
      return access.unrestricted
        ? 'Needs a credential that is limited neither to a workspace nor to a list of permissions.'
        : 'Needs any credential.';
    case 'workspace':
      return access.permission === ''
        ? 'Needs an active membership.'
        : `Needs \`${access.permission}\` in the workspace${access.orOwnMembership ? ", or the membership must be the caller's own" : ''}${access.session ? ', and the access token of a session' : ''}.`;
    case 'wiki':
      return `Needs \`${access.permission}\` in the wiki's workspace${access.orCreator ? ', or to have created the wiki' : ''}${access.unlimited ? ', and a credential that is not limited to a list of permissions' : ''}.`;
    case 'widget':
      return access.instead
        ? `Needs a widget token for \`${access.widget}\` that names the origin of the page. Its user and the credential that created it must meet this rule: ${describeAccess(access.instead)}`
        : `Needs a widget token for \`${access.widget}\`.`;
  }
}
