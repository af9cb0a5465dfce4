-- works with: 175_packed_revisions.sql
-- An address of an account is changed when a link that was sent to the old one and a link that was sent to the new one were both opened.
create table email_changes (
  user_id          text collate "C" primary key references users on delete cascade,
  change_id        text collate "C" not null unique,
  old_email        text collate "C" not null,
  new_email        text collate "C" not null,
  old_hash         bytea unique,
  new_hash         bytea unique,
  session_id       text collate "C" not null,
  old_confirmed_at timestamptz,
  new_confirmed_at timestamptz,
  created_at       timestamptz not null default now(),
  expires_at       timestamptz not null
);
comment on table email_changes is 'The newest request of a user to change their address. old_hash and new_hash: of the secrets in the two links; null before the mail was sent, and once the link was opened. session_id: the session that asked, which goes on when the address changes.';
create index email_changes_by_end on email_changes (expires_at);
grant select, insert, update, delete on email_changes to ibid_service;
alter table email_changes enable row level security;
create policy self on email_changes using (user_id = (select own_user()) or (select is_service()));

create function change_email(person text, address text, kept_session text) returns text language plpgsql security definer as $$
declare
  was text;
begin
  if not (coalesce(is_service(), false) or coalesce(person = own_user(), false)) then return 'foreign'; end if;
  select u.email into was from users u where u.user_id = person for update;
  if not found or exists (select from identities i where i.user_id = person and i.issuer <> 'ibid') then return 'foreign'; end if;
  if exists (select from users u where u.email = address and u.email_verified and u.user_id <> person) then return 'taken'; end if;
  begin
    -- The primary key lets one of several accounts have the address.
    update identities i set subject = address where i.user_id = person and i.issuer = 'ibid';
    if not found then return 'foreign'; end if;
  exception when unique_violation then
    return 'taken';
  end;
  update users u set email = address, email_verified = true where u.user_id = person;
  update sessions s set revoked_at = now()
  where s.user_id = person and s.session_id is distinct from kept_session and s.revoked_at is null and s.expires_at > now();
  -- A link that signed in to the account until now would make another one.
  update email_links l set token_hash = null where l.email in (was, address) and l.token_hash is not null;
  delete from email_changes c where c.user_id = person;
  return 'changed';
end $$;
comment on function change_email is 'Changes the address by which a person signs in, and ends their sessions but one. The caller has proof that the address is theirs. taken: another account has it; foreign: the address comes from another service.';

do $$ begin
  execute format('alter function change_email set search_path = %I, pg_temp', current_schema());
end $$;
