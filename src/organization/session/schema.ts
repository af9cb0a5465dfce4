import { type Static, Type } from 'typebox';
import { Flag, Id, Record, Timestamp } from '../../platform/core/records.ts';
import { type Sql, sql } from '../../platform/db/sql.ts';

export const ACCESS_SECONDS = 900;
/** Maximum length of a session. */
export const SESSION_DAYS = 90;

export const Tokens = Record(
  {
    access_token: Type.String({ description: 'Send as Authorization: Bearer <access_token>.' }),
    token_type: Type.String({ description: 'Bearer.' }),
    expires_in: Type.Integer({ description: 'Seconds until the access token expires.' }),
    refresh_token: Type.String({ description: 'Valid for one refresh; reusing it ends the session.' }),
    session_id: Id,
  },
  { title: 'Tokens' },
);
export type Tokens = Static<typeof Tokens>;

export const Session = Record(
  {
    session_id: Id,
    created_at: Timestamp,
    last_used_at: Timestamp,
    expires_at: Timestamp,
    address: Type.String({ description: 'Network address of its last refresh.' }),
    user_agent: Type.String(),
    current: Flag,
  },
  { title: 'Session' },
);
export type Session = Static<typeof Session>;

/** A pending change of the caller's address. */
export const EmailChange = Record(
  {
    email: Type.String({ description: 'The new address.' }),
    old_confirmed: Flag,
    new_confirmed: Flag,
    expires_at: Timestamp,
  },
  { title: 'EmailChange' },
);
export type EmailChange = Static<typeof EmailChange>;

/** Columns of Session, from a session `s`; `current` compares it with the guard's `access`. */
export const sessionColumns: Sql = sql`
  s.session_id, s.created_at, s.last_used_at, s.expires_at, s.address, s.user_agent,
  s.session_id = (select credential_id from access) as current`;

/** Columns in audit records of a session `s`, before and after a write. */
export const sessionAuditColumns: Sql = sql`
  s.session_id, s.user_id, case when s.revoked_at is null then 'active' else 'revoked' end as state, s.created_at,
  s.last_used_at, s.access_expires_at, s.expires_at, s.revoked_at, s.in_browser, s.address, s.user_agent`;

export const exampleTokens: Tokens = {
  access_token: 'ibid_at_5uVq…',
  token_type: 'Bearer',
  expires_in: ACCESS_SECONDS,
  refresh_token: 'ibid_rt_Zk3w…',
  session_id: 'ses_01jd8w3v6xf3e8h2k9m4n5p6t1',
};

export const exampleSession: Session = {
  session_id: exampleTokens.session_id,
  created_at: '2026-11-21T05:29:32.104Z',
  last_used_at: '2026-11-21T06:00:00.000Z',
  expires_at: '2027-02-19T05:29:32.104Z',
  address: '192.0.2.7',
  user_agent: 'Mozilla/5.0',
  current: true,
};
