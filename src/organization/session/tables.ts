import { sql } from '../../platform/db/sql.ts';
import { defineTable, personList } from '../../platform/tables/define-table.ts';

const NO_LIST = 'profile.json has what may be shown of it';

export const sessionTables = [
  defineTable({
    name: 'users',
    of: 'user',
    rows: 'few',
    policy: 'special',
    id: 'user_id',
    prefix: 'user',
    audit: ['user'],
    person: { exported: NO_LIST, erased: 'erase_account' },
  }),
  defineTable({ name: 'identities', of: 'user', rows: 'few', person: { exported: NO_LIST, erased: 'cascade' } }),
  defineTable({
    name: 'passwords',
    of: 'user',
    rows: 'few',
    id: 'user_id',
    audit: ['password'],
    person: { exported: NO_LIST, erased: 'cascade' },
  }),
  defineTable({
    name: 'password_guesses',
    of: 'service',
    rows: 'few',
    policy: 'special',
    person: { exported: 'It counts attempts of others.', erased: 'erase_account' },
  }),
  defineTable({
    name: 'email_changes',
    of: 'user',
    rows: 'few',
    person: { exported: 'account_events.jsonl has the finished ones.', erased: 'cascade' },
  }),
  defineTable({
    name: 'email_links',
    of: 'service',
    rows: 'few',
    id: 'email',
    prefix: 'link',
    audit: ['sign_in_link'],
    person: { exported: 'It holds secrets of one sign-in.', erased: 'erase_account' },
  }),
  defineTable({
    name: 'sign_in_links',
    of: 'service',
    rows: 'few',
    person: { exported: 'It holds secrets of one sign-in.', erased: 'erase_account' },
  }),
  defineTable({ name: 'welcome_links', of: 'service', rows: 'few' }),
  defineTable({ name: 'openid_attempts', of: 'service', rows: 'few' }),
  defineTable({
    name: 'sessions',
    of: 'user',
    rows: 'few',
    id: 'session_id',
    prefix: 'ses',
    audit: ['session'],
    person: {
      exported: [
        personList(
          'sessions.jsonl',
          'session_id',
          [''],
          500,
          ([id]) => sql`
            select s.session_id, s.created_at, s.last_used_at, s.expires_at, s.revoked_at, s.address, s.user_agent, s.in_browser
            from access a join sessions s on s.user_id = a.user_id where s.session_id > ${id}::text order by s.session_id limit 500`,
        ),
      ],
      erased: 'cascade',
    },
  }),
  defineTable({
    name: 'refresh_tokens',
    of: 'user',
    rows: 'few',
    person: { exported: 'sessions.jsonl has its session.', erased: 'cascade' },
  }),
];
