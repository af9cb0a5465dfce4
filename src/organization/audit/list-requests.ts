import { type Static, Type } from 'typebox';
import { onWorkspace } from '../../platform/access/access-rule.ts';
import { Paging } from '../../platform/core/paging.ts';
import { Id, InputText, Record, Text, Timestamp } from '../../platform/core/records.ts';
import { raw, sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { REQUEST_LOG_PATH } from '../../platform/http/request-log/request-log.ts';

const LoggedRequest = Record(
  {
    request_id: Type.String({ description: 'X-Request-Id of the response.' }),
    method: Type.String(),
    path: Type.String({
      description: 'IDs and numbers are kept. Other parameters are replaced by their names, and the query is omitted.',
    }),
    status: Type.Integer({ description: 'Status of the response.' }),
    error: Type.String({ default: '', description: 'Error code of the response; "" if it was no error.' }),
    duration_ms: Type.Integer({ description: 'From the first byte of the request to the last byte of the response.' }),
    credential_kind: Type.String({
      description: "key, session (an access token), or identity (an issuer's token).",
    }),
    credential_id: Text,
    created_at: Timestamp,
  },
  { title: 'LoggedRequest' },
);
type LoggedRequest = Static<typeof LoggedRequest>;

export const listRequests = endpoint({
  method: 'GET',
  path: REQUEST_LOG_PATH,
  summary: 'List the last calls',
  description:
    'Recent calls by programs in the workspace, with keys and access tokens, newest first. A call appears a few seconds after its response. Calls by browsers and widgets, and calls answered with 401, are not recorded.',
  access: onWorkspace('developers:manage'),
  params: Type.Object({ workspace_id: Id }),
  query: Type.Object({
    credential_id: Type.Optional(InputText({ description: 'Only calls with this credential, such as a key.' })),
    ...Paging.properties,
  }),
  paging: { keys: { 'r.call_id': 'text' }, isDescending: () => true },
  reply: Type.Array(LoggedRequest),
  example: {
    reply: [
      {
        request_id: 'req_01jd8w3v6xf3e8h2k9m4n5p6w1',
        method: 'GET',
        path: '/v1/wikis/wiki_01jd8w3v6xf3e8h2k9m4n5p6q9/pages',
        status: 200,
        error: '',
        duration_ms: 12,
        credential_kind: 'key',
        credential_id: 'key_01jd8w3v6xf3e8h2k9m4n5p6r3',
        created_at: '2026-11-21T05:29:32.104Z',
      },
    ],
  },
  run: async ({ params, query: { credential_id }, paging, many }) =>
    many<LoggedRequest>(sql`
      select r.call_id, r.request_id, r.method, r.path, r.status, r.error, r.duration_ms, r.credential_kind, r.credential_id,
        r.created_at
      from request_log r
      where r.workspace_id = ${params.workspace_id}
        ${credential_id === undefined ? raw('') : sql`and r.credential_id = ${credential_id}`}
      ${paging.clause}
    `),
});
