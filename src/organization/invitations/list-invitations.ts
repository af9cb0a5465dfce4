import { Type } from 'typebox';
import { onWorkspace } from '../../platform/access/access-rule.ts';
import { contains, PeopleQuery } from '../../platform/access/people.ts';
import { PAGING } from '../../platform/core/paging.ts';
import { Id } from '../../platform/core/records.ts';
import { raw, sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { exampleInvitation, INVITATION_STATES, invitationColumns, ListedInvitation, presentState } from './schema.ts';

export const listInvitations = endpoint({
  method: 'GET',
  path: '/v1/workspaces/:workspace_id/invitations',
  summary: 'List invitations',
  access: onWorkspace('members:manage'),
  params: Type.Object({ workspace_id: Id }),
  query: Type.Object({
    state: Type.Optional(Type.Enum([...INVITATION_STATES], { description: 'Only invitations in this state.' })),
    query: PeopleQuery,
    ...PAGING,
  }),
  paging: { keys: { 'i.invitation_id': 'text' } },
  reply: Type.Array(ListedInvitation),
  example: { reply: [{ ...exampleInvitation, mail_status: 'queued' }] },
  run: ({ params, query, paging, many }) =>
    many(sql`
      select ${invitationColumns}, i.mail_status from invitations i
      where i.workspace_id = ${params.workspace_id}
        ${query.state === undefined ? raw('') : sql`and ${presentState} = ${query.state}`}
        ${query.query === undefined ? raw('') : sql`and ${contains(sql`i.email`, query.query)}`}
      ${paging.clause}
    `),
});
