import { Type } from 'typebox';
import { signedIn } from '../../platform/access/access-rule.ts';
import { Paging } from '../../platform/core/paging.ts';
import { sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { exampleSession, Session, sessionColumns } from './schema.ts';

export const listSessions = endpoint({
  method: 'GET',
  path: '/v1/me/sessions',
  summary: 'List sessions',
  description: 'Where the caller is signed in; `current` is the session of this request. Ended sessions are omitted.',
  access: signedIn({ session: true }),
  query: Paging,
  paging: { keys: { 's.session_id': 'text' } },
  reply: Type.Array(Session),
  example: { reply: [exampleSession] },
  run: ({ paging, many }) =>
    many<Session>(sql`
      select ${sessionColumns} from sessions s
      where s.user_id = (select user_id from access) and s.revoked_at is null and s.expires_at > now()
        and (s.access_expires_at > now() or exists (
          select from refresh_tokens r where r.session_id = s.session_id and r.used_at is null and r.expires_at > now()))
      ${paging.clause}
    `),
});
