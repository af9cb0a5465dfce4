import type { Act } from './run-pairs.ts';
import type { Stage } from './stage.ts';

const workspace = ({ owner }: Stage, rest: string) => `/v1/workspaces/${owner.workspace_id}${rest}`;
const member = (s: Stage, name: string, rest = '') => workspace(s, `/members/${s.ids[name]}${rest}`);

/** Writes of members, invitations, keys, sessions and settings of the workspace. */
export const PEOPLE_ACTS: Record<string, Act> = {
  'make a member admin': (s) => s.owner.patch(member(s, 'member'), { role: 'admin' }),
  'make a member viewer': (s) => s.people.coOwner.patch(member(s, 'member'), { role: 'viewer' }),
  'demote the owner': (s) => s.people.coOwner.patch(member(s, 'owner'), { role: 'member' }),
  'demote the other owner': (s) => s.owner.patch(member(s, 'coOwner'), { role: 'member' }),
  'deactivate a member': (s) => s.owner.post(member(s, 'member', '/deactivate')),
  'deactivate an owner': (s) => s.owner.post(member(s, 'coOwner', '/deactivate')),
  'reactivate a member': (s) => s.owner.post(member(s, 'inactive', '/reactivate')),
  'remove a member': (s) => s.owner.send('DELETE', member(s, 'member')),
  'remove an owner': (s) => s.people.coOwner.send('DELETE', member(s, 'owner')),
  leave: (s) => s.people.member.send('DELETE', member(s, 'member')),
  'remove the admin': (s) => s.owner.send('DELETE', member(s, 'admin')),
  'hand the workspace over': (s) => s.owner.post(workspace(s, '/transfer-ownership'), { membership_id: s.ids.admin }),
  invite: (s) => s.owner.post(workspace(s, '/members/invite'), { email: 'new@example.com', role: 'member' }),
  'invite the same': (s) =>
    s.people.admin.post(workspace(s, '/members/invite'), { email: 'new@example.com', role: 'viewer' }),
  'invite another': (s) =>
    s.people.admin.post(workspace(s, '/members/invite'), { email: 'other@example.com', role: 'viewer' }),
  'resend an invitation': (s) => s.people.admin.post(workspace(s, `/invitations/${s.ids.invitation}/resend`)),
  'revoke an invitation': (s) => s.owner.post(workspace(s, `/invitations/${s.ids.invitation}/revoke`)),
  'accept an invitation': (s) => s.people.guest.post('/v1/invitations/accept', { token: s.secrets.invitation }),
  'accept it as one’s own': (s) => s.people.guest.post(`/v1/me/invitations/${s.ids.invitation}/accept`),
  'begin on one’s own': (s) => s.people.guest.post('/v1/onboarding'),
  'create a key': (s) => s.people.admin.post(workspace(s, '/api-keys'), { name: 'Another' }),
  'revoke a key': (s) => s.owner.send('DELETE', workspace(s, `/api-keys/${s.ids.key}`)),
  'revoke it, too': (s) => s.people.admin.send('DELETE', workspace(s, `/api-keys/${s.ids.key}`)),
  'create a personal key': (s) => s.people.member.post('/v1/me/api-keys', { name: 'Mine' }),
  'refresh a session': (s) => s.world.anonymous.post('/v1/auth/refresh', { refresh_token: s.secrets.refresh }),
  'refresh it, too': (s) => s.world.anonymous.post('/v1/auth/refresh', { refresh_token: s.secrets.refresh }),
  'sign out everywhere': (s) => s.people.memberSession.post('/v1/auth/sign-out-everywhere'),
  'sign out': (s) => s.people.memberSession.post('/v1/auth/sign-out'),
  'end a session': (s) => s.people.memberSession.send('DELETE', `/v1/me/sessions/${s.ids.session}`),
  'set a password': (s) =>
    s.people.memberSession.send('PUT', '/v1/me/password', {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ new_password: 'a long new password 1' }),
    }),
  'remove the password': (s) => s.people.memberSession.send('DELETE', '/v1/me/password'),
  'change the preferences': (s) => s.people.member.patch('/v1/me/preferences', { language: 'fr' }),
  'delete the picture': (s) => s.people.member.send('DELETE', '/v1/me/avatar'),
  'change a name': (s) => s.people.member.patch('/v1/me', { display_name: 'Another Name' }),
  'delete the account': (s) => s.people.memberSession.post('/v1/me/deletion', { email: s.secrets.memberEmail }),
  'hold everything': (s) => s.owner.post(workspace(s, '/legal-hold'), { reason: 'A case.' }),
  'hold it, too': (s) => s.people.coOwner.post(workspace(s, '/legal-hold'), { reason: 'Another case.' }),
  'lift the hold': (s) => s.owner.post(workspace(s, '/legal-hold/lift'), { reason: 'Settled.' }),
  'change the retention': (s) => s.owner.patch(workspace(s, '/retention'), { trash_days: 60 }),
  'change it, too': (s) => s.people.coOwner.patch(workspace(s, '/retention'), { revision_days: 60 }),
  'rename the workspace': (s) => s.owner.patch(workspace(s, ''), { name: 'Renamed', slug: 'renamed' }),
  'rename it, too': (s) => s.people.admin.patch(workspace(s, ''), { slug: 'renamed-too' }),
  'delete the workspace': (s) =>
    s.people.ownerSession.post(workspace(s, '/deletion'), { name: s.secrets.workspaceName }),
  'ask for another address': (s) => s.people.memberSession.post('/v1/me/email-change', { email: 'moved@example.com' }),
  'create a wiki': (s) => s.people.member.post(workspace(s, '/wikis'), { title: 'Third' }),
  'create it, too': (s) => s.owner.post(workspace(s, '/wikis'), { title: 'Third' }),
  'create a workspace': (s) => s.people.member.post('/v1/workspaces', { name: 'Own' }),
};
