-- The schema that the migrations come to, to be read and compared. `npm run accept` rewrites it. Its sections and their tables:
--   The caller of a transaction
--   Users and how they sign in: users, identities, passwords, password_guesses, email_changes, email_links, sign_in_links, welcome_links, openid_attempts, sessions, refresh_tokens, signing_keys
--   Workspaces and their members: workspaces, workspace_slugs, workspace_controls, memberships, invitations, api_keys
--   Billing: billing_customers, subscriptions, payment_events, plan_limits
--   Workspace usage: workspace_usage
--   Wikis: wikis
--   Jobs: jobs, background_jobs, schedules, workers
--   Audit: audit_events
--   Pages: pages, page_texts, revisions, page_bases, page_paths, page_links, page_tags, templates, starred_pages, autosaves
--   Files: blobs, attachments
--   Uploads and sources: uploads, upload_files, upload_parts, sources, source_texts, page_sources, compiled_files
--   Search: search_wikis, search_documents, search_pending, search_segments, search_blocks, search_words, search_vocabulary, saved_searches
--   Exports and imports: exports, imports, staged_imports, import_pages, import_revisions, import_attachments, imported_people
--   Operation: migrations, service_controls, idempotency_keys, limit_counts, request_log, backup_status, wal_archive, wal_timelines, page_acls, page_grants, subject_bits

-- ---- The caller of a transaction ----

-- Returns the text in lower case, in every script. lower() of a column, whose collation is "C", only changes ASCII letters.
create function folded(t text) returns text language sql immutable parallel safe strict as $$
  select lower(t collate "default") collate "C"
$$;

-- True for statements of the service itself, which no tenant requested: the queue, sign-in.
create function is_service() returns boolean language sql stable parallel safe as $$
  select current_setting('ibid.service', true) = 'on'
$$;

-- For 403 and 404: whether the wiki exists, even if the caller cannot see it.
create function knows_wiki(id text) returns boolean language sql stable security definer set search_path to 'public', 'pg_temp' as $$
  select exists (
    select from wikis k join workspaces w on w.workspace_id = k.workspace_id where k.wiki_id = id and w.deleted_at is null)
$$;

-- For 403 and 404: whether the workspace exists, even if the caller cannot see it.
create function knows_workspace(id text) returns boolean language sql stable security definer set search_path to 'public', 'pg_temp' as $$
  select exists (select from workspaces w where w.workspace_id = id and w.deleted_at is null)
$$;

-- Value of jobs.run_after for jobs of a deleted workspace or wiki.
create function never() returns timestamp with time zone language sql immutable as $$
  select timestamptz '2999-01-01 00:00:00Z'
$$;

-- User of the current credential; '' for none.
create function own_user() returns text language sql stable parallel safe as $$
  select current_setting('ibid.user', true)
$$;

-- Wiki of the path, if its workspace is visible to the caller; '' otherwise.
create function own_wiki() returns text language sql stable parallel safe as $$
  select current_setting('ibid.wiki', true)
$$;

-- Workspaces visible to the caller: with a path only its workspace, if the caller is an active member; without a path all workspaces of the caller.
create function own_workspaces() returns text[] language sql stable parallel safe as $$
  select string_to_array(current_setting('ibid.workspaces', true), ' ')
$$;

-- Fails the statement with SQLSTATE IB<status>, which rolls back a refused write.
create function refuse(status integer) returns integer language plpgsql as $$
begin
  raise exception 'refused' using errcode = 'IB' || status;
end $$;

-- Formats a timestamp like the API, for records that are aggregated to JSON.
create function rfc3339(t timestamp with time zone) returns text language sql immutable parallel safe as $$
  select to_char(t at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
$$;

-- Sets caller and target for this transaction. It checks the credential and the memberships itself and does not rely on the guard. name: of a job, the user for whom it acts, who decides which pages it sees. invitation: hash of a link's secret, which makes the invitation's workspace visible; new_workspace: id of a workspace about to be created.
create function set_request_context(who text, hash bytea, name text, second_name text, path_workspace text, path_wiki text, invitation bytea, new_workspace text) returns void language plpgsql security definer set search_path to 'public', 'pg_temp' as $$
declare
  me text := '';
  bound text;
  granted text[];
  role text := '';
  highest int := 0;
  reads bit varying := '';
  writes bit varying := '';
  wiki text := '';
  workspaces text[] := '{}';
begin
  case who
    when 'key' then
      select k.user_id, k.workspace_id, k.permissions into me, bound, granted from api_keys k
      where k.secret_hash = hash and k.revoked_at is null and (k.expires_at is null or k.expires_at > now());
    when 'session' then
      select s.user_id into me from sessions s
      where s.access_hash = hash and s.access_expires_at > now() and s.expires_at > now() and s.revoked_at is null;
    when 'link' then
      null;
    when 'identity' then
      select i.user_id into me from identities i where i.issuer = name and i.subject = second_name;
    when 'widget' then
      me := name;
      bound := second_name;
    when 'job' then
      if path_wiki is not null then
        select k.wiki_id, array[k.workspace_id], case when name is null then 0 else k.acls end into wiki, workspaces, highest
        from wikis k where k.wiki_id = path_wiki;
      else
        workspaces := array[path_workspace];
      end if;
    when 'service' then
      perform set_config('ibid.service', 'on', true);
  end case;
  if path_wiki is not null and who <> 'job' then
    select k.wiki_id, array[m.workspace_id], m.role, k.acls into wiki, workspaces, role, highest
    from wikis k join memberships m on m.workspace_id = k.workspace_id and m.user_id = me and m.status = 'active'
    where k.wiki_id = path_wiki and (bound is null or bound = k.workspace_id);
  elsif path_workspace is not null and who <> 'job' then
    workspaces := array(
      select m.workspace_id from memberships m
      where m.user_id = me and m.workspace_id = path_workspace and m.status = 'active'
        and (bound is null or bound = m.workspace_id));
  elsif who <> 'job' then
    workspaces := array(
      select m.workspace_id from memberships m
      where m.user_id = me and m.status = 'active' and (bound is null or bound = m.workspace_id));
    if invitation is not null then
      workspaces := workspaces || array(select i.workspace_id from invitations i where i.secret_hash = invitation or i.copied_hash = invitation);
    end if;
    if new_workspace is not null and not exists (select from workspaces w where w.workspace_id = new_workspace) then
      workspaces := workspaces || new_workspace;
    end if;
  end if;
  if highest > 0 then
    select b.reads, b.writes into reads, writes from bits_of(wiki, case when who = 'job' then name else me end) b;
  end if;
  perform set_config('ibid.user', coalesce(me, ''), true), set_config('ibid.wiki', coalesce(wiki, ''), true),
    set_config('ibid.workspaces', coalesce(array_to_string(workspaces, ' '), ''), true),
    set_config('ibid.drafts', case
      when who = 'job' and wiki <> '' then 'on'
      when role in ('owner', 'admin', 'developer', 'member') and (granted is null or 'pages:write' = any (granted)) then 'on'
      else '' end, true),
    set_config('ibid.restricts', case when highest > 0 then 'on' else '' end, true),
    set_config('ibid.reads', coalesce(rtrim(reads::text, '0'), ''), true),
    set_config('ibid.writes', coalesce(rtrim(writes::text, '0'), ''), true);
end $$;

-- ---- Users and how they sign in ----

-- People. An email address is a claim of an issuer, not a key: two users may have the same one.
create table users (
  -- Id of the form user_…; identities maps sign-ins to it.
  user_id            text collate "C" not null,
  -- Address from the issuer's last claims, or confirmed here by the user; not unique.
  email              text collate "C" not null,
  -- Whether the issuer vouches for the address, or the user opened a link sent to it.
  email_verified     boolean not null default false,
  -- Name from the issuer, or set by the user; a user who signs up by mail starts with the local part of the address.
  display_name       text collate "C" not null,
  -- Picture that the identity provider names; '' for none. The user's own picture takes precedence.
  avatar_url         text collate "C" not null default ''::text,
  -- Workspace of the last request with a credential that is not bound to one workspace; null before the first. No foreign key, so the workspace may be gone.
  last_workspace_id  text collate "C",
  -- Start of the transaction that wrote the row.
  created_at         timestamp with time zone not null default now(),
  -- Language tag of a language supported by the widgets; '' to follow the page.
  language           text collate "C" not null default ''::text,
  -- Name from the IANA time zone database; '' to follow the browser.
  time_zone          text collate "C" not null default ''::text,
  -- Secret in the public address of the user's own picture; null without a picture. A different picture gets a new one.
  avatar_id          text collate "C",
  -- Blob of the user's own picture, stripped of metadata; null without one.
  avatar_sha256      text collate "C",
  -- Media type of the picture, detected from its bytes; null without one.
  avatar_type        text collate "C",
  -- Size of the stored picture in bytes; null without one.
  avatar_bytes       integer,
  primary key (user_id)
);
create index users_by_email on users using btree (email);
create index users_by_sha256 on users using btree (avatar_sha256) where (avatar_sha256 is not null);
create unique index users_by_avatar on users using btree (avatar_id) where (avatar_id is not null);
grant delete, insert, select, update on users to ibid_service;
alter table users enable row level security;
create policy self_and_colleagues on users for all
  using (((user_id = ( select own_user())) or ( select is_service()) or (exists ( select from ( select m_1.workspace_id from memberships m_1 where (m_1.user_id = users.user_id) offset 0) m where (m.workspace_id = any (( select own_workspaces())::text[])) offset 0))));

-- Sign-in identities (issuer, subject) of users. The issuer "ibid" is this service; its subject is the verified address.
create table identities (
  -- URL of the OpenID issuer, or "ibid" for users who sign in here by mail or password.
  issuer   text collate "C" not null,
  -- The "sub" claim of the issuer; the verified address where the issuer is "ibid".
  subject  text collate "C" not null,
  -- User that this identity signs in as; a user can have several identities.
  user_id  text collate "C" not null,
  primary key (issuer, subject),
  foreign key (user_id) references users(user_id) on delete cascade
);
create index identities_by_user on identities using btree (user_id);
grant delete, insert, select, update on identities to ibid_service;
alter table identities enable row level security;
create policy self on identities for all
  using (((user_id = ( select own_user())) or ( select is_service())));

-- Argon2id hashes as PHC strings, which contain their parameters.
create table passwords (
  -- User whom the password signs in.
  user_id     text collate "C" not null,
  -- Argon2id hash as a PHC string, including salt and parameters.
  phc         text collate "C" not null,
  -- Time when the current password was set.
  changed_at  timestamp with time zone not null default now(),
  primary key (user_id),
  foreign key (user_id) references users(user_id) on delete cascade
);
grant delete, insert, select, update on passwords to ibid_service;
alter table passwords enable row level security;
create policy self on passwords for all
  using (((user_id = ( select own_user())) or ( select is_service())));

-- Consecutive wrong passwords for an email address. A guess is counted before it is checked; a correct one deletes the rows. The row with the address * sums up all networks without a session of the user.
create table password_guesses (
  -- Address as entered; rows are written for addresses without an account too.
  email         text collate "C" not null,
  -- Network of the guesses (an IPv6 address counts as its /64), "device " and a hash for a known device, or * for all unknown networks together.
  address       text collate "C" not null,
  -- Guesses in a row; restarts at 1 an hour after locked_until.
  guesses       integer not null,
  -- Earliest time of the next guess. The wait starts at 15 seconds and doubles up to 15 minutes.
  locked_until  timestamp with time zone not null,
  primary key (email, address)
);
create index password_guesses_by_end on password_guesses using btree (locked_until);
grant delete, insert, select, update on password_guesses to ibid_service;
alter table password_guesses enable row level security;
create policy own_address on password_guesses for all
  using ((( select is_service()) or (email in ( select i.subject from identities i where (i.user_id = ( select own_user()))))));

-- The latest request of each user to change their address; both addresses have to confirm it.
create table email_changes (
  -- User who asked; a new request replaces the earlier one.
  user_id           text collate "C" not null,
  -- Id of this request, which the mail jobs carry so that they skip a replaced request.
  change_id         text collate "C" not null,
  -- Address when the change was requested; the first link goes there.
  old_email         text collate "C" not null,
  -- Requested address; the second link goes there.
  new_email         text collate "C" not null,
  -- SHA-256 of the secret in the link to the old address; null until the mail is sent and after the link was opened.
  old_hash          bytea,
  -- SHA-256 of the secret in the link to the new address; null until the mail is sent, after the link was opened, and if the address is taken.
  new_hash          bytea,
  -- Session of the request; no other session stays signed in after the change.
  session_id        text collate "C" not null,
  -- Time when the link to the old address was opened; null before.
  old_confirmed_at  timestamp with time zone,
  -- Time when the link to the new address was opened; null before. The address changes once both are set.
  new_confirmed_at  timestamp with time zone,
  -- Time of the request.
  created_at        timestamp with time zone not null default now(),
  -- End of both links, 24 hours after the request.
  expires_at        timestamp with time zone not null,
  primary key (user_id),
  unique (change_id),
  unique (new_hash),
  unique (old_hash),
  foreign key (user_id) references users(user_id) on delete cascade
);
create index email_changes_by_end on email_changes using btree (expires_at);
grant delete, insert, select, update on email_changes to ibid_service;
alter table email_changes enable row level security;
create policy self on email_changes for all
  using (((user_id = ( select own_user())) or ( select is_service())));

-- One row for each requested sign-in link, whatever the address, so that the response time reveals nothing.
create table email_links (
  -- Id of the form link_…; the mail job finds the request by it.
  link_id     text collate "C" not null,
  -- Normalized address that the link is for.
  email       text collate "C" not null,
  -- Network that the request came from; the mail says from how many networks links were requested.
  network     text collate "C" not null,
  -- SHA-256 of the secret in the link, replaced when the mail is sent; null if the address may not sign in, or once any link of the address was used.
  token_hash  bytea,
  -- Time of the request.
  created_at  timestamp with time zone not null default now(),
  -- End of the link, 15 minutes after the request, and again after the mail was sent. The row is kept for another hour.
  expires_at  timestamp with time zone not null,
  primary key (link_id),
  unique (token_hash)
);
create index email_links_by_email on email_links using btree (email, link_id);
create index email_links_by_end on email_links using btree (expires_at);
grant delete, insert, select, update on email_links to ibid_service;
alter table email_links enable row level security;
create policy of_the_service on email_links for all
  using (( select is_service()));

-- No longer used.
create table sign_in_links (
  -- Address that the link was for.
  email       text collate "C" not null,
  -- SHA-256 of the secret in the link.
  token_hash  bytea,
  -- End of the link.
  expires_at  timestamp with time zone not null,
  -- Times of the recent messages to the address.
  sent_at     timestamp with time zone[] not null,
  primary key (email),
  unique (token_hash)
);
create index sign_in_links_by_end on sign_in_links using btree (expires_at);
grant delete, insert, select, update on sign_in_links to ibid_service;
alter table sign_in_links enable row level security;
create policy of_the_service on sign_in_links for all
  using (( select is_service()));

-- Links logged at the start of the service while there is no user. Creating the first user invalidates them.
create table welcome_links (
  -- SHA-256 of the secret in the link. All processes derive the same secret from the signing key.
  token_hash  bytea not null,
  -- Last start that printed the link; the link is valid for 30 days from then.
  created_at  timestamp with time zone not null default now(),
  primary key (token_hash)
);
grant delete, insert, select, update on welcome_links to ibid_service;
alter table welcome_links enable row level security;
create policy of_the_service on welcome_links for all
  using (( select is_service()));

-- Sign-ins in progress at the OpenID provider.
create table openid_attempts (
  -- SHA-256 of the secret that the client keeps until it comes back.
  attempt_hash  bytea not null,
  -- State, nonce and PKCE verifier, encrypted with that secret.
  sealed        bytea not null,
  -- End of the attempt, 10 minutes after it began.
  expires_at    timestamp with time zone not null,
  primary key (attempt_hash)
);
create index openid_attempts_by_end on openid_attempts using btree (expires_at);
grant delete, insert, select, update on openid_attempts to ibid_service;
alter table openid_attempts enable row level security;
create policy of_the_service on openid_attempts for all
  using (( select is_service()));

-- Sign-ins at this service. Only the SHA-256 of the current access token is stored; each refresh replaces it.
create table sessions (
  -- Id of the form ses_…; credential_id in audit records.
  session_id         text collate "C" not null,
  -- User who signed in.
  user_id            text collate "C" not null,
  -- SHA-256 of the current access token, or of the secret in the cookie if in_browser.
  access_hash        bytea not null,
  -- End of the access token, 15 minutes after the refresh; for a browser 30 days after the last use.
  access_expires_at  timestamp with time zone not null,
  -- IP address of the sign-in or of the last refresh.
  address            text collate "C" not null,
  -- User-Agent header of the sign-in or of the last refresh.
  user_agent         text collate "C" not null,
  -- Time of the sign-in; changing the address requires a recent one.
  created_at         timestamp with time zone not null default now(),
  -- Time of the last request, at most a minute out of date.
  last_used_at       timestamp with time zone not null default now(),
  -- Final end, 90 days after the sign-in; no refresh moves it.
  expires_at         timestamp with time zone not null,
  -- Time of the sign-out, by the user, an operator, a changed password, or a reused refresh token; null before.
  revoked_at         timestamp with time zone,
  -- Whether a browser keeps the session in a cookie, so that each use extends access_expires_at.
  in_browser         boolean not null default false,
  -- Network of address (an IPv6 address counts as its /64), from which the user can request links and enter passwords even when strangers have used up the limits; '' in sessions from before the column existed.
  network            text collate "C" not null default ''::text,
  -- SHA-256 of a secret that the browser keeps beyond the session; null outside browsers. It grants nothing: guesses at the password that present it are counted for the device instead of its network.
  device_hash        bytea,
  -- ID token of the OpenID provider, needed to sign out there; null for other sign-ins and once the session is revoked.
  id_token           text collate "C",
  primary key (session_id),
  unique (access_hash),
  foreign key (user_id) references users(user_id) on delete cascade
);
create index sessions_by_end on sessions using btree (expires_at);
create index sessions_by_user on sessions using btree (user_id, session_id);
create trigger forget_id_token before update of revoked_at on sessions for each row when (((new.revoked_at is not null) and (new.id_token is not null))) execute function forget_id_token();
grant delete, insert, select, update on sessions to ibid_service;
alter table sessions enable row level security;
create policy self on sessions for all
  using (((user_id = ( select own_user())) or ( select is_service())));

-- Refresh tokens of sessions. Used ones stay until they expire, because a second use reveals a theft and ends the session.
create table refresh_tokens (
  -- SHA-256 of the token.
  token_hash  bytea not null,
  -- Session that the token renews; each session has one unused token.
  session_id  text collate "C" not null,
  -- User of the session, stored here too for the row-level policy.
  user_id     text collate "C" not null,
  -- Time of the sign-in or refresh that issued the token.
  created_at  timestamp with time zone not null default now(),
  -- End of the token, 30 days after it was issued.
  expires_at  timestamp with time zone not null,
  -- Time of the only permitted use; null for the current token.
  used_at     timestamp with time zone,
  primary key (token_hash),
  foreign key (session_id) references sessions(session_id) on delete cascade
);
create index refresh_tokens_by_end on refresh_tokens using btree (expires_at);
create index refresh_tokens_by_session on refresh_tokens using btree (session_id);
grant delete, insert, select, update on refresh_tokens to ibid_service;
alter table refresh_tokens enable row level security;
create policy self on refresh_tokens for all
  using (((user_id = ( select own_user())) or ( select is_service())));

-- Keys that sign widget tokens, shared by all processes. The first start writes one.
create table signing_keys (
  -- Key id in the header of a token.
  kid         text collate "C" not null,
  -- 32 random bytes, the HMAC-SHA-256 key. The welcome link is derived from the oldest.
  secret      bytea not null,
  -- Start of the transaction that wrote the row; the newest key signs, all of them verify.
  created_at  timestamp with time zone not null default now(),
  primary key (kid)
);
grant insert, select on signing_keys to ibid_service;
alter table signing_keys enable row level security;
create policy of_the_service on signing_keys for all
  using (( select is_service()));

-- Locks and returns the workspaces that the caller is or was a member of (for former ones without name and membership_id), with the facts that decide whether the account can be deleted. is_paid: a plan renews, or a payment may be in progress.
create function account_workspaces() returns table(workspace_id text, name text, membership_id text, is_only_owner boolean, other_members integer, wikis integer, is_paid boolean, is_held boolean) language plpgsql security definer set search_path to 'public', 'pg_temp' as $$
declare
  me constant text := own_user();
begin
  if coalesce(me, '') = '' then return; end if;
  perform from workspaces w
  where w.workspace_id in (select m.workspace_id from memberships m where m.user_id = me union select * from workspaces_left(me))
  order by w.workspace_id for no key update;
  -- A separate statement sees rows committed while the previous one waited for the locks.
  return query
    select w.workspace_id, case when m.membership_id is null then '' else w.name end, m.membership_id,
      coalesce(m.role = 'owner' and m.status = 'active', false) and not exists (
        select from memberships o
        where o.workspace_id = w.workspace_id and o.role = 'owner' and o.status = 'active' and o.user_id <> me),
      (select count(*)::int from memberships o where o.workspace_id = w.workspace_id and o.user_id <> me),
      (select count(*)::int from wikis k where k.workspace_id = w.workspace_id and w.deleted_at is null),
      exists (
        select from subscriptions s
        where s.workspace_id = w.workspace_id and s.subscription_id <> '' and not s.cancel_at_period_end)
      or exists (
        select from billing_customers c
        where c.workspace_id = w.workspace_id and c.checkout_opened_at > now() - interval '1 day'
          and not exists (select from subscriptions s where s.workspace_id = c.workspace_id)),
      w.held_since is not null
    from (
      select t.workspace_id from memberships t where t.user_id = me union select * from workspaces_left(me)
    ) mine (workspace_id)
    join workspaces w on w.workspace_id = mine.workspace_id
    left join memberships m on m.workspace_id = w.workspace_id and m.user_id = me
    order by w.workspace_id;
end $$;

-- Returns the picture at a secret address, without its owner.
create function avatar_of(picture text) returns table(sha256 text, content_type text, byte_size integer) language sql stable security definer set search_path to 'public', 'pg_temp' as $$
  select u.avatar_sha256, u.avatar_type, u.avatar_bytes from users u where u.avatar_id = picture
$$;

-- Changes a person's sign-in address and ends their sessions except kept_session. The caller must have proof that the person owns the address. Returns changed, taken (another account has the address) or foreign (an OpenID issuer sets the address).
create function change_email(person text, address text, kept_session text) returns text language plpgsql security definer set search_path to 'public', 'pg_temp' as $$
declare
  was text;
begin
  if not (coalesce(is_service(), false) or coalesce(person = own_user(), false)) then return 'foreign'; end if;
  select u.email into was from users u where u.user_id = person for update;
  if not found or exists (select from identities i where i.user_id = person and i.issuer <> 'ibid') then return 'foreign'; end if;
  if exists (select from users u where u.email = address and u.email_verified and u.user_id <> person) then return 'taken'; end if;
  begin
    -- The primary key ensures that only one account gets the address.
    update identities i set subject = address where i.user_id = person and i.issuer = 'ibid';
    if not found then return 'foreign'; end if;
  exception when unique_violation then
    return 'taken';
  end;
  update users u set email = address, email_verified = true where u.user_id = person;
  update sessions s set revoked_at = now()
  where s.user_id = person and s.session_id is distinct from kept_session and s.revoked_at is null and s.expires_at > now();
  -- An unused link would sign in to the former account and create a new one.
  update email_links l set token_hash = null where l.email in (was, address) and l.token_hash is not null;
  delete from email_changes c where c.user_id = person;
  return 'changed';
end $$;

-- Merges the caller, whose address their issuer verified, with the user who signs in by mail to this address. The secret of a sign-in link proves that the caller owns the address.
create function connect_accounts(link bytea, session text) returns table(outcome text, kept text, merged text) language plpgsql security definer set search_path to 'public', 'pg_temp' as $$
declare
  me users;
  address text;
  other text;
begin
  select u.* into me from users u where u.user_id = own_user();
  perform from email_links l
    where l.email = (select o.email from email_links o where o.token_hash = link and o.expires_at > now())
    order by l.link_id for update;
  select l.email into address from email_links l where l.token_hash = link and l.expires_at > now();
  kept := me.user_id;
  merged := me.user_id;
  if address is null then
    outcome := 'link';
  elsif not me.email_verified or me.email <> address then
    outcome := 'address';
  else
    select i.user_id into other from identities i where i.issuer = 'ibid' and i.subject = address;
    if other is null or other = me.user_id then
      outcome := 'none';
    else
      outcome := merge_users(me.user_id, other, session);
      merged := other;
      if outcome = 'has_written' then
        outcome := merge_users(other, me.user_id, session);
        kept := other;
        merged := me.user_id;
      end if;
    end if;
  end if;
  if outcome = '' then
    update email_links l set token_hash = null where l.email = address and l.token_hash is not null;
  end if;
  return next;
end $$;

-- Deletes the caller's user with all personal data, the given workspaces if they have neither members nor wikis, and the user's name and address in all other rows. Records and texts keep the id, which no longer belongs to a user.
create function erase_account(emptied text[]) returns boolean language plpgsql security definer set search_path to 'public', 'pg_temp' as $$
declare
  me constant text := own_user();
  person users;
  gone text[];
begin
  select u.* into person from users u where u.user_id = me for update;
  if not found then return false; end if;
  gone := array(
    select w.workspace_id from workspaces w
    where w.workspace_id = any (emptied)
      and not exists (select from memberships m where m.workspace_id = w.workspace_id)
      and not exists (select from wikis k where k.workspace_id = w.workspace_id));
  delete from workspaces w where w.workspace_id = any (gone);
  delete from workspace_usage u where u.workspace_id = any (gone);

  -- Keep all records of workspaces under a legal hold. Their members are refused earlier, but the caller may have an
  -- invitation to one.
  update audit_events e set before = without_person(e.before), after = without_person(e.after)
  where e.type = 'organization_membership.deleted' and (e.before ->> 'user_id') collate "C" = me
    and not exists (select from workspaces w where w.workspace_id = e.workspace_id and w.held_since is not null);
  if person.email <> '' then
    update background_jobs j set error = replace(j.error, person.email, '') where position(person.email in j.error) > 0;
  end if;
  -- Skip addresses that another user has as well, with another sign-in method, and addresses never verified, which may
  -- belong to a stranger.
  if person.email <> '' and person.email_verified
    and not exists (select from users o where o.email = person.email and o.user_id <> me)
  then
    delete from email_links l where l.email = person.email;
    delete from sign_in_links l where l.email = person.email;
    delete from password_guesses g where g.email = person.email;
    delete from background_jobs j where j.input ->> 'email' = person.email;
    update audit_events e set before = without_person(e.before), after = without_person(e.after),
      target_id = case when e.target_id = person.email then '' else e.target_id end
    where e.after ->> 'email' = person.email
      and not exists (select from workspaces w where w.workspace_id = e.workspace_id and w.held_since is not null);
    delete from invitations i where i.email = person.email
      and not exists (select from workspaces w where w.workspace_id = i.workspace_id and w.held_since is not null);
    update imported_people p set name = '', email = '' where p.email = person.email
      and not exists (
        select from wikis k join workspaces w on w.workspace_id = k.workspace_id
        where k.wiki_id = p.wiki_id and w.held_since is not null);
  end if;
  -- For deleted workspaces, and for this account, keep only actor, action and time.
  update audit_events e set before = '{}', after = '{}', address = '' where e.workspace_id = any (gone);
  delete from users u where u.user_id = me;
  -- With the sessions and keys deleted, requests that were changing them have ended, and their records are visible.
  update audit_events e set before = '{}', after = '{}', address = '' where e.workspace_id is null and e.actor_id = me;
  return true;
end $$;

-- Removes the ID token from a revoked session.
create function forget_id_token() returns trigger language plpgsql as $$
begin
  new.id_token := null;
  return new;
end $$;

-- Whether another user signs in by mail to the caller's verified address.
create function has_other_account() returns boolean language sql stable security definer set search_path to 'public', 'pg_temp' as $$
  select exists (
    select from users u join identities i on i.issuer = 'ibid' and i.subject = u.email and i.user_id <> u.user_id
    where u.user_id = own_user() and u.email_verified)
$$;

-- Whether the first user exists; public.
create function has_users() returns boolean language sql stable security definer set search_path to 'public', 'pg_temp' as $$
  select exists (select from users)
$$;

-- Returns the address of a pending invitation for the secret of its emailed link, which proves access to the mailbox, and whether a user has this address. Returns no row for a copied link.
create function mailed_invitation(secret bytea) returns table(email text, has_account boolean) language sql stable security definer set search_path to 'public', 'pg_temp' as $$
  select i.email, exists (select from users u where u.email = i.email and u.email_verified)
    or exists (select from identities d where d.issuer = 'ibid' and d.subject = i.email)
  from invitations i where i.secret_hash = secret and i.state = 'pending' and i.expires_at > now()
$$;

-- Moves identities, memberships and data of the user merged to the user kept, then deletes merged with its personal keys, its password and its sessions except the given one. Returns '' on success. Otherwise changes nothing and returns the reason: has_written (merged has written pages), both_members (of one workspace), same, gone.
create function merge_users(kept text, merged text, session text) returns text language plpgsql security definer set search_path to 'public', 'pg_temp' as $$
declare
  theirs text[];
  their_wikis text[];
begin
  if kept = merged then return 'same'; end if;
  perform from users u where u.user_id in (kept, merged) order by u.user_id for update;
  if (select count(*) from users u where u.user_id in (kept, merged)) < 2 then return 'gone'; end if;
  theirs := array(select m.workspace_id from memberships m where m.user_id = merged);
  perform from workspaces w where w.workspace_id = any (theirs) order by w.workspace_id for no key update;
  their_wikis := array(select k.wiki_id from wikis k where k.workspace_id = any (theirs));
  if exists (select from revisions r where r.created_by = merged)
    or exists (select from uploads u where u.created_by = merged)
    or exists (select from attachments a where a.created_by = merged)
    or exists (
      select from pages p where p.wiki_id = any (their_wikis) and merged in (p.created_by, p.updated_by, p.trashed_by))
  then
    return 'has_written';
  end if;
  if exists (select from memberships m where m.user_id = kept and m.workspace_id = any (theirs)) then
    return 'both_members';
  end if;
  update identities i set user_id = kept where i.user_id = merged;
  update memberships m set user_id = kept where m.user_id = merged;
  update workspaces w set created_by = kept where w.created_by = merged and w.workspace_id = any (theirs);
  update workspaces w set held_by = kept where w.held_by = merged and w.workspace_id = any (theirs);
  update wikis k set created_by = kept where k.created_by = merged and k.wiki_id = any (their_wikis);
  update invitations i set invited_by = kept where i.invited_by = merged and i.workspace_id = any (theirs);
  update templates t set created_by = kept where t.created_by = merged and t.wiki_id = any (their_wikis);
  update exports e set created_by = kept where e.created_by = merged and e.wiki_id = any (their_wikis);
  update imports i set created_by = kept where i.created_by = merged and i.wiki_id = any (their_wikis);
  -- Other credentials of the second account are deleted: the caller has not proved to be the holder of the first
  -- account, which they would open.
  update api_keys k set user_id = kept where k.user_id = merged and k.workspace_id is not null;
  update sessions s set user_id = kept where s.user_id = merged and s.session_id = session;
  update refresh_tokens r set user_id = kept where r.user_id = merged and r.session_id = session;
  update autosaves a set user_id = kept where a.user_id = merged;
  update starred_pages s set user_id = kept where s.user_id = merged and not exists (
    select from starred_pages o where o.wiki_id = s.wiki_id and o.user_id = kept and o.page_id = s.page_id);
  update saved_searches s set user_id = kept where s.user_id = merged and not exists (
    select from saved_searches o where o.wiki_id = s.wiki_id and o.user_id = kept and o.name_key = s.name_key);
  update users u set
      email = case when not u.email_verified and m.email_verified then m.email else u.email end,
      email_verified = u.email_verified or m.email_verified,
      last_workspace_id = coalesce(u.last_workspace_id, m.last_workspace_id)
    from users m where u.user_id = kept and m.user_id = merged;
  delete from users u where u.user_id = merged;
  return '';
end $$;

-- Removes personal details from a record of the audit log.
create function without_person(record jsonb) returns jsonb language sql immutable parallel safe as $$
  select record - '{email,display_name,avatar_url}'::text[]
$$;

-- Workspaces that a person has left, from the audit records of deleted memberships; none after those records were purged.
create function workspaces_left(person text) returns setof text language sql stable security definer set search_path to 'public', 'pg_temp' as $$
  select distinct e.workspace_id from audit_events e
  where e.type = 'organization_membership.deleted' and (e.before ->> 'user_id') collate "C" = person and e.workspace_id is not null
$$;

-- ---- Workspaces and their members ----

-- Workspaces, also called organizations. The row is locked to decide about seats and roles.
create table workspaces (
  -- Id of the form org_…, which the organization shares.
  workspace_id          text collate "C" not null,
  -- Display name; not unique.
  name                  text collate "C" not null,
  -- Name in addresses, unique over the service together with workspace_slugs.
  slug                  text collate "C" not null,
  -- Seats that the plan or the operator gives, copied from the plan so that seats are decided without its catalogue; meaningless while seats_unlimited.
  seats_granted         integer not null default 0,
  -- Whether seats are not limited, as without a plan.
  seats_unlimited       boolean not null default true,
  -- Whether the plan permits more members than seats_granted.
  seats_overage         boolean not null default false,
  -- User who founded the workspace; no foreign key, so the account may be deleted.
  created_by            text collate "C" not null,
  -- Start of the transaction that wrote the row.
  created_at            timestamp with time zone not null default now(),
  -- Origins (scheme, host, port) whose pages may use this workspace's widget tokens in a browser.
  widget_origins        text[] collate "C" not null default '{}'::text[],
  -- Number of active memberships, maintained by the triggers of memberships so that a check of seats need not count; null until a migration has counted them.
  active_members        integer default 0,
  -- Days for which a deleted page can be restored; null for the default of the service.
  trash_days            integer,
  -- Days for which a replaced revision is kept; null for ever.
  revision_days         integer,
  -- Days for which audit records are kept; null for ever.
  audit_days            integer,
  -- Time when a retention period changed or a hold was lifted; null if never. Nothing is purged for a day after it.
  retention_changed_at  timestamp with time zone,
  -- Start of the legal hold, under which nothing is purged or deleted; null without one.
  held_since            timestamp with time zone,
  -- User who set or last changed the hold; null without one.
  held_by               text collate "C",
  -- Reason of the hold as its author wrote it; null without one.
  hold_reason           text collate "C",
  -- Time when an owner deleted the workspace, which is purged 30 days later; null otherwise.
  deleted_at            timestamp with time zone,
  -- Blob of the logo, stripped of metadata; null without a logo.
  logo_sha256           text collate "C",
  -- Media type of the logo, detected from its bytes; null without a logo.
  logo_type             text collate "C",
  -- Size of the stored logo in bytes; null without a logo.
  logo_bytes            integer,
  primary key (workspace_id),
  unique (slug),
  check (((audit_days >= 90) and (audit_days <= 3650))),
  check ((((held_since is null) = (held_by is null)) and ((held_since is null) = (hold_reason is null)))),
  check (((revision_days >= 30) and (revision_days <= 3650))),
  check ((seats_granted >= 0)),
  check (((trash_days >= 7) and (trash_days <= 3650)))
);
create index workspaces_by_logo on workspaces using btree (logo_sha256) where (logo_sha256 is not null);
create index workspaces_by_widget_origin on workspaces using gin (widget_origins);
create index workspaces_deleted on workspaces using btree (deleted_at) where (deleted_at is not null);
create trigger legal_hold before delete on workspaces for each row when ((old.held_since is not null)) execute function refuse_deletion_of_workspace_under_hold();
create trigger slug_changed after update of slug on workspaces for each row when ((old.slug <> new.slug)) execute function keep_slug();
create trigger slug_taken after insert on workspaces for each row execute function keep_slug();
grant delete, insert, select, update on workspaces to ibid_service;
alter table workspaces enable row level security;
create policy of_the_workspaces on workspaces for all
  using ((workspace_id in ( select unnest(own_workspaces()))));

-- The last ten former slugs of each workspace. Links with them still work, and no other workspace can take them.
create table workspace_slugs (
  -- Former slug; a trigger of workspaces writes it, and deletes it when the workspace takes it again.
  slug          text collate "C" not null,
  -- Workspace that the slug leads to.
  workspace_id  text collate "C" not null,
  -- Time when the slug was replaced; beyond ten slugs the oldest goes.
  replaced_at   timestamp with time zone not null default now(),
  primary key (slug),
  foreign key (workspace_id) references workspaces(workspace_id) on delete cascade
);
create index workspace_slugs_by_workspace on workspace_slugs using btree (workspace_id, replaced_at desc);
grant select on workspace_slugs to ibid_service;
alter table workspace_slugs enable row level security;
create policy of_the_workspaces on workspace_slugs for all
  using ((workspace_id in ( select unnest(own_workspaces()))));

-- Operator settings per workspace; no row for the defaults.
create table workspace_controls (
  -- Workspace that the settings apply to.
  workspace_id         text collate "C" not null,
  -- Limits by name that override the limits of the plan; null as a value means unlimited.
  limits               jsonb not null default '{}'::jsonb,
  -- Whether no job of the workspace is claimed; running jobs finish.
  jobs_are_paused      boolean not null default false,
  -- Number of jobs that can run before workspaces without a running job take precedence.
  job_share            integer not null default 1,
  -- Widget tokens issued before this time are refused; -infinity accepts all.
  widget_tokens_after  timestamp with time zone not null default '-infinity'::timestamp with time zone,
  primary key (workspace_id),
  check (((job_share >= 1) and (job_share <= 100))),
  foreign key (workspace_id) references workspaces(workspace_id) on delete cascade
);
grant select on workspace_controls to ibid_service;
alter table workspace_controls enable row level security;
create policy of_the_workspaces on workspace_controls for all
  using ((workspace_id = any (( select own_workspaces())::text[])));

-- Members of workspaces with their roles; every access decision is based on this table.
create table memberships (
  -- Id of the form mem_…, used in the API instead of (workspace_id, user_id).
  membership_id  text collate "C" not null,
  -- Workspace that the role applies to.
  workspace_id   text collate "C" not null,
  -- The member.
  user_id        text collate "C" not null,
  -- Slug of a role (src/platform/access/roles.ts), which determines the member's permissions.
  role           text collate "C" not null,
  -- inactive: no access and no seat, by an admin or by groups. suspended: active until the workspace was deleted; a restore makes it active again.
  status         text collate "C" not null default 'active'::text,
  -- Time when the user joined or founded the workspace.
  created_at     timestamp with time zone not null default now(),
  -- Role that a group of the OpenID provider gave; "ended" once no group gives one; null without groups. If it differs from role, a person changed the role and groups no longer do.
  group_role     text collate "C",
  primary key (membership_id),
  unique (user_id, workspace_id),
  check ((role = any (array['owner'::text, 'admin'::text, 'developer'::text, 'billing'::text, 'member'::text, 'viewer'::text]))),
  check ((status = any (array['active'::text, 'inactive'::text, 'suspended'::text]))),
  foreign key (user_id) references users(user_id) on delete cascade,
  foreign key (workspace_id) references workspaces(workspace_id) on delete cascade,
  trigger deferrable initially deferred,
  trigger deferrable initially deferred,
  trigger deferrable initially deferred
);
create index memberships_by_time on memberships using btree (workspace_id, created_at, membership_id);
create trigger grants_end after delete on memberships for each row execute function end_grants();
create trigger grants_follow after update of user_id on memberships for each row when ((old.user_id <> new.user_id)) execute function end_grants();
create trigger members_came after insert on memberships referencing new table as added for each statement execute function change_active_members();
create trigger members_changed after update on memberships referencing old table as removed new table as added for each statement execute function change_active_members();
create trigger members_went after delete on memberships referencing old table as removed for each statement execute function change_active_members();
create constraint trigger owner_on_change after update of role, status, workspace_id on memberships deferrable initially deferred for each row when (((old.role = 'owner'::text) and (old.status = 'active'::text) and ((new.role <> 'owner'::text) or (new.status <> all (array['active'::text, 'suspended'::text])) or (new.workspace_id <> old.workspace_id)))) execute function refuse_without_owner();
create constraint trigger owner_on_join after insert on memberships deferrable initially deferred for each row when (((new.role <> 'owner'::text) or (new.status <> 'active'::text))) execute function refuse_without_owner();
create constraint trigger owner_on_leave after delete on memberships deferrable initially deferred for each row when (((old.role = 'owner'::text) and (old.status = 'active'::text))) execute function refuse_without_owner();
create trigger seat_sync after insert or delete or update of status, workspace_id on memberships for each row execute function enqueue_seat_sync();
create trigger seats after insert on memberships for each row execute function refuse_above_seats();
create trigger seats_on_change after update of status, workspace_id on memberships for each row when ((old.status <> 'suspended'::text)) execute function refuse_above_seats();
grant delete, insert, select, update on memberships to ibid_service;
alter table memberships enable row level security;
create policy of_the_workspaces on memberships for all
  using (((user_id = ( select own_user())) or (workspace_id = any (( select own_workspaces())::text[]))))
  with check ((workspace_id = any (( select own_workspaces())::text[])));

-- Invitations to a workspace by mail. A pending invitation past expires_at counts as expired on read; no timer updates it.
create table invitations (
  -- Id of the form inv_….
  invitation_id  text collate "C" not null,
  -- Workspace that the invitation is to.
  workspace_id   text collate "C" not null,
  -- Normalized address of the invited person; at most one pending invitation per workspace.
  email          text collate "C" not null,
  -- Role of the membership that an acceptance creates.
  role           text collate "C" not null,
  -- pending until it is accepted or revoked; expired is written when the address is invited again.
  state          text collate "C" not null default 'pending'::text,
  -- SHA-256 of the secret in the mailed link, replaced with each message.
  secret_hash    bytea not null,
  -- User who sent the invitation; no foreign key.
  invited_by     text collate "C" not null,
  -- Time of the first message; resending leaves it.
  created_at     timestamp with time zone not null default now(),
  -- End of the link, 7 days after the last message.
  expires_at     timestamp with time zone not null,
  -- queued until the mail server accepted the message. bounced: the server refused the address. failed: the server could not be reached until attempts ran out.
  mail_status    text collate "C" not null default 'sent'::text,
  -- SHA-256 of the secret in the link that a member copied last; null if none did. It opens the invitation, but proves no address.
  copied_hash    bytea,
  -- Number of links that members copied; each copy voids the previous link.
  copies         integer not null default 0,
  primary key (invitation_id),
  unique (secret_hash),
  check ((mail_status = any (array['queued'::text, 'sent'::text, 'bounced'::text, 'failed'::text]))),
  check ((role = any (array['owner'::text, 'admin'::text, 'developer'::text, 'billing'::text, 'member'::text, 'viewer'::text]))),
  check ((state = any (array['pending'::text, 'accepted'::text, 'revoked'::text, 'expired'::text]))),
  foreign key (workspace_id) references workspaces(workspace_id) on delete cascade
);
create index invitations_by_email on invitations using btree (email) where (state = 'pending'::text);
create index invitations_by_workspace on invitations using btree (workspace_id, invitation_id);
create index invitations_to on invitations using btree (email);
create unique index invitations_by_copied_link on invitations using btree (copied_hash) where (copied_hash is not null);
create unique index invitations_pending on invitations using btree (workspace_id, email) where (state = 'pending'::text);
create trigger seats after insert or update of state, expires_at, workspace_id on invitations for each row execute function refuse_above_seats();
create trigger usage_on_delete after delete on invitations referencing old table as old_rows for each statement execute function count_invitations();
create trigger usage_on_insert after insert on invitations referencing new table as new_rows for each statement execute function count_invitations();
create trigger usage_on_update after update on invitations referencing old table as old_rows new table as new_rows for each statement execute function count_invitations();
grant delete, insert, select, update on invitations to ibid_service;
alter table invitations enable row level security;
create policy of_the_workspaces on invitations for all
  using ((workspace_id = any (( select own_workspaces())::text[])));

-- API keys. Only the SHA-256 of a key is stored.
create table api_keys (
  -- Id of the form key_…; credential_id in audit records.
  key_id            text collate "C" not null,
  -- Only workspace that the key opens; null for a personal key, which opens all workspaces of user_id.
  workspace_id      text collate "C",
  -- Creator; the key never grants more than the role that the creator has at the moment.
  user_id           text collate "C" not null,
  -- Label chosen by the creator.
  name              text collate "C" not null,
  -- SHA-256 of the key, by which a request finds it.
  secret_hash       bytea not null,
  -- Prefix and last four characters of the key, for lists.
  obfuscated_value  text collate "C" not null,
  -- Permissions that the key is restricted to; null for everything that the role gives.
  permissions       text[] collate "C",
  -- Start of the transaction that wrote the row.
  created_at        timestamp with time zone not null default now(),
  -- Expiry of the key, no later than the expiry of the key that created it; null if it never expires.
  expires_at        timestamp with time zone,
  -- Time of the revocation; null while the key is valid.
  revoked_at        timestamp with time zone,
  -- Time of the last request, at most a minute out of date; null before the first.
  last_used_at      timestamp with time zone,
  primary key (key_id),
  unique (secret_hash),
  foreign key (user_id) references users(user_id) on delete cascade,
  foreign key (workspace_id) references workspaces(workspace_id) on delete cascade
);
create index api_keys_by_user on api_keys using btree (user_id, key_id);
create index api_keys_by_workspace on api_keys using btree (workspace_id, key_id);
create trigger usage_on_delete after delete on api_keys referencing old table as old_rows for each statement execute function count_keys();
create trigger usage_on_insert after insert on api_keys referencing new table as new_rows for each statement execute function count_keys();
create trigger usage_on_update after update on api_keys referencing old table as old_rows new table as new_rows for each statement execute function count_keys();
grant delete, insert, select, update on api_keys to ibid_service;
alter table api_keys enable row level security;
create policy self_and_workspaces on api_keys for all
  using (((user_id = ( select own_user())) or (workspace_id = any (( select own_workspaces())::text[]))));

-- Returns the start parameters of a purge. horizon: only revisions replaced before it may be purged; null if none may. walks: all pages have to be checked.
create function begin_revision_purge(wiki text) returns table(horizon timestamp with time zone, walks boolean) language sql stable security definer set search_path to 'public', 'pg_temp' as $$
  select purge_horizon(w.revision_days, w.retention_changed_at, w.held_since),
    k.revisions_purged_to is null or coalesce(k.revisions_walked_at < now() - interval '30 days', true)
  from wikis k join workspaces w on w.workspace_id = k.workspace_id where k.wiki_id = wiki
$$;

-- Invitations to the caller's verified address, in any state.
create function caller_invitations(after_id text) returns table(invitation_id text, workspace_id text, workspace_name text, email text, role text, state text, created_at timestamp with time zone, expires_at timestamp with time zone) language sql stable security definer set search_path to 'public', 'pg_temp' as $$
  select i.invitation_id, i.workspace_id, w.name, i.email, i.role, i.state, i.created_at, i.expires_at
  from users u join invitations i on i.email = u.email join workspaces w on w.workspace_id = i.workspace_id
  where u.user_id = (select own_user()) and u.email_verified and u.email <> '' and i.invitation_id > after_id
  order by i.invitation_id limit 500
$$;

-- Ends all access to a workspace visible to the caller, and stops its jobs. Returns false if it is already deleted. Fails with IBHLD under a legal hold. The application must check that the caller is an owner.
create function delete_workspace(workspace text) returns boolean language plpgsql security definer set search_path to 'public', 'pg_temp' as $$
declare
  held timestamptz;
begin
  if not workspace = any (own_workspaces()) then return false; end if;
  select w.held_since into held from workspaces w where w.workspace_id = workspace and w.deleted_at is null for no key update;
  if not found then return false; end if;
  if held is not null then
    raise exception 'the workspace is under a legal hold' using errcode = 'IBHLD';
  end if;
  -- A worker that runs such a job notices at its next write that it has lost the job.
  update jobs j set status = 'queued', worker_id = null, run_after = never(), updated_at = now(),
    failures = case when j.status = 'running' then greatest(j.failures - 1, 0) else j.failures end
  where j.wiki_id in (select k.wiki_id from wikis k where k.workspace_id = workspace) and j.status in ('queued', 'running');
  update memberships m set status = 'suspended' where m.workspace_id = workspace and m.status = 'active';
  update workspaces w set deleted_at = now() where w.workspace_id = workspace;
  return true;
end $$;

-- Deleted workspaces that the caller owns and can restore.
create function deleted_workspaces() returns table(workspace_id text, name text, slug text, deleted_at timestamp with time zone, purged_after timestamp with time zone) language sql stable security definer set search_path to 'public', 'pg_temp' as $$
  select w.workspace_id, w.name, w.slug, w.deleted_at, w.deleted_at + interval '30 days'
  from memberships m join workspaces w on w.workspace_id = m.workspace_id
  where m.user_id = own_user() and m.role = 'owner' and m.status = 'suspended' and w.deleted_at > now() - interval '30 days'
$$;

-- Records a completed purge.
create function end_revision_purge(wiki text, purged_to timestamp with time zone, walked boolean) returns void language sql security definer set search_path to 'public', 'pg_temp' as $$
  -- If a hold or another period was set in the meantime, the run ended early and is not recorded.
  update wikis k set revisions_purged_to = purged_to, revisions_walked_at = case when walked then now() else k.revisions_walked_at end
  from workspaces w
  where k.wiki_id = wiki and w.workspace_id = k.workspace_id
    and purge_horizon(w.revision_days, w.retention_changed_at, w.held_since) is not null
$$;

-- Enqueues a sync of the paid quantity after any change in the number of members.
create function enqueue_seat_sync() returns trigger language plpgsql security definer set search_path to 'public', 'pg_temp' as $$
begin
  insert into background_jobs (name, lane, key, workspace_id, input)
  select 'sync-subscription', 'billing', c.workspace_id, c.workspace_id, '{}'
  from billing_customers c join workspaces w on w.workspace_id = c.workspace_id
  where c.workspace_id = case when tg_op = 'DELETE' then old.workspace_id else new.workspace_id end
  on conflict do nothing;
  return null;
end $$;

-- Updates the memberships of a new session's user from their groups. wanted: the role, or null, for each workspace in the configuration, by slug or id. Ends memberships that no group grants any more. Returns the changes, and the failures unknown, full and unpaid. Keeps memberships that people changed manually.
create function follow_groups(session text, wanted jsonb) returns table(workspace text, slug text, name text, outcome text, membership text, person text, was jsonb, became jsonb) language plpgsql security definer set search_path to 'public', 'pg_temp' as $$
declare
  entry record;
  seats workspaces;
  present memberships;
begin
  if not coalesce(is_service(), false) then return; end if;
  select s.user_id into person from sessions s where s.session_id = session;
  for entry in
    -- The mapping may name a workspace by its slug, a former slug, or its id.
    select distinct on (1, case when w.workspace_id is null then e.slug end)
      coalesce(w.workspace_id, m.workspace_id) as workspace_id, e.slug, e.role, e.membership_id
    from jsonb_to_recordset(wanted) as e (slug text, role text, membership_id text)
    left join lateral (
      select o.workspace_id from workspaces o where o.slug = e.slug and o.deleted_at is null
      union select o.workspace_id from workspaces o where o.workspace_id = e.slug and o.deleted_at is null
      union select l.workspace_id from workspace_slugs l where l.slug = e.slug
      limit 1) w on true
    full join (select o.workspace_id from memberships o where o.user_id = person and o.group_role is not null) m
      on m.workspace_id = w.workspace_id
    order by 1 nulls first, case when w.workspace_id is null then e.slug end,
      array_position(array['admin', 'developer', 'member', 'billing', 'viewer'], e.role)
  loop
    workspace := entry.workspace_id;
    slug := entry.slug;
    name := null;
    outcome := null;
    membership := null;
    was := '{}';
    became := '{}';
    if workspace is null then
      outcome := 'unknown';
      return next;
      continue;
    end if;
    select w.* into seats from workspaces w where w.workspace_id = workspace for no key update;
    if not found or seats.deleted_at is not null then continue; end if;
    slug := seats.slug;
    name := seats.name;
    select m.* into present from memberships m where m.workspace_id = workspace and m.user_id = person;
    membership := coalesce(present.membership_id, entry.membership_id);
    if present.membership_id is not null and present.status = 'active' then
      if present.group_role is distinct from present.role then continue; end if;
      if entry.role is null then
        update memberships m set status = 'inactive', group_role = 'ended' where m.membership_id = membership;
        outcome := 'ended';
        was := jsonb_build_object('status', 'active');
        became := jsonb_build_object('status', 'inactive');
      elsif entry.role <> present.role then
        update memberships m set role = entry.role, group_role = entry.role where m.membership_id = membership;
        outcome := 'changed';
        was := jsonb_build_object('role', present.role);
        became := jsonb_build_object('role', entry.role);
      else
        continue;
      end if;
    elsif entry.role is null or (present.membership_id is not null and present.group_role is distinct from 'ended') then
      continue;
    elsif is_read_only(workspace) then
      outcome := 'unpaid';
    elsif not seats.seats_unlimited and not seats.seats_overage and seats.seats_granted <= (
      select count(*) from memberships m where m.workspace_id = workspace and m.status = 'active') + (
      select count(*) from invitations i where i.workspace_id = workspace and i.state = 'pending' and i.expires_at > now())
    then
      outcome := 'full';
    elsif present.membership_id is null then
      insert into memberships (membership_id, workspace_id, user_id, role, group_role)
      values (membership, workspace, person, entry.role, entry.role);
      outcome := 'joined';
      became := jsonb_build_object('membership_id', membership, 'workspace_id', workspace, 'user_id', person, 'role', entry.role, 'status', 'active');
    else
      update memberships m set status = 'active', role = entry.role, group_role = entry.role where m.membership_id = membership;
      outcome := 'changed';
      was := jsonb_build_object('status', present.status);
      became := jsonb_build_object('status', 'active');
      if present.role <> entry.role then
        was := was || jsonb_build_object('role', present.role);
        became := became || jsonb_build_object('role', entry.role);
      end if;
    end if;
    return next;
  end loop;
end $$;

-- For sign-in: whether an address has a pending invitation. Not revealed to clients.
create function is_invited(address text) returns boolean language sql stable security definer set search_path to 'public', 'pg_temp' as $$
  select exists (select from invitations where email = address and state = 'pending' and expires_at > now())
$$;

-- Trigger function of workspaces: keeps the replaced slug, and refuses a slug that leads to another workspace.
create function keep_slug() returns trigger language plpgsql security definer set search_path to 'public', 'pg_temp' as $$
begin
  delete from workspace_slugs s where s.slug = new.slug and s.workspace_id = new.workspace_id;
  if exists (select from workspace_slugs s where s.slug = new.slug) then
    raise exception 'the slug leads to another workspace' using errcode = 'unique_violation', constraint = 'workspaces_slug_key';
  end if;
  if tg_op = 'UPDATE' then
    insert into workspace_slugs (slug, workspace_id, replaced_at) values (old.slug, new.workspace_id, clock_timestamp());
    -- Bounds the number of names that a workspace can reserve.
    delete from workspace_slugs s where s.workspace_id = new.workspace_id and s.slug in (
      select o.slug from workspace_slugs o where o.workspace_id = new.workspace_id order by o.replaced_at desc offset 10);
  end if;
  return null;
end $$;

-- Makes the workspace of a pending invitation to the caller's verified address visible until the end of the transaction, like the secret of its link.
create function open_own_invitation(invitation text) returns boolean language plpgsql security definer set search_path to 'public', 'pg_temp' as $$
declare
  opened text;
begin
  select i.workspace_id into opened from users u
  join invitations i on i.email = u.email and i.invitation_id = invitation and i.state = 'pending' and i.expires_at > now()
  join workspaces w on w.workspace_id = i.workspace_id and w.deleted_at is null
  where u.user_id = own_user() and u.email_verified;
  if opened is null then
    return false;
  end if;
  perform set_config('ibid.workspaces', trim(coalesce(current_setting('ibid.workspaces', true), '') || ' ' || opened), true);
  return true;
end $$;

-- Pending invitations to the caller's verified address. The caller cannot see their workspaces yet.
create function own_invitations() returns table(invitation_id text, workspace_name text, inviter_name text, email text, role text, expires_at timestamp with time zone) language sql stable security definer set search_path to 'public', 'pg_temp' as $$
  select i.invitation_id, w.name, b.display_name, i.email, i.role, i.expires_at
  from users u
  join invitations i on i.email = u.email and i.state = 'pending' and i.expires_at > now()
  join workspaces w on w.workspace_id = i.workspace_id and w.deleted_at is null
  join users b on b.user_id = i.invited_by
  where u.user_id = own_user() and u.email_verified and not exists (
    select from memberships m where m.workspace_id = i.workspace_id and m.user_id = u.user_id)
$$;

-- Purges a batch of data of workspaces deleted more than 30 days ago; returns 0 if no data is left.
create function purge_deleted_workspaces(batch integer) returns integer language plpgsql security definer set search_path to 'public', 'pg_temp' as $$
declare
  gone text[];
  done int;
begin
  if not coalesce(is_service(), false) then return 0; end if;
  -- A plan can be resumed at the payment provider after the deletion. Keep the workspace, so that its payer can ask the
  -- operator.
  gone := array(
    select w.workspace_id from workspaces w
    where w.deleted_at < now() - interval '30 days' and w.held_since is null and not exists (
      select from subscriptions s where s.workspace_id = w.workspace_id and s.subscription_id <> '' and not s.cancel_at_period_end)
    order by w.deleted_at limit 10 for update skip locked);
  -- Keep actor, action and time, as after the deletion of an account.
  update audit_events e set before = '{}', after = '{}', address = '' where e.event_id in (
    select o.event_id from audit_events o
    where o.workspace_id = any (gone) and (o.before <> '{}' or o.after <> '{}' or o.address <> '') limit batch);
  get diagnostics done = row_count;
  if done = batch then return done; end if;
  -- The job remove-deleted-wiki removes their content.
  update wikis k set workspace_id = null, deleted_from = k.workspace_id where k.workspace_id = any (gone);
  delete from workspaces w where w.workspace_id = any (gone);
  delete from workspace_usage u where u.workspace_id = any (gone);
  return done + cardinality(gone);
end $$;

-- Returns the time before which ended data may be purged; null if none may. Arguments: a retention period, and retention_changed_at and held_since of the workspace.
create function purge_horizon(days integer, changed_at timestamp with time zone, held_since timestamp with time zone) returns timestamp with time zone language sql stable as $$
  select case when held_since is null and coalesce(changed_at < now() - interval '1 day', true) then now() - make_interval(days => days) end
$$;

-- Trigger function of workspaces: refuses their deletion under a legal hold.
create function refuse_deletion_of_workspace_under_hold() returns trigger language plpgsql as $$
begin
  raise exception 'the workspace is under a legal hold' using errcode = 'IBHLD';
end $$;

-- Trigger function of tables with content of a wiki: refuses deletions under a legal hold.
create function refuse_deletion_under_hold() returns trigger language plpgsql security definer set search_path to 'public', 'pg_temp' as $$
begin
  perform refuse_under_hold(array(select distinct o.wiki_id from old_rows o));
  return null;
end $$;

-- Fails with IBHLD if the workspace of any of these wikis is under a legal hold.
create function refuse_under_hold(wikis text[]) returns void language plpgsql security definer set search_path to 'public', 'pg_temp' as $$
declare
  workspace text;
  held timestamptz;
begin
  -- One lookup by key at a time: most statements concern one wiki, and no plan may scan all workspaces.
  foreach workspace in array array(
    select distinct coalesce(k.workspace_id, k.deleted_from) from wikis k where k.wiki_id = any (refuse_under_hold.wikis) order by 1)
  loop
    -- The lock makes a hold that is being set wait for this deletion, and makes later deletions see the hold.
    select w.held_since into held from workspaces w where w.workspace_id = workspace for share of w;
    if held is not null then
      raise exception 'the workspace is under a legal hold' using errcode = 'IBHLD';
    end if;
  end loop;
end $$;

-- Fails a transaction at its end with SQLSTATE IBOWN if it leaves members without an active owner. A workspace may lose all members at once and be deleted.
create function refuse_without_owner() returns trigger language plpgsql security definer set search_path to 'public', 'pg_temp' as $$
declare
  workspace text := case when tg_op = 'INSERT' then new.workspace_id else old.workspace_id end;
begin
  perform from workspaces where workspace_id = workspace for no key update;
  -- The workspace was deleted together with its members.
  if not found then return null; end if;
  if exists (select from memberships where workspace_id = workspace)
    and not exists (select from memberships where workspace_id = workspace and role = 'owner' and status = 'active')
  then
    raise exception 'the workspace would be left without an active owner' using errcode = 'IBOWN';
  end if;
  return null;
end $$;

-- Undoes delete_workspace for an owner; returns false if the workspace is not deleted or can no longer be restored.
create function restore_workspace(workspace text) returns boolean language plpgsql security definer set search_path to 'public', 'pg_temp' as $$
begin
  perform from workspaces w where w.workspace_id = workspace and w.deleted_at > now() - interval '30 days'
    and w.workspace_id in (select d.workspace_id from deleted_workspaces() d) for no key update;
  -- Another owner may have restored it while this call waited for the row.
  if not found then return false; end if;
  update workspaces w set deleted_at = null where w.workspace_id = workspace;
  update memberships m set status = 'active' where m.workspace_id = workspace and m.status = 'suspended';
  update jobs j set run_after = now()
  where j.wiki_id in (select k.wiki_id from wikis k where k.workspace_id = workspace) and j.status = 'queued' and j.run_after = never();
  return true;
end $$;

-- Whether a slug is in use. Slugs are unique in the whole service, including workspaces that the caller cannot see.
create function slug_is_taken(wanted text) returns boolean language sql stable security definer set search_path to 'public', 'pg_temp' as $$
  select exists (select from workspaces where slug = wanted) or exists (select from workspace_slugs where slug = wanted)
$$;

-- Whether pages of this origin may use widget tokens of the workspace; of any workspace if null, because a preflight has no token.
create function widget_origin_is_allowed(origin text, workspace text) returns boolean language sql stable security definer set search_path to 'public', 'pg_temp' as $$
  select exists (select from workspaces where widget_origins @> array[origin collate "C"] and (workspace is null or workspace_id = workspace))
$$;

-- Used by the scheduler of the previous release.
create function wikis_with_old_trash(age interval) returns table(wiki_id text, workspace_id text) language sql stable security definer set search_path to 'public', 'pg_temp' as $$
  select k.wiki_id, k.workspace_id from wikis k join workspaces w on w.workspace_id = k.workspace_id
  where k.wiki_id in (select p.wiki_id from pages p where p.trashed_at < now() - age)
    and w.trash_days is null and purge_horizon(1, w.retention_changed_at, w.held_since) is not null
$$;

-- For the scheduler: wikis whose workspace limits how long revisions are kept.
create function wikis_with_revision_retention() returns table(wiki_id text, workspace_id text) language sql stable security definer set search_path to 'public', 'pg_temp' as $$
  select k.wiki_id, k.workspace_id from workspaces w join wikis k on k.workspace_id = w.workspace_id
  where purge_horizon(w.revision_days, w.retention_changed_at, w.held_since) is not null
$$;

-- For the scheduler: wikis with pages that exceed the trash period of their workspace, or service_days if it has none.
create function wikis_with_trash_to_purge(service_days integer) returns table(wiki_id text, workspace_id text) language sql stable security definer set search_path to 'public', 'pg_temp' as $$
  select k.wiki_id, k.workspace_id from wikis k join workspaces w on w.workspace_id = k.workspace_id
  join (select p.wiki_id, min(p.trashed_at) as oldest from pages p
    -- The shortest period that a workspace can set.
    where p.trashed_at < now() - interval '7 days' group by p.wiki_id) t on t.wiki_id = k.wiki_id
  where t.oldest < purge_horizon(coalesce(w.trash_days, service_days), w.retention_changed_at, w.held_since)
$$;

-- For the scheduler: workspaces that limit how long audit records are kept.
create function workspaces_with_audit_retention() returns table(wiki_id text, workspace_id text) language sql stable security definer set search_path to 'public', 'pg_temp' as $$
  select null::text, w.workspace_id from workspaces w
  where purge_horizon(w.audit_days, w.retention_changed_at, w.held_since) is not null
$$;

-- ---- Billing ----

-- Customers at the payment provider.
create table billing_customers (
  -- Workspace that the customer pays for.
  workspace_id        text collate "C" not null,
  -- Id of the customer at the payment provider.
  customer_id         text collate "C" not null,
  -- Counter of changes to the subscription; requests to the provider have it in their idempotency keys.
  revision            bigint not null default 0,
  -- End of the claim of the process that is changing the subscription, at most 120 seconds ahead; null or past while none does.
  changing_until      timestamp with time zone,
  -- Time when a checkout was last opened; null before the first. For a day after it a payment may still arrive.
  checkout_opened_at  timestamp with time zone,
  -- Time of the request to the provider whose answer subscriptions holds; an older answer is ignored.
  synced_at           timestamp with time zone,
  primary key (workspace_id),
  unique (customer_id),
  foreign key (workspace_id) references workspaces(workspace_id) on delete cascade
);
grant delete, insert, select, update on billing_customers to ibid_service;
alter table billing_customers enable row level security;
create policy of_the_workspaces on billing_customers for all
  using (((workspace_id = any (( select own_workspaces())::text[])) or ( select is_service())));

-- Plans of workspaces: copies of the subscriptions at the payment provider, or plans set by the operator. No row without a plan.
create table subscriptions (
  -- Workspace that has the plan.
  workspace_id          text collate "C" not null,
  -- Id of a plan of the catalogue; the plan may have left the catalogue since.
  plan_id               text collate "C" not null,
  -- Seats that are paid for.
  quantity              integer not null,
  -- Start of the current billing period.
  period_start          timestamp with time zone not null,
  -- End of the current billing period, or the date until which the operator gave the plan.
  period_end            timestamp with time zone not null,
  -- Id of the subscription at the provider; '' for a plan that the operator has set.
  subscription_id       text collate "C" not null default ''::text,
  -- Lower-case ISO 4217 code of the amounts.
  currency              text collate "C" not null default ''::text,
  -- Unpaid rest of the open invoices of the subscription, in minor units of currency.
  amount_due            bigint not null default 0,
  -- Whether the subscription ends with the current period instead of renewing.
  cancel_at_period_end  boolean not null default false,
  -- Creation of the oldest unpaid invoice; null while payments are in order.
  unpaid_since          timestamp with time zone,
  -- End of the grace period after unpaid_since, from which writes are refused; null while payments are in order.
  writes_end_at         timestamp with time zone,
  -- Last message to the owners about unpaid invoices: payment_failed, grace_ending or read_only; '' for none.
  dunning_stage         text collate "C" not null default ''::text,
  primary key (workspace_id),
  check ((period_end > period_start)),
  check ((quantity > 0)),
  foreign key (workspace_id) references workspaces(workspace_id) on delete cascade
);
grant delete, insert, select, update on subscriptions to ibid_service;
alter table subscriptions enable row level security;
create policy of_the_workspaces on subscriptions for all
  using ((workspace_id = any (( select own_workspaces())::text[])));

-- Webhook events of the payment provider, each once. Their content is not trusted: an event only makes the service ask the provider.
create table payment_events (
  -- Id of the event at the provider; a repeated delivery is ignored.
  event_id     text collate "C" not null,
  -- Type of the event as the provider names it.
  type         text collate "C" not null,
  -- Customer that the event is about; see billing_customers.
  customer_id  text collate "C" not null,
  -- Time of the event by the clock of the provider.
  created_at   timestamp with time zone not null,
  -- Time of the first delivery.
  received_at  timestamp with time zone not null default now(),
  primary key (event_id)
);
create index payment_events_by_age on payment_events using btree (received_at);
grant delete, insert, select on payment_events to ibid_service;
alter table payment_events enable row level security;
create policy of_the_service on payment_events for all
  using (( select is_service()));

-- The limits of the plans, copied from the catalogue and the options at each start so that triggers can enforce them.
create table plan_limits (
  -- Id of a plan; '' for the limits of every workspace where its plan states none.
  plan_id  text collate "C" not null,
  -- Limits by name; null as a value means unlimited.
  limits   jsonb not null,
  primary key (plan_id)
);
alter table plan_limits enable row level security;

-- For the scheduler: workspaces whose subscription has to be compared with the provider: daily, or earlier if an event of the provider or a notice to the owners is due.
create function customers_to_sync() returns table(wiki_id text, workspace_id text) language sql stable security definer set search_path to 'public', 'pg_temp' as $$
  select null::text, c.workspace_id from billing_customers c left join subscriptions s on s.workspace_id = c.workspace_id
  where c.synced_at is null or c.synced_at < now() - interval '1 day'
    or (c.checkout_opened_at > now() - interval '1 day' and s.workspace_id is null and c.synced_at < now() - interval '1 minute')
    or (s.subscription_id <> '' and s.period_end <= now() and c.synced_at < now() - interval '10 minutes')
    or (s.writes_end_at <= now() and s.dunning_stage <> 'read_only')
    or (s.writes_end_at <= now() + interval '3 days' and s.dunning_stage = 'payment_failed')
$$;

-- Whether the grace period of an unpaid invoice has ended. Depends on the clock only, so it needs no job.
create function is_read_only(workspace text) returns boolean language sql stable security definer set search_path to 'public', 'pg_temp' as $$
  select exists (select from subscriptions s where s.workspace_id = workspace and s.writes_end_at <= now())
$$;

-- ---- Workspace usage ----

-- Usage deltas, one row per transaction; their sum is the usage of the workspace. Rows of ended transactions are merged into the row with transaction_id 0. No foreign key: checking it would wait for locks of the workspace.
create table workspace_usage (
  -- Workspace whose usage changed.
  workspace_id    text collate "C" not null,
  -- Id of the transaction that wrote the delta; 0 for the merged row.
  transaction_id  bigint not null,
  -- Bytes of revisions, sources, attachments, autosaves, exports, imports and pending upload files.
  bytes           bigint not null default 0,
  -- Pages, including those in the trash.
  pages           bigint not null default 0,
  -- Upload files that are still to be processed.
  files           bigint not null default 0,
  -- Wikis, without deleted ones.
  wikis           bigint not null default 0,
  -- Pending invitations, including expired ones not yet marked as expired.
  invitations     bigint not null default 0,
  -- Workspace keys that are not revoked.
  keys            bigint not null default 0,
  -- Public jobs that are queued or running, see is_open_job.
  jobs            bigint not null default 0,
  -- Time of the last comparison with the actual rows, in the row with transaction_id 0; otherwise the time of the delta.
  counted_at      timestamp with time zone not null default now(),
  primary key (workspace_id, transaction_id),
  trigger deferrable initially deferred
);
create constraint trigger quota after insert on workspace_usage deferrable initially deferred for each row when ((new.transaction_id <> 0)) execute function refuse_above_quota();
grant select on workspace_usage to ibid_service;
alter table workspace_usage enable row level security;
create policy of_the_workspaces on workspace_usage for all
  using ((workspace_id = any (( select own_workspaces())::text[])));

-- Counts active members for the migration, which may wait for the transaction of a joining member.
create function active_members_of(workspace text) returns integer language plpgsql security definer set search_path to 'public', 'pg_temp' as $$
begin
  -- A separate statement sees rows committed while the calling statement waited for the row of the workspace.
  return (select count(*) from memberships m where m.workspace_id = workspace and m.status = 'active');
end $$;

-- Computes the usage of a workspace from its rows. The counts must equal it.
create function actual_usage(workspace text) returns table(bytes bigint, pages bigint, files bigint, wikis bigint, invitations bigint, keys bigint, jobs bigint) language sql stable security definer set search_path to 'public', 'pg_temp' as $$
  with mine as (
    select k.wiki_id from wikis k where k.workspace_id = workspace or (k.workspace_id is null and k.deleted_from = workspace)
  ), uploaded as (
    select coalesce(sum(upload_file_bytes(f.status, f.kind, f.sha256, f.byte_size)), 0)::bigint as bytes,
      count(*) filter (where f.kind = 'file' and f.status = 'pending') as files
    from upload_files f where f.wiki_id in (select wiki_id from mine)
  )
  select u.bytes
      + coalesce((select sum(coalesce(r.unpacked_bytes, octet_length(r.markdown) + octet_length(r.html))) from revisions r where r.wiki_id in (select wiki_id from mine)), 0)::bigint
      + coalesce((select sum(s.byte_size) from sources s where s.wiki_id in (select wiki_id from mine)), 0)::bigint
      + coalesce((select sum(a.byte_size) from attachments a where a.wiki_id in (select wiki_id from mine)), 0)::bigint
      + coalesce((select sum(d.byte_size) from autosaves d where d.wiki_id in (select wiki_id from mine)), 0)::bigint
      + coalesce((select sum(e.byte_size) from exports e where e.wiki_id in (select wiki_id from mine)), 0)::bigint
      + coalesce((select sum(i.byte_size) from imports i where i.wiki_id in (select wiki_id from mine)), 0)::bigint,
    (select count(*) from pages p where p.wiki_id in (select wiki_id from mine)),
    u.files,
    (select count(*) from wikis k where k.workspace_id = workspace),
    (select count(*) from invitations i where i.workspace_id = workspace and i.state = 'pending'),
    (select count(*) from api_keys k where k.workspace_id = workspace and k.revoked_at is null),
    (select count(*) from jobs j where j.wiki_id in (select wiki_id from mine) and is_open_job(j.status, j.kind))
  from uploaded u
$$;

-- Adds to this transaction's usage delta of a workspace.
create function add_usage(workspace text, bytes bigint default 0, pages bigint default 0, files bigint default 0, wikis bigint default 0, invitations bigint default 0, keys bigint default 0, jobs bigint default 0) returns void language plpgsql security definer set search_path to 'public', 'pg_temp' as $$
begin
  if workspace is null or ($2, $3, $4, $5, $6, $7, $8) = (0, 0, 0, 0, 0, 0, 0) then return; end if;
  insert into workspace_usage as u values (workspace, pg_current_xact_id()::text::bigint, $2, $3, $4, $5, $6, $7, $8)
  on conflict on constraint workspace_usage_pkey do update set
    bytes = u.bytes + excluded.bytes, pages = u.pages + excluded.pages, files = u.files + excluded.files,
    wikis = u.wikis + excluded.wikis, invitations = u.invitations + excluded.invitations, keys = u.keys + excluded.keys,
    jobs = u.jobs + excluded.jobs;
end $$;

-- Adds to this transaction's usage delta of the workspace of a wiki, including a deleted wiki.
create function add_wiki_usage(wiki text, bytes bigint default 0, pages bigint default 0, files bigint default 0, jobs bigint default 0) returns void language plpgsql security definer set search_path to 'public', 'pg_temp' as $$
begin
  if ($2, $3, $4, $5) = (0, 0, 0, 0) then return; end if;
  perform add_usage(coalesce(k.workspace_id, k.deleted_from), $2, $3, $4, jobs => $5) from wikis k
  where k.wiki_id = wiki
    and (k.workspace_id is not null or exists (select from workspaces w where w.workspace_id = k.deleted_from));
end $$;

-- Trigger function of memberships: maintains workspaces.active_members.
create function change_active_members() returns trigger language plpgsql security definer set search_path to 'public', 'pg_temp' as $$
declare
  changed jsonb := '{}';
begin
  -- One update per workspace for all rows of a statement.
  if tg_op <> 'DELETE' then
    select coalesce(jsonb_object_agg(n.workspace_id, n.members), '{}') into changed
    from (select a.workspace_id, count(*) as members from added a where a.status = 'active' group by 1) n;
  end if;
  if tg_op <> 'INSERT' then
    select changed || coalesce(jsonb_object_agg(n.workspace_id, coalesce((changed ->> n.workspace_id)::int, 0) - n.members), '{}')
    into changed
    from (select r.workspace_id, count(*) as members from removed r where r.status = 'active' group by 1) n;
  end if;
  update workspaces w set active_members = w.active_members + (changed ->> w.workspace_id)::int
  where w.workspace_id in (select c.key from jsonb_each_text(changed) c where c.value <> '0');
  return null;
end $$;

-- Recounts the usage of a workspace from its rows and corrects it. Returns the differences by name.
create function correct_usage(workspace text, out drift jsonb) returns jsonb language plpgsql security definer set search_path to 'public', 'pg_temp' as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('correct usage of ' || workspace, 0));
  -- A single statement sees rows and counts at the same moment, so concurrent writes do not matter.
  with counted as (
    select coalesce(sum(u.bytes), 0)::bigint as bytes, coalesce(sum(u.pages), 0)::bigint as pages,
      coalesce(sum(u.files), 0)::bigint as files, coalesce(sum(u.wikis), 0)::bigint as wikis,
      coalesce(sum(u.invitations), 0)::bigint as invitations, coalesce(sum(u.keys), 0)::bigint as keys,
      coalesce(sum(u.jobs), 0)::bigint as jobs
    from workspace_usage u where u.workspace_id = workspace
  ), missing as (
    select a.bytes - c.bytes as bytes, a.pages - c.pages as pages, a.files - c.files as files, a.wikis - c.wikis as wikis,
      a.invitations - c.invitations as invitations, a.keys - c.keys as keys, a.jobs - c.jobs as jobs
    from counted c, actual_usage(workspace) a
  ), corrected as (
    insert into workspace_usage as u
    select workspace, 0, m.bytes, m.pages, m.files, m.wikis, m.invitations, m.keys, m.jobs from missing m
    on conflict (workspace_id, transaction_id) do update set counted_at = now(),
      bytes = u.bytes + excluded.bytes, pages = u.pages + excluded.pages, files = u.files + excluded.files,
      wikis = u.wikis + excluded.wikis, invitations = u.invitations + excluded.invitations, keys = u.keys + excluded.keys,
      jobs = u.jobs + excluded.jobs
  )
  select coalesce(jsonb_object_agg(d.key, d.value), '{}') into drift
  from missing m, jsonb_each(to_jsonb(m)) d where d.value <> '0';
end $$;

create function count_invitations() returns trigger language plpgsql security definer set search_path to 'public', 'pg_temp' as $$
begin
  if tg_op = 'INSERT' then
    perform add_usage(r.workspace_id, invitations => count(*)) from new_rows r where r.state = 'pending' group by r.workspace_id;
  elsif tg_op = 'DELETE' then
    perform add_usage(r.workspace_id, invitations => -count(*)) from old_rows r where r.state = 'pending' group by r.workspace_id;
  else
    perform add_usage(r.workspace_id, invitations => sum(r.sign)::bigint)
    from (
      select 1 as sign, workspace_id from new_rows where state = 'pending'
      union all select -1, workspace_id from old_rows where state = 'pending'
    ) r group by r.workspace_id having sum(r.sign) <> 0;
  end if;
  return null;
end $$;

create function count_jobs() returns trigger language plpgsql security definer set search_path to 'public', 'pg_temp' as $$
begin
  if tg_op = 'INSERT' then
    perform add_wiki_usage(r.wiki_id, jobs => count(*)) from new_rows r where is_open_job(r.status, r.kind) group by r.wiki_id;
  elsif tg_op = 'DELETE' then
    perform add_wiki_usage(r.wiki_id, jobs => -count(*)) from old_rows r where is_open_job(r.status, r.kind) group by r.wiki_id;
  else
    perform add_wiki_usage(r.wiki_id, jobs => sum(r.sign)::bigint)
    from (
      select 1 as sign, wiki_id from new_rows where is_open_job(status, kind)
      union all select -1, wiki_id from old_rows where is_open_job(status, kind)
    ) r group by r.wiki_id having sum(r.sign) <> 0;
  end if;
  return null;
end $$;

create function count_keys() returns trigger language plpgsql security definer set search_path to 'public', 'pg_temp' as $$
begin
  if tg_op = 'INSERT' then
    perform add_usage(r.workspace_id, keys => count(*)) from new_rows r where r.revoked_at is null group by r.workspace_id;
  elsif tg_op = 'DELETE' then
    perform add_usage(r.workspace_id, keys => -count(*)) from old_rows r where r.revoked_at is null group by r.workspace_id;
  else
    perform add_usage(r.workspace_id, keys => sum(r.sign)::bigint)
    from (
      select 1 as sign, workspace_id from new_rows where revoked_at is null
      union all select -1, workspace_id from old_rows where revoked_at is null
    ) r group by r.workspace_id having sum(r.sign) <> 0;
  end if;
  return null;
end $$;

create function count_pages() returns trigger language plpgsql security definer set search_path to 'public', 'pg_temp' as $$
begin
  if tg_op = 'INSERT' then
    perform add_wiki_usage(r.wiki_id, pages => count(*)) from new_rows r group by r.wiki_id;
  else
    perform add_wiki_usage(r.wiki_id, pages => -count(*)) from old_rows r group by r.wiki_id;
  end if;
  return null;
end $$;

create function count_revisions() returns trigger language plpgsql security definer set search_path to 'public', 'pg_temp' as $$
begin
  if tg_op = 'INSERT' then
    perform add_wiki_usage(r.wiki_id, sum(octet_length(r.markdown) + octet_length(r.html))::bigint)
    from new_rows r group by r.wiki_id;
  else
    perform add_wiki_usage(r.wiki_id, -sum(coalesce(r.unpacked_bytes, octet_length(r.markdown) + octet_length(r.html)))::bigint)
    from old_rows r group by r.wiki_id;
  end if;
  return null;
end $$;

-- Trigger function of tables that reference a stored file and contain its byte_size.
create function count_stored_files() returns trigger language plpgsql security definer set search_path to 'public', 'pg_temp' as $$
begin
  if tg_op = 'INSERT' then
    perform add_wiki_usage(r.wiki_id, sum(r.byte_size)::bigint) from new_rows r group by r.wiki_id;
  elsif tg_op = 'DELETE' then
    perform add_wiki_usage(r.wiki_id, -sum(r.byte_size)::bigint) from old_rows r group by r.wiki_id;
  else
    perform add_wiki_usage(r.wiki_id, sum(r.byte_size)::bigint)
    from (select wiki_id, byte_size from new_rows union all select wiki_id, -byte_size from old_rows) r group by r.wiki_id;
  end if;
  return null;
end $$;

create function count_upload_files() returns trigger language plpgsql security definer set search_path to 'public', 'pg_temp' as $$
begin
  if tg_op = 'INSERT' then
    perform add_wiki_usage(r.wiki_id, sum(upload_file_bytes(r.status, r.kind, r.sha256, r.byte_size))::bigint,
      files => count(*) filter (where r.kind = 'file' and r.status = 'pending'))
    from new_rows r group by r.wiki_id;
  elsif tg_op = 'DELETE' then
    perform add_wiki_usage(r.wiki_id, -sum(upload_file_bytes(r.status, r.kind, r.sha256, r.byte_size))::bigint,
      files => -count(*) filter (where r.kind = 'file' and r.status = 'pending'))
    from old_rows r group by r.wiki_id;
  else
    perform add_wiki_usage(r.wiki_id, sum(r.sign * upload_file_bytes(r.status, r.kind, r.sha256, r.byte_size))::bigint,
      files => coalesce(sum(r.sign) filter (where r.kind = 'file' and r.status = 'pending'), 0)::bigint)
    from (
      select 1 as sign, wiki_id, status, kind, sha256, byte_size from new_rows
      union all select -1, wiki_id, status, kind, sha256, byte_size from old_rows
    ) r group by r.wiki_id;
  end if;
  return null;
end $$;

create function count_wikis() returns trigger language plpgsql security definer set search_path to 'public', 'pg_temp' as $$
begin
  if tg_op = 'INSERT' then
    perform add_usage(r.workspace_id, wikis => count(*)) from new_rows r group by r.workspace_id;
  elsif tg_op = 'DELETE' then
    perform add_usage(r.workspace_id, wikis => -count(*)) from old_rows r group by r.workspace_id;
  else
    perform add_usage(r.workspace_id, wikis => sum(r.sign)::bigint)
    from (select 1 as sign, workspace_id from new_rows union all select -1, workspace_id from old_rows) r
    group by r.workspace_id having sum(r.sign) <> 0;
  end if;
  return null;
end $$;

-- merge_usage for the job that merges.
create function merge_ended_usage(batch integer) returns bigint language sql security definer set search_path to 'public', 'pg_temp' as $$
  select case when is_service() then merge_usage(batch) else 0 end
$$;

-- Merges up to batch rows of ended transactions; returns their number.
create function merge_usage(batch integer) returns bigint language sql security definer set search_path to 'public', 'pg_temp' as $$
  with ended as (
    delete from workspace_usage u where (u.workspace_id, u.transaction_id) in (
      select o.workspace_id, o.transaction_id from workspace_usage o where o.transaction_id <> 0 limit batch for update skip locked)
    returning u.*
  ), merged as (
    insert into workspace_usage as u
    select e.workspace_id, 0, sum(e.bytes), sum(e.pages), sum(e.files), sum(e.wikis), sum(e.invitations), sum(e.keys), sum(e.jobs)
    from ended e group by e.workspace_id order by e.workspace_id
    on conflict (workspace_id, transaction_id) do update set
      bytes = u.bytes + excluded.bytes, pages = u.pages + excluded.pages, files = u.files + excluded.files,
      wikis = u.wikis + excluded.wikis, invitations = u.invitations + excluded.invitations, keys = u.keys + excluded.keys,
      jobs = u.jobs + excluded.jobs
  )
  select count(*) from ended
$$;

-- correct_usage for callers who can see the workspace.
create function recount_usage(workspace text) returns jsonb language sql security definer set search_path to 'public', 'pg_temp' as $$
  select case when workspace = any ((select own_workspaces())::text[]) then correct_usage(workspace) end
$$;

-- Fails a transaction at its end with SQLSTATE IBQUO if it raises the usage of a workspace above a limit. Usage already above a limit may stay or shrink.
create function refuse_above_quota() returns trigger language plpgsql security definer set search_path to 'public', 'pg_temp' as $$
declare
  change jsonb;
  exceeded record;
begin
  select to_jsonb(u) into change from workspace_usage u
  where u.workspace_id = new.workspace_id and u.transaction_id = new.transaction_id;
  -- Far below the limit, skip the lock for small changes: the remaining 10 % covers concurrent changes that are not
  -- visible yet.
  if not exists (
    select from usage_and_limits(new.workspace_id) q
    where (change ->> q.name)::bigint > 0
      and (q.used > q.allowed - q.allowed / 10 or (change ->> q.name)::bigint > q.allowed / 1000)
  ) then
    return null;
  end if;
  -- The trigger runs at the end of the transaction, so the lock is only held for the commit. The next read includes
  -- changes committed while this transaction waited.
  perform pg_advisory_xact_lock(hashtextextended('quota of ' || new.workspace_id, 0));
  select q.name, q.used, q.allowed into exceeded from usage_and_limits(new.workspace_id) q
  where (change ->> q.name)::bigint > 0 and q.used > q.allowed limit 1;
  if found then
    raise exception 'a limit of the workspace is exceeded' using errcode = 'IBQUO', detail = to_jsonb(exceeded)::text;
  end if;
  return null;
end $$;

-- Fails with SQLSTATE IBSEA if active members and pending invitations of a workspace would exceed its seats. Existing members stay if seats are removed. An expired invitation takes no seat.
create function refuse_above_seats() returns trigger language plpgsql security definer set search_path to 'public', 'pg_temp' as $$
declare
  seats workspaces;
  active int;
  pending int;
  took_over boolean := false;
begin
  if tg_table_name = 'memberships' then
    if new.status <> 'active' then return null; end if;
    if tg_op = 'UPDATE' then
      if old.status = 'active' and old.workspace_id = new.workspace_id then return null; end if;
    end if;
  else
    if new.state <> 'pending' or new.expires_at <= now() then return null; end if;
    if tg_op = 'UPDATE' then
      if old.state = 'pending' and old.expires_at > now() and old.workspace_id = new.workspace_id then return null; end if;
    end if;
  end if;

  select * into seats from workspaces where workspace_id = new.workspace_id for no key update;
  if not found or seats.seats_unlimited or seats.seats_overage then return null; end if;
  -- Separate statements see rows committed while this one waited for the lock.
  select count(*) into active from memberships where workspace_id = new.workspace_id and status = 'active';
  select count(*) into pending from invitations
  where workspace_id = new.workspace_id and state = 'pending' and expires_at > now();
  if tg_table_name = 'memberships' and tg_op = 'INSERT' then
    -- Accepting an invitation takes over its seat, even if seats were removed since. Rows written by this transaction
    -- are recognized by its id.
    took_over := (
      select count(*) from memberships
      where workspace_id = new.workspace_id and status = 'active' and xmin = pg_current_xact_id()::xid
    ) <= (
      select count(*) from invitations
      where workspace_id = new.workspace_id and state = 'accepted' and xmin = pg_current_xact_id()::xid
    );
  end if;
  if active > seats.seats_granted or (active + pending > seats.seats_granted and not took_over) then
    raise exception 'all seats of the workspace are taken' using errcode = 'IBSEA';
  end if;
  return null;
end $$;

-- Bytes of an upload file that count towards the quota: from its announcement until it becomes a source or its bytes are given up.
create function upload_file_bytes(status text, kind text, sha256 text, byte_size bigint) returns bigint language sql immutable parallel safe as $$
  select case when kind = 'file' and (status = 'pending' or (status = 'failed' and sha256 <> '')) then byte_size else 0 end
$$;

-- Usage and limit of each quota of a workspace; a null limit means unlimited.
create function usage_and_limits(workspace text) returns table(name text, used bigint, allowed bigint) language plpgsql stable security definer set search_path to 'public', 'pg_temp' as $$
begin
  return query with sums as (
    select coalesce(sum(u.bytes), 0)::bigint as bytes, coalesce(sum(u.pages), 0)::bigint as pages,
      coalesce(sum(u.files), 0)::bigint as files, coalesce(sum(u.wikis), 0)::bigint as wikis,
      coalesce(sum(u.invitations), 0)::bigint as invitations, coalesce(sum(u.keys), 0)::bigint as keys,
      coalesce(sum(u.jobs), 0)::bigint as jobs
    from workspace_usage u where u.workspace_id = workspace
  ), effective as (
    select coalesce((select p.limits from plan_limits p where p.plan_id = ''), '{}')
      || coalesce((select p.limits from subscriptions s join plan_limits p on p.plan_id = s.plan_id
        where s.workspace_id = workspace and s.plan_id <> ''), '{}')
      || coalesce((select c.limits from workspace_controls c where c.workspace_id = workspace), '{}') as limits
  )
  select n.name, n.used, (a.limits ->> n.name)::bigint
  from sums u cross join effective a cross join lateral (values
    ('bytes', u.bytes), ('pages', u.pages), ('files', u.files), ('wikis', u.wikis), ('invitations', u.invitations),
    ('keys', u.keys), ('jobs', u.jobs)) n (name, used);
end $$;

-- usage_and_limits for callers who can see the workspace.
create function usage_of(workspace text) returns table(name text, used bigint, allowed bigint) language sql stable security definer set search_path to 'public', 'pg_temp' as $$
  select q.name, q.used, q.allowed from usage_and_limits(workspace) q
  where (select is_service()) or workspace = any ((select own_workspaces())::text[])
$$;

-- For /metrics: the sums over all workspaces under the id '', and the workspaces with the most bytes.
create function usage_of_all(top integer) returns table(workspace_id text, name text, used bigint) language sql stable security definer set search_path to 'public', 'pg_temp' as $$
  with sums as (
    select u.workspace_id, sum(u.bytes)::bigint as bytes, sum(u.pages)::bigint as pages, sum(u.files)::bigint as files,
      sum(u.wikis)::bigint as wikis, sum(u.invitations)::bigint as invitations, sum(u.keys)::bigint as keys,
      sum(u.jobs)::bigint as jobs
    from workspace_usage u where (select is_service()) group by u.workspace_id
  ), everything as (
    select '' as workspace_id, sum(bytes)::bigint, sum(pages)::bigint, sum(files)::bigint, sum(wikis)::bigint,
      sum(invitations)::bigint, sum(keys)::bigint, sum(jobs)::bigint from sums
    union all (select * from sums order by bytes desc, workspace_id limit top)
  )
  select e.workspace_id, n.name, n.used
  from everything e (workspace_id, bytes, pages, files, wikis, invitations, keys, jobs) cross join lateral (values
    ('bytes', e.bytes), ('pages', e.pages), ('files', e.files), ('wikis', e.wikis), ('invitations', e.invitations),
    ('keys', e.keys), ('jobs', e.jobs)) n (name, used)
  where n.used is not null
$$;

-- For the scheduler: workspaces whose usage was last compared with the actual rows longer ago than age.
create function workspaces_to_recount(age interval) returns table(wiki_id text, workspace_id text) language sql stable security definer set search_path to 'public', 'pg_temp' as $$
  select null::text, u.workspace_id from workspace_usage u join workspaces w on w.workspace_id = u.workspace_id
  where u.transaction_id = 0 and u.counted_at < now() - age
$$;

-- ---- Wikis ----

-- Wikis. Each belongs to one workspace, which determines row-level security.
create table wikis (
  -- Id of the form wiki_…; part of the key of everything that the wiki holds.
  wiki_id              text collate "C" not null,
  -- Workspace that owns the wiki; null once the wiki was deleted, until a worker has removed its content.
  workspace_id         text collate "C",
  -- Name in addresses, unique in the workspace; derived from the title unless chosen.
  slug                 text collate "C" not null,
  -- Display name; the first wiki of a workspace is named after it.
  title                text collate "C" not null,
  -- Text for lists, from the form that creates or renames the wiki; '' for none.
  description          text collate "C" not null default ''::text,
  -- User who created the wiki; no foreign key.
  created_by           text collate "C" not null,
  -- Start of the transaction that wrote the row.
  created_at           timestamp with time zone not null default now(),
  -- Former workspace of a deleted wiki, whose quota its content counts towards until it is removed.
  deleted_from         text collate "C",
  -- Path of the website that the root of an uploaded folder stands for, with a slash at both ends; null if absolute links start at the root of the upload.
  site_root            text collate "C",
  -- Changes with each transaction that adds, removes, moves or renames a page or changes its status; the triggers of pages write it, and ETags of the tree use it.
  tree_version         text collate "C" not null default ''::text,
  -- Page shown at the address of the wiki; null for the list of recent changes. Ignored if the page is gone or the reader may not see it.
  home_page_id         text collate "C",
  -- Revisions replaced before this time that exceed revision_days were purged; null before the first run.
  revisions_purged_to  timestamp with time zone,
  -- Time when the revisions of all pages were last checked, because a purge skips a revision while a draft needs it; null before.
  revisions_walked_at  timestamp with time zone,
  -- Revisions that were replaced before this time are packed; null to check all of them.
  revisions_packed_to  timestamp with time zone,
  -- Time when the wiki was put into the trash of deleted_from; null for a live wiki and for a wiki whose content is being removed.
  deleted_at           timestamp with time zone,
  -- Highest number of a restriction that the wiki ever had; 0 if no page was ever restricted.
  acls                 integer not null default 0,
  -- Changes with every source of a restricted page that is added, removed or moved to another restriction. Caches of the hidden sources are named by it.
  sources_version      integer not null default 0,
  primary key (wiki_id),
  foreign key (workspace_id) references workspaces(workspace_id) on delete cascade
);
create index wikis_by_trash on wikis using btree (deleted_from, wiki_id) where (workspace_id is null);
create index wikis_deleted on wikis using btree (wiki_id) where (workspace_id is null);
create unique index wikis_by_slug on wikis using btree (workspace_id, slug) where (workspace_id is not null);
create trigger legal_hold before delete on wikis for each row execute function refuse_deletion_of_wiki_under_hold();
create trigger legal_hold_of_workspace before update of workspace_id on wikis for each row when (((new.workspace_id is null) and (old.workspace_id is not null))) execute function refuse_deletion_of_wiki_under_hold();
create trigger usage_on_delete after delete on wikis referencing old table as old_rows for each statement execute function count_wikis();
create trigger usage_on_insert after insert on wikis referencing new table as new_rows for each statement execute function count_wikis();
create trigger usage_on_update after update on wikis referencing old table as old_rows new table as new_rows for each statement execute function count_wikis();
grant delete, insert, select, update on wikis to ibid_service;
alter table wikis enable row level security;
create policy of_the_workspaces on wikis for all
  using (((workspace_id = any (( select own_workspaces())::text[])) or ((workspace_id is null) and (wiki_id = ( select own_wiki())))));

-- Wikis of the workspaces in which the caller is an active member.
create function caller_wikis() returns text[] language sql stable security definer set search_path to 'public', 'pg_temp' as $$
  select array(select k.wiki_id from wikis k where k.workspace_id = any ((select own_workspaces())::text[]))
$$;

-- For the scheduler: wikis whose content is to be removed now, after 30 days in the trash or a permanent deletion. Excludes workspaces under a legal hold.
create function deleted_wikis() returns table(wiki_id text, workspace_id text) language sql stable security definer set search_path to 'public', 'pg_temp' as $$
  select k.wiki_id, k.workspace_id from wikis k left join workspaces w on w.workspace_id = k.deleted_from
  where k.workspace_id is null and w.held_since is null
    and (k.deleted_at is null or w.workspace_id is null or k.deleted_at < now() - interval '30 days 5 minutes')
$$;

-- Schedules the content of a wiki in the trash for removal now; returns false if the wiki is not in the trash. Fails with IBHLD under a legal hold. The application must check that wikis_in_trash contains the wiki.
create function purge_wiki(wiki text) returns boolean language plpgsql security definer set search_path to 'public', 'pg_temp' as $$
declare
  held timestamptz;
begin
  update wikis k set deleted_at = null from workspaces w
  where k.wiki_id = wiki and w.workspace_id = k.deleted_from and w.workspace_id = any (own_workspaces())
    and k.workspace_id is null and k.deleted_at is not null
  returning w.held_since into held;
  if not found then return false; end if;
  if held is not null then
    raise exception 'the workspace is under a legal hold' using errcode = 'IBHLD';
  end if;
  return true;
end $$;

-- Trigger function of wikis: refuses a deletion under a legal hold. A deletion has two steps; the first clears the workspace.
create function refuse_deletion_of_wiki_under_hold() returns trigger language plpgsql security definer set search_path to 'public', 'pg_temp' as $$
begin
  perform refuse_under_hold(array[old.wiki_id]);
  return case when tg_op = 'DELETE' then old else new end;
end $$;

-- Restores a wiki from the trash with the first free slug among the candidates, and returns the slug; '' if none is free, null if the wiki is not in the trash. Resumes its jobs. The application must check that wikis_in_trash contains the wiki.
create function restore_wiki(wiki text, candidates text[]) returns text language plpgsql security definer set search_path to 'public', 'pg_temp' as $$
declare
  home text;
  free text;
begin
  select k.deleted_from into home from wikis k
  where k.wiki_id = wiki and k.workspace_id is null and k.deleted_at is not null and k.deleted_from = any (own_workspaces())
  for update;
  if not found then return null; end if;
  select c.slug into free from unnest(candidates) with ordinality c (slug, place)
  where not exists (select from wikis k where k.workspace_id = home and k.slug = c.slug) order by c.place limit 1;
  update wikis k set workspace_id = home, slug = free, deleted_from = null, deleted_at = null where k.wiki_id = wiki;
  update jobs j set run_after = now() where j.wiki_id = wiki and j.status = 'queued' and j.run_after = never();
  return free;
exception when unique_violation or not_null_violation then
  -- A concurrent transaction took the slug.
  return '';
end $$;

-- Deleted wikis of a workspace visible to the caller that can be restored. The application decides which members may see them.
create function wikis_in_trash(workspace text) returns table(wiki_id text, slug text, title text, description text, created_by text, deleted_at timestamp with time zone, purged_after timestamp with time zone) language sql stable security definer set search_path to 'public', 'pg_temp' as $$
  select k.wiki_id, k.slug, k.title, k.description, k.created_by, k.deleted_at, k.deleted_at + interval '30 days'
  from wikis k join workspaces w on w.workspace_id = k.deleted_from
  where k.workspace_id is null and k.deleted_from = workspace and workspace = any (own_workspaces())
    and (k.deleted_at > now() - interval '30 days' or (k.deleted_at is not null and w.held_since is not null))
$$;

-- ---- Jobs ----

-- Public jobs of wikis: both queue and record. (attempt, worker_id) identifies the run.
create table jobs (
  -- Wiki that the job works on; one job of a wiki runs at a time.
  wiki_id       text collate "C" not null,
  -- Id of the form job_….
  job_id        text collate "C" not null,
  -- Upload that an ingest job reads; null for the other kinds.
  upload_id     text collate "C",
  -- ingest reads an upload, import and export move a wiki, reindex rebuilds the search index. compile is reserved.
  kind          text collate "C" not null,
  -- queued also between attempts. cancelled: by a person, or because the wiki was removed.
  status        text collate "C" not null default 'queued'::text,
  -- Number of claims so far; a worker whose number is outdated has lost the job.
  attempt       integer not null default 0,
  -- Attempts that were claimed since the last progress; they decide the pause and when to give up.
  failures      integer not null default 0,
  -- Percentage done, from 0 to 100.
  progress      integer not null default 0,
  -- Sentence for people about the result; '' until the job ended.
  summary       text collate "C" not null default ''::text,
  -- "code: message" of the last failed attempt, cleared by progress; '' for none.
  error         text collate "C" not null default ''::text,
  -- Earliest start of the next attempt; never() while the wiki or workspace is deleted.
  run_after     timestamp with time zone not null default now(),
  -- Time when the job was enqueued.
  created_at    timestamp with time zone not null default now(),
  -- Time of the last claim, progress, cancellation or end.
  updated_at    timestamp with time zone not null default now(),
  -- Time of the first claim; null before.
  started_at    timestamp with time zone,
  -- Time when the job completed, failed or was cancelled; null before.
  finished_at   timestamp with time zone,
  -- Worker that runs the attempt, see workers; null while no one does.
  worker_id     text collate "C",
  -- Workspace of the wiki, written by a trigger so that claims need no join; '' for jobs that ended before the column existed.
  workspace_id  text collate "C" not null default ''::text,
  primary key (wiki_id, job_id),
  check ((failures >= 0)),
  check ((kind = any (array['ingest'::text, 'compile'::text, 'import'::text, 'export'::text, 'reindex'::text]))),
  check (((progress >= 0) and (progress <= 100))),
  check ((status = any (array['queued'::text, 'running'::text, 'completed'::text, 'failed'::text, 'cancelled'::text]))),
  foreign key (wiki_id) references wikis(wiki_id) on delete cascade
);
create index jobs_by_upload on jobs using btree (wiki_id, upload_id);
create index jobs_open on jobs using btree (wiki_id, job_id) where (status = any (array['queued'::text, 'running'::text]));
create index jobs_queued on jobs using btree (kind, run_after, job_id) where (status = 'queued'::text);
create index jobs_queued_by_workspace on jobs using btree (kind, workspace_id, run_after, job_id) where (status = 'queued'::text);
create unique index jobs_started on jobs using btree (wiki_id) where ((status = any (array['queued'::text, 'running'::text])) and (started_at is not null));
create trigger usage_on_delete after delete on jobs referencing old table as old_rows for each statement execute function count_jobs();
create trigger usage_on_insert after insert on jobs referencing new table as new_rows for each statement execute function count_jobs();
create trigger usage_on_update after update on jobs referencing old table as old_rows new table as new_rows for each statement execute function count_jobs();
create trigger workspace before insert on jobs for each row execute function set_workspace_of_job();
grant delete, insert, select, update on jobs to ibid_service;
alter table jobs enable row level security;
create policy of_the_wiki on jobs for all
  using ((((wiki_id = ( select own_wiki())) and ((not ( select restricts())) or ((not (exists ( select from hidden_uploads h where ((h.wiki_id = jobs.wiki_id) and (h.upload_id = jobs.upload_id)) offset 0))) and (not (exists ( select from transfers_of_others o where ((o.wiki_id = jobs.wiki_id) and (o.job_id = jobs.job_id)) offset 0)))))) or ( select is_service())));

-- Jobs without a public record: mail, maintenance, the search index. A job is deleted when it succeeds, and stays as failed (dead letter) when its attempts are used up.
create table background_jobs (
  -- Random UUID.
  job_id        text collate "C" not null default gen_random_uuid(),
  -- Name of a job definition (src/**/*.job.ts).
  name          text collate "C" not null,
  -- Pool of slots that the job runs in (src/platform/jobs/define-job.ts).
  lane          text collate "C" not null,
  -- Dedupes jobs of the same name: at most one is queued and one is running per key.
  key           text collate "C" not null,
  -- Workspace that the job works for, also for jobs of a wiki; null for a user or the service.
  workspace_id  text collate "C",
  -- Wiki that the job works for; null for any other job.
  wiki_id       text collate "C",
  -- User that the job works for; null for any other job.
  user_id       text collate "C",
  -- Parameters, checked against the schema of the job definition.
  input         jsonb not null default '{}'::jsonb,
  -- failed: attempts are used up; an operator can retry the job.
  status        text collate "C" not null default 'queued'::text,
  -- Number of claims so far; a worker whose number is outdated has lost the job.
  attempt       integer not null default 0,
  -- Attempts that count against the limit of the definition.
  failures      integer not null default 0,
  -- Message of the last failed attempt; '' for none.
  error         text collate "C" not null default ''::text,
  -- Worker that runs the attempt, see workers; null while no one does.
  worker_id     text collate "C",
  -- Earliest start of the next attempt.
  run_after     timestamp with time zone not null default now(),
  -- Time when the job was enqueued.
  created_at    timestamp with time zone not null default now(),
  -- Time of the last claim or change of status.
  updated_at    timestamp with time zone not null default now(),
  -- Number of processes in a row that died while they ran the job.
  crashes       smallint not null default 0,
  primary key (job_id),
  check ((failures >= 0)),
  check ((status = any (array['queued'::text, 'running'::text, 'failed'::text]))),
  foreign key (user_id) references users(user_id) on delete cascade,
  foreign key (wiki_id) references wikis(wiki_id) on delete cascade,
  foreign key (workspace_id) references workspaces(workspace_id) on delete cascade
);
create index background_jobs_of_user on background_jobs using btree (user_id) where (user_id is not null);
create index background_jobs_of_wiki on background_jobs using btree (wiki_id) where (wiki_id is not null);
create index background_jobs_of_workspace on background_jobs using btree (workspace_id) where (workspace_id is not null);
create index background_jobs_queued_by_workspace on background_jobs using btree (lane, coalesce(workspace_id, ''::text), run_after) where (status = 'queued'::text);
create index background_jobs_waiting on background_jobs using btree (lane, run_after) where (status = 'queued'::text);
create unique index background_jobs_queued on background_jobs using btree (name, key) where (status = 'queued'::text);
create unique index background_jobs_running on background_jobs using btree (name, key) where (status = 'running'::text);
grant delete, insert, select, update on background_jobs to ibid_service;
alter table background_jobs enable row level security;
create policy of_the_service on background_jobs for all
  using (( select is_service()));
create policy tenants_add on background_jobs for insert
  with check ((((wiki_id is not null) or (workspace_id is not null) or (user_id is not null)) and ((wiki_id is null) or (wiki_id = ( select own_wiki()))) and ((workspace_id is null) or (workspace_id = any (( select own_workspaces())::text[]))) and ((user_id is null) or (user_id = ( select own_user())))));

-- Recurring jobs of the service. The process that advances due_at enqueues the job, so only one does.
create table schedules (
  -- Name of the job definition.
  name    text collate "C" not null,
  -- Next time at which the job is enqueued.
  due_at  timestamp with time zone not null,
  primary key (name)
);
grant delete, insert, select, update on schedules to ibid_service;

-- One row per process that runs jobs. Jobs whose worker has no row, or an expired one, are requeued.
create table workers (
  -- Random id that a process takes at its start.
  worker_id    text collate "C" not null,
  -- End of the lease, 10 seconds after the last heartbeat.
  alive_until  timestamp with time zone not null,
  primary key (worker_id)
);
grant delete, insert, select, update on workers to ibid_service;

-- Whether a job counts towards the quota; jobs that the service creates by itself do not.
create function is_open_job(status text, kind text) returns boolean language sql immutable parallel safe as $$
  select status in ('queued', 'running') and kind <> 'reindex'
$$;

-- Returns up to five jobs for the queue, across all workspaces: jobs of the workspaces with the fewest running jobs, oldest first. If five of the fifty oldest jobs of each kind belong to idle workspaces, returns these. A workspace with a job_share of 2 counts half its running jobs. only_idle_workspaces: only jobs of workspaces without counted running jobs. Excludes paused workspaces, and wikis in which another job has started.
create function jobs_to_claim(any_of text[], only_idle_workspaces boolean) returns table(wiki_id text, job_id text, attempt integer) language sql stable security definer set search_path to 'public', 'pg_temp' as $$
  with recursive started as materialized (
    select j.wiki_id, j.workspace_id, j.status from jobs j
    where j.status in ('queued', 'running') and j.started_at is not null and (select is_service())
  ), running as materialized (
    select t.workspace_id, count(*) / coalesce(max(s.job_share), 1) as working
    from started t left join workspace_controls s on s.workspace_id = t.workspace_id
    where t.status = 'running' group by t.workspace_id
  ), paused as materialized (
    select s.workspace_id from workspace_controls s where s.jobs_are_paused
  ), oldest as materialized (
    select o.* from unnest(any_of) k (kind) cross join lateral (
      select j.* from jobs j
      where j.status = 'queued' and j.kind = k.kind and j.run_after <= now() and (select is_service())
      order by j.run_after, j.job_id limit 50) o
  ), idle as materialized (
    select o.* from oldest o
    where (o.started_at is not null or o.wiki_id not in (select t.wiki_id from started t))
      and o.workspace_id not in (select p.workspace_id from paused p)
      and o.workspace_id not in (select r.workspace_id from running r where r.working > 0)
      -- If a kind has more than 50 waiting jobs, jobs beyond them may be older than this one and also belong to idle
      -- workspaces.
      and o.run_after <= coalesce((
        select min(l.newest) from (select max(run_after) as newest from oldest group by kind having count(*) = 50) l), 'infinity')
    order by o.run_after, o.job_id limit 5
  ), tenants as (
    select k.kind, (
      select j.workspace_id from jobs j where j.status = 'queued' and j.kind = k.kind and (select is_service())
      order by j.workspace_id limit 1) as workspace_id
    from unnest(any_of) k (kind)
    union all
    select t.kind, (
      select j.workspace_id from jobs j where j.status = 'queued' and j.kind = t.kind and j.workspace_id > t.workspace_id
      order by j.workspace_id limit 1)
    from tenants t where t.workspace_id is not null
  ), fair as (
    select h.*, coalesce(r.working, 0) as working
    from tenants t left join running r on r.workspace_id = t.workspace_id
    cross join lateral (
      select j.* from jobs j
      where j.status = 'queued' and j.kind = t.kind and j.workspace_id = t.workspace_id and j.run_after <= now()
        and (j.started_at is not null or j.wiki_id not in (select s.wiki_id from started s))
      order by j.run_after, j.job_id limit 5) h
    where (select count(*) from idle) < 5 and t.workspace_id not in (select p.workspace_id from paused p)
      and not (only_idle_workspaces and coalesce(r.working, 0) > 0)
  )
  select c.wiki_id, c.job_id, c.attempt from (
    select i.wiki_id, i.job_id, i.attempt, i.run_after, 0 as working from idle i where (select count(*) from idle) = 5
    union all
    select f.wiki_id, f.job_id, f.attempt, f.run_after, f.working from fair f
  ) c
  order by c.working, c.run_after, c.job_id limit 5
$$;

-- Trigger function of jobs: sets workspace_id of new jobs.
create function set_workspace_of_job() returns trigger language plpgsql security definer set search_path to 'public', 'pg_temp' as $$
begin
  new.workspace_id := coalesce((select w.workspace_id from wikis w where w.wiki_id = new.wiki_id), '');
  return new;
end $$;

-- ---- Audit ----

-- Audit log: one record per write, inserted by the statement that writes. Contains neither secrets nor their hashes.
create table audit_events (
  -- Id of the form evt_…, ascending in time.
  event_id         text collate "C" not null,
  -- Workspace that the event is about; null for events of an account alone. No foreign key: records outlive the workspace.
  workspace_id     text collate "C",
  -- "<target_kind>.<action>", such as wiki.renamed.
  type             text collate "C" not null,
  -- User who caused the event; null for the service and for commands. The account may be deleted.
  actor_id         text collate "C",
  -- Key, session or issuer that authorized the request, or the name of another kind; null without a credential.
  credential_id    text collate "C",
  -- Id of the request, as in logs and in the X-Request-Id header; '' outside requests.
  request_id       text collate "C" not null,
  -- IP address of the request; '' outside requests and for operators.
  address          text collate "C" not null,
  -- Start of the transaction that wrote the row.
  created_at       timestamp with time zone not null default now(),
  -- key, session, identity, widget, command, operator, provider or none; '' for jobs.
  credential_kind  text collate "C" not null default ''::text,
  -- Kind of the object that changed, which says what target_id refers to.
  target_kind      text collate "C" not null,
  -- Id of the object that changed, an address for sign-in links; no foreign key, so it may be gone.
  target_id        text collate "C" not null,
  -- Changed fields with their former values; {} for a creation.
  before           jsonb not null default '{}'::jsonb,
  -- Changed fields with their new values; {} for a deletion.
  after            jsonb not null default '{}'::jsonb,
  -- Widget that was used: profile, enterprise or developers; '' for none.
  widget           text collate "C" not null default ''::text,
  -- Origin of the page that showed the widget; '' for none.
  widget_origin    text collate "C" not null default ''::text,
  primary key (event_id)
);
create index audit_events_by_actor_and_time on audit_events using btree (workspace_id, actor_id, created_at, event_id);
create index audit_events_by_email on audit_events using btree (((after ->> 'email'::text)) collate "C") where ((after ->> 'email'::text) is not null);
create index audit_events_by_former_member on audit_events using btree (((before ->> 'user_id'::text)) collate "C") where (type = 'organization_membership.deleted'::text);
create index audit_events_by_time on audit_events using btree (workspace_id, created_at, event_id);
create index audit_events_by_type_and_time on audit_events using btree (workspace_id, type, created_at, event_id);
create index audit_events_of_invitation_mail on audit_events using btree (workspace_id, created_at) where (type = any (array['invitation.created'::text, 'invitation.resent'::text]));
grant insert, select on audit_events to ibid_service;
alter table audit_events enable row level security;
create policy anybody_adds on audit_events for insert
  with check (true);
create policy of_the_workspaces on audit_events for select
  using ((workspace_id = any (( select own_workspaces())::text[])));

-- The caller's actions on their own account, which appear in no workspace's log.
create function caller_account_events(after_time timestamp with time zone, after_id text) returns setof audit_events language sql stable security definer set search_path to 'public', 'pg_temp' as $$
  select e.* from audit_events e
  where e.workspace_id is null and e.actor_id = (select own_user()) and (e.created_at, e.event_id) > (after_time, after_id)
  order by e.created_at, e.event_id limit 500
$$;

-- Deletes up to batch audit records beyond the retention period of the workspace; returns their number. Keeps records of retention settings and legal holds.
create function purge_audit_events(workspace text, batch integer) returns integer language plpgsql security definer set search_path to 'public', 'pg_temp' as $$
declare
  horizon timestamptz;
  removed int;
begin
  select purge_horizon(w.audit_days, w.retention_changed_at, w.held_since) into horizon
  from workspaces w where w.workspace_id = workspace for share of w;
  if horizon is null then
    return 0;
  end if;
  with gone as (
    delete from audit_events e where e.event_id in (
      select o.event_id from audit_events o
      where o.workspace_id = workspace and o.created_at < horizon
        and o.type not in ('workspace.retention_changed', 'workspace.legal_hold_set', 'workspace.legal_hold_lifted')
      order by o.created_at, o.event_id limit batch)
    returning 1
  )
  select count(*) into removed from gone;
  return removed;
end $$;

-- ---- Pages ----

-- Page data for lists and trees. Texts are in revisions, which keeps the rows narrow.
create table pages (
  -- Wiki that the page belongs to.
  wiki_id         text collate "C" not null,
  -- Id of the form page_….
  page_id         text collate "C" not null,
  -- parent_path and slug, joined by /. Stored so that a page is found by its address in one lookup; a constraint keeps it right.
  path            text collate "C" not null,
  -- Last segment of the path, unique below the parent; derived from the title unless chosen.
  slug            text collate "C" not null,
  -- Title of the current revision.
  title           text collate "C" not null,
  -- Description of the front matter, otherwise the first paragraph; at most 300 characters, '' for none.
  description     text collate "C" not null default ''::text,
  -- Page above; null at the root.
  parent_page_id  text collate "C",
  -- Order among siblings, ascending; of equal positions the older page comes first.
  position        integer not null default 0,
  -- draft: seen only by members who may write. archived: readable, but left out of searches and templates.
  status          text collate "C" not null default 'published'::text,
  -- authored by a person, or compiled by an upload, at its creation.
  origin          text collate "C" not null,
  -- Number of the current revision, from 1; writers compare it to detect conflicts.
  revision        integer not null,
  -- Words of the plain text.
  word_count      integer not null,
  -- Number of rows in page_sources, which lists show.
  source_count    integer not null default 0,
  -- Whether the page no longer matches its source, so that a person should decide: edits conflict, or the source, file or section is gone.
  stale           boolean not null default false,
  -- Start of the transaction that created the page. Only an import of an archive that this service sealed keeps the original time.
  created_at      timestamp with time zone not null default now(),
  -- Time of the last change of text, title, status or place.
  updated_at      timestamp with time zone not null default now(),
  -- User who created the page, started the upload or ran the import; no foreign key.
  created_by      text collate "C" not null,
  -- User who made the last change; no foreign key.
  updated_by      text collate "C" not null,
  -- Path of the page above, kept right by a foreign key; null at the root.
  parent_path     text collate "C",
  -- Time when the page was moved to the trash; null for a live page.
  trashed_at      timestamp with time zone,
  -- User who moved the page to the trash; null for a live page.
  trashed_by      text collate "C",
  -- Page that the user deleted: this one, or the ancestor whose subtree it was part of; null for a live page.
  trashed_with    text collate "C",
  -- Lower-case title, by which wiki links find the page.
  title_key       text collate "C" generated always as (folded(title)) stored,
  -- Source file, or folder with a trailing /, that the last sync of its folder no longer had; null otherwise, and once the file returns or a person decides.
  gone_file       text collate "C",
  -- Tags as written, in their order; page_tags has them as keys.
  tags            text[] collate "C" not null default '{}'::text[],
  -- The other fields of the front matter in their order: [{"name": …, "value": …}].
  properties      jsonb not null default '[]'::jsonb,
  -- Number of the restriction that decides who sees the page: of the page itself or of the nearest page above it; 0 for none. Triggers keep it right.
  acl_no          integer not null default 0,
  primary key (wiki_id, page_id),
  unique (wiki_id, page_id, path),
  check ((origin = any (array['authored'::text, 'compiled'::text]))),
  check (((parent_page_id is null) = (parent_path is null))),
  check ((path = (coalesce((parent_path || '/'::text), ''::text) || slug))),
  check ((length(path) <= 1024)),
  check ((status = any (array['draft'::text, 'published'::text, 'archived'::text]))),
  check (((trashed_at is null) = (trashed_with is null))),
  foreign key (wiki_id, parent_page_id, parent_path) references pages(wiki_id, page_id, path) deferrable initially deferred,
  foreign key (wiki_id) references wikis(wiki_id) on delete cascade
);
create index pages_by_change on pages using btree (wiki_id, status, updated_at, page_id) where (trashed_at is null);
create index pages_by_parent on pages using btree (wiki_id, parent_page_id, "position", page_id);
create index pages_by_title on pages using btree (wiki_id, title_key) where (trashed_at is null);
create index pages_hidden on pages using btree (wiki_id, page_id) where ((trashed_at is not null) or (status <> 'published'::text));
create index pages_of_gone_files on pages using btree (wiki_id, page_id) where ((gone_file is not null) and (trashed_at is null));
create index pages_restricted on pages using btree (wiki_id, page_id) where (acl_no > 0);
create index pages_stale on pages using btree (wiki_id, page_id) where (stale and (trashed_at is null));
create index pages_trash on pages using btree (wiki_id, page_id) where (trashed_with = page_id);
create index pages_trashed_at on pages using btree (trashed_at) where (trashed_at is not null);
create index pages_trashed_with on pages using btree (wiki_id, trashed_with) where (trashed_at is not null);
create index pages_with_id on pages using hash (page_id);
create unique index pages_live_path on pages using btree (wiki_id, path) where (trashed_at is null);
create trigger acls_of_moved after update of parent_page_id, trashed_at on pages for each row when (((old.parent_page_id is distinct from new.parent_page_id) or ((old.trashed_at is not null) and (new.trashed_at is null)))) execute function move_acls();
create trigger acls_of_new after insert on pages referencing new table as new_rows for each statement execute function inherit_acls();
create trigger legal_hold after delete on pages referencing old table as old_rows for each statement execute function refuse_deletion_under_hold();
create trigger links_to_moved after update of path, title, trashed_at on pages for each row when (((new.trashed_at is null) and ((old.path <> new.path) or (old.title <> new.title) or (old.trashed_at is not null)))) execute function link_closed_pages();
create trigger links_to_new after insert on pages for each row when ((new.trashed_at is null)) execute function link_closed_pages();
create trigger sources_of_removed after delete on pages referencing old table as old_rows for each statement execute function remove_orphaned_sources();
create trigger tree_has_changed_page after update on pages for each row when (((old.title <> new.title) or (old.slug <> new.slug) or (old.status <> new.status) or (old."position" <> new."position") or (old.parent_page_id is distinct from new.parent_page_id) or (old.trashed_at is distinct from new.trashed_at))) execute function change_tree_version();
create trigger tree_has_new_page after insert on pages for each row when ((new.trashed_at is null)) execute function change_tree_version();
create trigger usage_on_delete after delete on pages referencing old table as old_rows for each statement execute function count_pages();
create trigger usage_on_insert after insert on pages referencing new table as new_rows for each statement execute function count_pages();
create trigger write_changed_tags after update of tags on pages for each row when ((new.tags <> old.tags)) execute function write_page_tags();
create trigger write_tags_of_new after insert on pages for each row when ((new.tags <> '{}'::text[])) execute function write_page_tags();
grant delete, insert, select, update on pages to ibid_service;
alter table pages enable row level security;
create policy deleters on pages for delete
  using (((not ( select restricts())) or (acl_no = 0) or (substring(( select own_writes()) from acl_no for 1) = '1'::"bit")));
create policy of_the_wiki on pages for all
  using (((wiki_id = ( select own_wiki())) and ((status <> 'draft'::text) or ( select sees_drafts())) and ((not ( select restricts())) or (acl_no = 0) or (substring(( select own_reads()) from acl_no for 1) = '1'::"bit"))));
create policy writers on pages for update
  using (((not ( select restricts())) or (acl_no = 0) or (substring(( select own_writes()) from acl_no for 1) = '1'::"bit")));

-- Plain text of the current revision of each page, for search and snippets.
create table page_texts (
  -- Wiki of the page.
  wiki_id  text collate "C" not null,
  -- Page whose text this is.
  page_id  text collate "C" not null,
  -- Plain text of the current revision, which offsets of outline refer to.
  text     text collate "C" not null,
  primary key (wiki_id, page_id),
  foreign key (wiki_id, page_id) references pages(wiki_id, page_id) on delete cascade
);
grant delete, insert, select, update on page_texts to ibid_service;
alter table page_texts enable row level security;
create policy of_the_wiki on page_texts for all
  using (((wiki_id = ( select own_wiki())) and ((not ( select restricts())) or (not (exists ( select from hidden_pages h where ((h.wiki_id = page_texts.wiki_id) and (h.page_id = page_texts.page_id)) offset 0))))));

-- Every revision of every page. The HTML is rendered and sanitized once, on write. A replaced revision is packed later; markdown, html and outline are then empty.
create table revisions (
  -- Wiki of the page.
  wiki_id         text collate "C" not null,
  -- Page that this is a state of.
  page_id         text collate "C" not null,
  -- Number from 1 without gaps, except for purged revisions.
  revision        integer not null,
  -- Title of this state.
  title           text collate "C" not null,
  -- Text as saved; '' once packed.
  markdown        text collate "C" not null,
  -- Sanitized HTML of the text, with links as of the time of rendering; '' once packed.
  html            text collate "C" not null,
  -- Headings: [{"level", "text", "anchor", "offset"}], at most 2,000; [] once packed.
  outline         jsonb not null,
  -- Time of the save. Only an import of an archive that this service sealed keeps the original time.
  created_at      timestamp with time zone not null default now(),
  -- User who saved the state, started the upload or ran the import, or a person of imported_people; no foreign key.
  created_by      text collate "C" not null,
  -- authored: a person wrote this state. compiled: an upload made it.
  origin          text collate "C" not null default 'authored'::text,
  -- Path of the page's parent at the time, which relative addresses in the text start from; '' at the root.
  folder          text collate "C" not null default ''::text,
  -- Brotli-compressed JSON array of markdown, html and outline; null while those columns hold them.
  packed          bytea,
  -- Bytes of markdown and html before packing, for the quota; null while not packed.
  unpacked_bytes  integer,
  -- Unverified statements of the archive that the revision was imported from: user_id (see imported_people), created_at, origin, and imported_by, who ran the import. Null for a revision written here.
  claim           jsonb,
  primary key (wiki_id, page_id, revision),
  check ((origin = any (array['authored'::text, 'compiled'::text]))),
  foreign key (wiki_id, page_id) references pages(wiki_id, page_id) on delete cascade
);
create index revisions_by_author on revisions using btree (created_by, wiki_id, page_id, revision);
create index revisions_by_time on revisions using btree (wiki_id, created_at) where (revision > 1);
create trigger usage_on_delete after delete on revisions referencing old table as old_rows for each statement execute function count_revisions();
create trigger usage_on_insert after insert on revisions referencing new table as new_rows for each statement execute function count_revisions();
grant delete, insert, select, update on revisions to ibid_service;
alter table revisions enable row level security;
create policy of_the_wiki on revisions for all
  using (((wiki_id = ( select own_wiki())) and ((not ( select restricts())) or (not (exists ( select from hidden_pages h where ((h.wiki_id = revisions.wiki_id) and (h.page_id = revisions.page_id)) offset 0))))));

-- Base of the next three-way merge for pages edited since an upload compiled them, unless a revision still holds it. Without a row the last compiled revision is the base.
create table page_bases (
  -- Wiki of the page.
  wiki_id           text collate "C" not null,
  -- Page whose base this is.
  page_id           text collate "C" not null,
  -- Title of the base.
  title             text collate "C" not null,
  -- Text of the base.
  markdown          text collate "C" not null,
  -- Title that goes with waiting_markdown; '' for none.
  waiting_title     text collate "C" not null default ''::text,
  -- Compiled text that could not be merged; '' for none. It becomes the base when a person next saves the page, which ends stale.
  waiting_markdown  text collate "C" not null default ''::text,
  primary key (wiki_id, page_id),
  foreign key (wiki_id, page_id) references pages(wiki_id, page_id) on delete cascade
);
grant delete, insert, select, update on page_bases to ibid_service;
alter table page_bases enable row level security;
create policy of_the_wiki on page_bases for all
  using (((wiki_id = ( select own_wiki())) and ((not ( select restricts())) or (not (exists ( select from hidden_pages h where ((h.wiki_id = page_bases.wiki_id) and (h.page_id = page_bases.page_id)) offset 0))))));

-- Former paths of pages. An old path redirects to its page until another page takes the path.
create table page_paths (
  -- Wiki of the page.
  wiki_id   text collate "C" not null,
  -- Former path.
  path      text collate "C" not null,
  -- Page that was there last.
  page_id   text collate "C" not null,
  -- Time when the page last left the path.
  moved_at  timestamp with time zone not null default now(),
  primary key (wiki_id, path),
  foreign key (wiki_id) references wikis(wiki_id) on delete cascade,
  foreign key (wiki_id, page_id) references pages(wiki_id, page_id) on delete cascade
);
create index page_paths_by_page on page_paths using btree (wiki_id, page_id);
grant delete, insert, select, update on page_paths to ibid_service;
alter table page_paths enable row level security;
create policy of_the_wiki on page_paths for all
  using ((wiki_id = ( select own_wiki())));

-- Links between the pages of a wiki.
create table page_links (
  -- Wiki of both pages.
  wiki_id       text collate "C" not null,
  -- Page whose current revision has the link.
  from_page_id  text collate "C" not null,
  -- Target page; null while it is missing. No foreign key, so a page in the trash can be restored with its links.
  to_page_id    text collate "C",
  -- Path as written, [[target]] for a wiki link to a missing page, or <address> for an address of the wiki that no page can have.
  to_path       text collate "C" not null,
  -- Offsets of the link's addresses in the Markdown: pairs of start and end, in UTF-16 code units.
  places        integer[] not null default '{}'::integer[],
  -- Lower-case title that would satisfy a [[link]] which led nowhere when it was written; null for other links.
  wanted_title  text collate "C",
  -- Path that would satisfy such a [[link]]; null for other links.
  wanted_path   text collate "C",
  -- Line of the first occurrence in the Markdown, from 1; 0 if unknown.
  line          integer not null default 0,
  primary key (wiki_id, from_page_id, to_path),
  check (((wanted_title is null) = (wanted_path is null))),
  foreign key (wiki_id, from_page_id) references pages(wiki_id, page_id) on delete cascade
);
create index page_links_to on page_links using btree (wiki_id, to_page_id, from_page_id);
create index page_links_wanted on page_links using btree (wiki_id, to_path);
create index page_links_wanted_path on page_links using btree (wiki_id, wanted_path) where (wanted_title is not null);
create index page_links_wanted_title on page_links using btree (wiki_id, wanted_title) where (wanted_title is not null);
create index page_links_without_a_page on page_links using btree (wiki_id, from_page_id, to_path) where (to_page_id is null);
grant delete, insert, select, update on page_links to ibid_service;
alter table page_links enable row level security;
create policy of_the_wiki on page_links for all
  using (((wiki_id = ( select own_wiki())) and ((not ( select restricts())) or (not (exists ( select from hidden_pages h where ((h.wiki_id = page_links.wiki_id) and (h.page_id = page_links.from_page_id)) offset 0))))));

-- Index of pages.tags by tag. Only written by the triggers of pages.
create table page_tags (
  -- Wiki of the page.
  wiki_id  text collate "C" not null,
  -- Lower-case tag, which lookups use.
  tag_key  text collate "C" not null,
  -- Page that has the tag.
  page_id  text collate "C" not null,
  -- Tag as the page writes it.
  tag      text collate "C" not null,
  primary key (wiki_id, tag_key, page_id),
  check (((length(tag) >= 1) and (length(tag) <= 100))),
  foreign key (wiki_id, page_id) references pages(wiki_id, page_id) on delete cascade
);
create index page_tags_by_page on page_tags using btree (wiki_id, page_id);
grant delete, insert, select, update on page_tags to ibid_service;
alter table page_tags enable row level security;
create policy of_the_wiki on page_tags for all
  using (((wiki_id = ( select own_wiki())) and ((not ( select restricts())) or (not (exists ( select from hidden_pages h where ((h.wiki_id = page_tags.wiki_id) and (h.page_id = page_tags.page_id)) offset 0))))));

-- Pages offered as templates in their wiki.
create table templates (
  -- Wiki of the page.
  wiki_id     text collate "C" not null,
  -- Page that serves as template.
  page_id     text collate "C" not null,
  -- Time when the page was made a template.
  created_at  timestamp with time zone not null default now(),
  -- User who made the page a template; no foreign key.
  created_by  text collate "C" not null,
  primary key (wiki_id, page_id),
  foreign key (wiki_id, page_id) references pages(wiki_id, page_id) on delete cascade
);
grant delete, insert, select on templates to ibid_service;
alter table templates enable row level security;
create policy of_the_wiki on templates for all
  using (((wiki_id = ( select own_wiki())) and ((not ( select restricts())) or (not (exists ( select from hidden_pages h where ((h.wiki_id = templates.wiki_id) and (h.page_id = templates.page_id)) offset 0))))));

-- Starred pages per person, visible only to that person. A page in the trash keeps its stars.
create table starred_pages (
  -- Wiki of the page.
  wiki_id     text collate "C" not null,
  -- Person who starred the page.
  user_id     text collate "C" not null,
  -- Starred page.
  page_id     text collate "C" not null,
  -- Time when the page was starred.
  created_at  timestamp with time zone not null default now(),
  primary key (wiki_id, user_id, page_id),
  foreign key (user_id) references users(user_id) on delete cascade,
  foreign key (wiki_id, page_id) references pages(wiki_id, page_id) on delete cascade
);
create index starred_pages_of_page on starred_pages using btree (wiki_id, page_id);
create index starred_pages_of_user on starred_pages using btree (user_id);
create trigger limit_starred_pages after insert on starred_pages for each row execute function limit_starred_pages();
grant delete, insert, select, update on starred_pages to ibid_service;
alter table starred_pages enable row level security;
create policy of_the_user on starred_pages for all
  using (((wiki_id = ( select own_wiki())) and (user_id = ( select own_user())) and ((not ( select restricts())) or (not (exists ( select from hidden_pages h where ((h.wiki_id = starred_pages.wiki_id) and (h.page_id = starred_pages.page_id)) offset 0))))));

-- Editor texts that are not saved as pages yet. Only their writer sees them; they are deleted 90 days after the last change.
create table autosaves (
  -- Wiki that the text is for.
  wiki_id         text collate "C" not null,
  -- Writer of the text.
  user_id         text collate "C" not null,
  -- Id chosen by the client, one per open editor.
  autosave_id     text collate "C" not null,
  -- Page that is edited; null for a page that is not created yet.
  page_id         text collate "C",
  -- Intended parent of a new page; '' for the root.
  parent_page_id  text collate "C" not null default ''::text,
  -- Title in the editor.
  title           text collate "C" not null,
  -- Text in the editor.
  markdown        text collate "C" not null,
  -- Revision of the page that the edit started from; 0 for a new page.
  base_revision   integer not null default 0,
  -- Bytes that count towards the quota of the workspace.
  byte_size       bigint not null generated always as ((octet_length(title) + octet_length(markdown))) stored,
  -- Time of the first autosave.
  created_at      timestamp with time zone not null default now(),
  -- Time of the last autosave.
  updated_at      timestamp with time zone not null default now(),
  primary key (wiki_id, user_id, autosave_id),
  foreign key (user_id) references users(user_id) on delete cascade,
  foreign key (wiki_id) references wikis(wiki_id) on delete cascade,
  foreign key (wiki_id, page_id) references pages(wiki_id, page_id) on delete cascade
);
create index autosaves_by_age on autosaves using btree (updated_at);
create index autosaves_of_page on autosaves using btree (wiki_id, page_id) where (page_id is not null);
create index autosaves_of_user on autosaves using btree (user_id);
create trigger limit_autosaves after insert on autosaves for each row execute function limit_autosaves();
create trigger usage_on_delete after delete on autosaves referencing old table as old_rows for each statement execute function count_stored_files();
create trigger usage_on_insert after insert on autosaves referencing new table as new_rows for each statement execute function count_stored_files();
create trigger usage_on_update after update on autosaves referencing old table as old_rows new table as new_rows for each statement execute function count_stored_files();
grant delete, insert, select, update on autosaves to ibid_service;
alter table autosaves enable row level security;
create policy of_the_user on autosaves for all
  using ((((wiki_id = ( select own_wiki())) and (user_id = ( select own_user()))) or ( select is_service())));

-- The next unsaved text of the caller; a single row, because it may be long.
create function caller_autosaves(after_wiki text, after_id text) returns table(wiki_id text, autosave_id text, page_id text, title text, markdown text, created_at timestamp with time zone, updated_at timestamp with time zone) language sql stable security definer set search_path to 'public', 'pg_temp' as $$
  select a.wiki_id, a.autosave_id, a.page_id, a.title, a.markdown, a.created_at, a.updated_at from autosaves a
  where a.user_id = (select own_user()) and a.wiki_id = any ((select caller_wikis())::text[])
    and (a.wiki_id, a.autosave_id) > (after_wiki, after_id)
  order by a.wiki_id, a.autosave_id limit 1
$$;

-- Revisions written by the caller: up to 200, and none after the first MiB of text. Includes the text, possibly packed, if the caller may read the page now. writers: roles that can see drafts.
create function caller_revisions(after_wiki text, after_page text, after_revision integer, writers text[]) returns table(wiki_id text, page_id text, revision integer, path text, title text, origin text, created_at timestamp with time zone, markdown text, packed bytea) language sql stable security definer set enable_bitmapscan to 'off' set search_path to 'public', 'pg_temp' as $$
  with found as materialized (
    select r.wiki_id, r.page_id, r.revision, r.title, r.origin, r.created_at, coalesce(r.unpacked_bytes, octet_length(r.markdown)) as bytes
    from revisions r
    where r.created_by = (select own_user()) and (r.wiki_id, r.page_id, r.revision) > (after_wiki, after_page, after_revision)
      and array_position((select caller_wikis()), r.wiki_id) is not null
    order by r.wiki_id, r.page_id, r.revision limit 200
  ), fitting as (
    -- Always include the first revision, however long it is.
    select f.*, sum(f.bytes) over (order by f.wiki_id, f.page_id, f.revision) - f.bytes as before from found f
  )
  select f.wiki_id, f.page_id, f.revision, t.path, f.title, f.origin, f.created_at, t.markdown, t.packed
  from fitting f cross join lateral (
    select case when m.is_open then p.path else '' end as path,
      case when m.may_read then r.markdown end as markdown, case when m.may_read then r.packed end as packed
    from pages p, revisions r, lateral (
      select p.acl_no = 0 or has_bit((bits_of(f.wiki_id, own_user())).reads, p.acl_no) as is_open offset 0) o, lateral (
      -- The usual rule: pages in the trash cannot be read, and drafts only by members who may write.
      select o.is_open, o.is_open and p.trashed_at is null and (p.status <> 'draft' or exists (
        select from wikis k join memberships m on m.workspace_id = k.workspace_id
        where k.wiki_id = f.wiki_id and m.user_id = own_user() and m.status = 'active' and m.role = any (writers))) as may_read
      offset 0) m
    where p.wiki_id = f.wiki_id and p.page_id = f.page_id
      and r.wiki_id = f.wiki_id and r.page_id = f.page_id and r.revision = f.revision
    offset 0
  ) t
  where f.before < 1048576
  order by f.wiki_id, f.page_id, f.revision
$$;

-- Pages starred by the caller.
create function caller_stars(after_wiki text, after_page text) returns table(wiki_id text, page_id text, created_at timestamp with time zone) language sql stable security definer set search_path to 'public', 'pg_temp' as $$
  select s.wiki_id, s.page_id, s.created_at from starred_pages s
  where s.user_id = (select own_user()) and s.wiki_id = any ((select caller_wikis())::text[])
    and (s.wiki_id, s.page_id) > (after_wiki, after_page)
  order by s.wiki_id, s.page_id limit 500
$$;

-- Trigger function of pages: changes wikis.tree_version.
create function change_tree_version() returns trigger language plpgsql security definer set search_path to 'public', 'pg_temp' as $$
declare
  -- Include the time, because transaction ids start again after a restore into another cluster.
  version text := pg_current_xact_id()::text || '-' || (extract(epoch from now()) * 1000000)::bigint;
begin
  -- Only the first of several rows writes.
  if current_setting('ibid.tree_version', true) is distinct from new.wiki_id || ' ' || version then
    update wikis w set tree_version = version where w.wiki_id = new.wiki_id and w.tree_version <> version;
    perform set_config('ibid.tree_version', new.wiki_id || ' ' || version, true);
  end if;
  return null;
end $$;

-- Trigger function of autosaves: limits each person to 100 per wiki.
create function limit_autosaves() returns trigger language plpgsql security definer set search_path to 'public', 'pg_temp' as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('autosaves ' || new.wiki_id || ' ' || new.user_id, 0));
  if (select count(*) from autosaves s where s.wiki_id = new.wiki_id and s.user_id = new.user_id) > 100 then
    raise exception 'a person has too many autosaves' using errcode = '23514', constraint = 'autosaves_of_a_person';
  end if;
  return null;
end $$;

-- Trigger function of starred_pages: limits each person to 100 per wiki.
create function limit_starred_pages() returns trigger language plpgsql security definer set search_path to 'public', 'pg_temp' as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('starred pages ' || new.wiki_id || ' ' || new.user_id, 0));
  if (select count(*) from starred_pages s where s.wiki_id = new.wiki_id and s.user_id = new.user_id) > 100 then
    raise exception 'a person has starred too many pages' using errcode = '23514', constraint = 'starred_pages_of_a_person';
  end if;
  return null;
end $$;

-- Title of a page in a workspace visible to the caller, if the wiki is unknown.
create function page_title(page text) returns text language sql stable security definer set search_path to 'public', 'pg_temp' as $$
  select p.title from wikis k join pages p on p.wiki_id = k.wiki_id and p.page_id = page
  where k.workspace_id = any ((select own_workspaces())::text[])
    and (p.acl_no = 0 or has_bit((bits_of(k.wiki_id, own_user())).reads, p.acl_no))
$$;

-- Like purge_revisions, for the pages of the next batch revisions that replaced others before the horizon, in order of time. Without a position it starts at revisions_purged_to. Returns the next position; after_time is null if the purge is complete or not allowed.
create function purge_replaced_revisions(wiki text, inout after_time timestamp with time zone, inout after_page text, inout after_revision integer, batch integer, out removed integer, out looked_at integer) returns record language plpgsql security definer set search_path to 'public', 'pg_temp' as $$
declare
  horizon timestamptz;
  changed_to revisions;
begin
  -- Locked for the same reason as in purge_revisions.
  select purge_horizon(w.revision_days, w.retention_changed_at, w.held_since), coalesce(after_time, k.revisions_purged_to)
    into horizon, after_time
  from wikis k join workspaces w on w.workspace_id = k.workspace_id where k.wiki_id = wiki for share of w;
  removed := 0;
  looked_at := 0;
  if horizon is null then
    after_time := null;
    return;
  end if;
  with changed as (
    select s.page_id, s.revision, s.created_at from revisions s
    where s.wiki_id = wiki and s.revision > 1 and s.created_at >= after_time and s.created_at < horizon
      and (s.created_at, s.page_id, s.revision) > (after_time, coalesce(after_page, ''), coalesce(after_revision, 0))
    order by s.created_at, s.page_id, s.revision limit batch
  ), last_changed as (
    select c.created_at, c.page_id, c.revision from changed c order by c.created_at desc, c.page_id desc, c.revision desc limit 1
  ), old as (
    select p.page_id, r.revision
    from (select distinct c.page_id from changed c) g
    join pages p on p.wiki_id = wiki and p.page_id = g.page_id
    cross join lateral (
      select s.revision, lead(s.created_at) over (order by s.revision) as replaced_at,
        max(s.revision) filter (where s.origin = 'compiled') over () as last_compiled
      from revisions s where s.wiki_id = wiki and s.page_id = g.page_id
    ) r
    where p.revision > 1 and r.revision < p.revision and r.replaced_at < horizon and r.revision is distinct from r.last_compiled
      and not exists (
        select from autosaves a where a.wiki_id = wiki and a.page_id = p.page_id and a.base_revision = r.revision)
    order by p.page_id, r.revision limit batch
  ), gone as (
    delete from revisions r using old o where r.wiki_id = wiki and r.page_id = o.page_id and r.revision = o.revision
    returning 1
  )
  select (select count(*) from gone), (select count(*) from changed), l.created_at, l.page_id, l.revision
    into removed, looked_at, changed_to.created_at, changed_to.page_id, changed_to.revision
  from (values (1)) always left join last_changed l on true;
  -- If a page may have more old revisions, the next batch starts at the same position.
  if removed < batch then
    after_time := case when looked_at = batch then changed_to.created_at end;
    after_page := changed_to.page_id;
    after_revision := changed_to.revision;
  end if;
end $$;

-- Deletes up to batch revisions beyond the retention period of the workspace, from up to batch pages starting at from_page. Keeps the current revision, the last compiled one, and base revisions of drafts. next_page: where to continue; null if the purge is complete or not allowed.
create function purge_revisions(wiki text, from_page text, batch integer, out removed integer, out next_page text) returns record language plpgsql security definer set search_path to 'public', 'pg_temp' as $$
declare
  horizon timestamptz;
  last_removed text;
begin
  -- The lock makes a hold or a longer period that is being set wait for this batch; the next batch sees it.
  select purge_horizon(w.revision_days, w.retention_changed_at, w.held_since) into horizon
  from wikis k join workspaces w on w.workspace_id = k.workspace_id where k.wiki_id = wiki for share of w;
  removed := 0;
  if horizon is null then
    return;
  end if;
  with walked as (
    select p.page_id, p.revision from pages p where p.wiki_id = wiki and p.page_id >= from_page order by p.page_id limit batch
  ), old as (
    select g.page_id, r.revision
    from walked g cross join lateral (
      select s.revision, lead(s.created_at) over (order by s.revision) as replaced_at,
        max(s.revision) filter (where s.origin = 'compiled') over () as last_compiled
      from revisions s where s.wiki_id = wiki and s.page_id = g.page_id
    ) r
    -- Keep merge bases: the last compiled revision for the next upload, and the base revision of each draft.
    where g.revision > 1 and r.revision < g.revision and r.replaced_at < horizon and r.revision is distinct from r.last_compiled
      and not exists (
        select from autosaves a where a.wiki_id = wiki and a.page_id = g.page_id and a.base_revision = r.revision)
    order by g.page_id, r.revision limit batch
  ), gone as (
    delete from revisions r using old o where r.wiki_id = wiki and r.page_id = o.page_id and r.revision = o.revision
    returning r.page_id
  )
  select count(*), max(g.page_id) into removed, last_removed from gone g;
  if removed = batch then
    next_page := last_removed;
  else
    select p.page_id into next_page from pages p where p.wiki_id = wiki and p.page_id >= from_page order by p.page_id offset batch limit 1;
  end if;
end $$;

-- The most recently changed pages of every wiki in a workspace visible to the caller, up to per_wiki each, without archived ones.
create function recent_pages(workspace text, per_wiki integer, with_drafts boolean) returns setof pages language sql stable security definer set search_path to 'public', 'pg_temp' as $$
  select b.* from wikis k
  cross join lateral (select case when k.acls > 0 then (bits_of(k.wiki_id, own_user())).reads end as reads offset 0) s
  cross join lateral (
    select p.* from (
      (select f.* from pages f where f.wiki_id = k.wiki_id and f.trashed_at is null and f.status = 'published'
          and (s.reads is null or f.acl_no = 0 or has_bit(s.reads, f.acl_no))
        order by f.updated_at desc, f.page_id desc limit per_wiki)
      union all
      (select f.* from pages f where f.wiki_id = k.wiki_id and f.trashed_at is null and f.status = 'draft' and with_drafts
          and (s.reads is null or f.acl_no = 0 or has_bit(s.reads, f.acl_no))
        order by f.updated_at desc, f.page_id desc limit per_wiki)
    ) p order by p.updated_at desc, p.page_id desc limit per_wiki
  ) b
  where k.workspace_id = workspace and workspace = any ((select own_workspaces())::text[])
$$;

-- For the scheduler: wikis with unpacked revisions that were replaced longer ago than age.
create function wikis_with_revisions_to_pack(age interval) returns table(wiki_id text, workspace_id text) language sql stable security definer set search_path to 'public', 'pg_temp' as $$
  select k.wiki_id, k.workspace_id from wikis k
  where k.workspace_id is not null
    and exists (
      select from revisions r where r.wiki_id = k.wiki_id and r.revision > 1
        and r.created_at >= coalesce(k.revisions_packed_to, '-infinity') and r.created_at < now() - age)
$$;

create function write_page_tags() returns trigger language plpgsql set search_path to 'public', 'pg_temp' as $$
begin
  if cardinality(new.tags) > 50 then
    raise check_violation using message = 'a page has at most 50 tags';
  end if;
  if tg_op = 'UPDATE' then
    delete from page_tags t where t.wiki_id = new.wiki_id and t.page_id = new.page_id;
  end if;
  insert into page_tags (wiki_id, tag_key, page_id, tag)
  select new.wiki_id, folded(g.tag), new.page_id, g.tag from unnest(new.tags) g (tag)
  on conflict do nothing;
  return null;
end $$;

-- ---- Files ----

-- Files in the blob store; a row is written before the bytes.
create table blobs (
  -- Hash of the bytes in hexadecimal, which is also the name of the file.
  sha256          text collate "C" not null,
  -- Size of the file in bytes.
  byte_size       bigint not null,
  -- Time when the file was last stored, also if the store had it already; a reference must be written within 24 hours.
  kept_at         timestamp with time zone not null default now(),
  -- Start of the deletion; null otherwise. During a deletion the file cannot be stored; after 10 minutes the deletion counts as abandoned.
  deleting_since  timestamp with time zone,
  primary key (sha256),
  check ((byte_size >= 0)),
  check ((sha256 ~ '^[0-9a-f]{64}$'::text))
);
create index blobs_by_kept_at on blobs using btree (kept_at, sha256);
create index blobs_deleting on blobs using btree (deleting_since) where (deleting_since is not null);
grant delete, insert, select, update on blobs to ibid_service;
alter table blobs enable row level security;
create policy of_the_service on blobs for all
  using (( select is_service()));

-- Files attached to a page. The same bytes are stored once per page.
create table attachments (
  -- Wiki of the page.
  wiki_id        text collate "C" not null,
  -- Id of the form attachment_….
  attachment_id  text collate "C" not null,
  -- Page that the file is attached to.
  page_id        text collate "C" not null,
  -- Name without folders, as uploaded.
  filename       text collate "C" not null,
  -- Media type detected from the bytes.
  content_type   text collate "C" not null,
  -- Size in bytes, which counts towards the quota.
  byte_size      bigint not null,
  -- Blob with the bytes.
  sha256         text collate "C" not null,
  -- Time of the upload. Only an import of an archive that this service sealed keeps the original time.
  created_at     timestamp with time zone not null default now(),
  -- User who uploaded or imported the file; no foreign key.
  created_by     text collate "C" not null,
  primary key (wiki_id, attachment_id),
  unique (wiki_id, page_id, sha256),
  foreign key (wiki_id, page_id) references pages(wiki_id, page_id) on delete cascade
);
create index attachments_by_creator on attachments using btree (created_by, wiki_id, attachment_id);
create index attachments_by_page on attachments using btree (wiki_id, page_id, attachment_id);
create index attachments_by_sha256 on attachments using btree (sha256);
create index attachments_with_id on attachments using hash (attachment_id);
create trigger legal_hold after delete on attachments referencing old table as old_rows for each statement execute function refuse_deletion_under_hold();
create trigger usage_on_delete after delete on attachments referencing old table as old_rows for each statement execute function count_stored_files();
create trigger usage_on_insert after insert on attachments referencing new table as new_rows for each statement execute function count_stored_files();
grant delete, insert, select, update on attachments to ibid_service;
alter table attachments enable row level security;
create policy of_the_wiki on attachments for all
  using (((wiki_id = ( select own_wiki())) and ((not ( select restricts())) or (not (exists ( select from hidden_pages h where ((h.wiki_id = attachments.wiki_id) and (h.page_id = attachments.page_id)) offset 0))))));

-- Attachments added by the caller.
create function caller_attachments(after_wiki text, after_id text) returns table(wiki_id text, attachment_id text, page_id text, filename text, content_type text, byte_size bigint, sha256 text, created_at timestamp with time zone) language sql stable security definer set enable_bitmapscan to 'off' set search_path to 'public', 'pg_temp' as $$
  select a.wiki_id, a.attachment_id, a.page_id, a.filename, a.content_type, a.byte_size, a.sha256, a.created_at from attachments a
  where a.created_by = (select own_user()) and (a.wiki_id, a.attachment_id) > (after_wiki, after_id)
    and array_position((select caller_wikis()), a.wiki_id) is not null
  order by a.wiki_id, a.attachment_id limit 500
$$;

-- ---- Uploads and sources ----

-- Batches of files that an ingest job turns into pages and sources. status_label of the API is computed on read.
create table uploads (
  -- Wiki that the pages go to.
  wiki_id       text collate "C" not null,
  -- Id of the form upload_….
  upload_id     text collate "C" not null,
  -- uploading while bytes arrive, queued until the ingest job ends, then completed or failed. A failed upload can be retried.
  status        text collate "C" not null,
  -- Sources that the upload added to the wiki; set at its end.
  source_count  integer not null default 0,
  -- Sentences for people about the result; '' before the end.
  summary       text collate "C" not null default ''::text,
  -- "code: message" of a failed upload; '' otherwise.
  error         text collate "C" not null default ''::text,
  -- Time when the upload was announced.
  created_at    timestamp with time zone not null default now(),
  -- Time of the last received bytes or change of status; an idle upload expires.
  updated_at    timestamp with time zone not null default now(),
  -- Time of the end; null while the upload is open or queued.
  finished_at   timestamp with time zone,
  -- User who uploaded; owner of the pages and attachments that it makes.
  created_by    text collate "C" not null,
  -- Whether the upload has all files of its folder, so that missing ones count as gone.
  is_sync       boolean not null default false,
  -- Common top folder of a planned sync; '' without one. Null before planning and for other uploads.
  sync_root     text collate "C",
  -- Time when each file was last assigned a page; null before, and for uploads of releases that did not note it (created_at counts).
  planned_at    timestamp with time zone,
  -- Numbers of the restrictions of the pages that the upload wrote or meant to write, known once it has ended.
  acl_nos       integer[] not null default '{}'::integer[],
  -- Numbers of the restrictions that admitted its creator when the upload was made. They count until acl_nos are known.
  started_nos   integer[] not null default '{}'::integer[],
  primary key (wiki_id, upload_id),
  check (((finished_at is null) = (status = any (array['uploading'::text, 'queued'::text])))),
  check ((status = any (array['uploading'::text, 'queued'::text, 'completed'::text, 'failed'::text]))),
  foreign key (wiki_id) references wikis(wiki_id) on delete cascade
);
create index uploads_by_creator on uploads using btree (created_by, wiki_id, upload_id);
create index uploads_by_planning on uploads using btree (wiki_id, planned_at desc nulls last);
create index uploads_waiting on uploads using btree (updated_at) where (status = 'uploading'::text);
create trigger acls before update of finished_at on uploads for each row when (((new.finished_at is not null) and (old.finished_at is null))) execute function note_upload_acls();
create trigger started before insert on uploads for each row execute function note_started_acls();
grant delete, insert, select, update on uploads to ibid_service;
alter table uploads enable row level security;
create policy of_the_wiki on uploads for all
  using (((wiki_id = ( select own_wiki())) and ((not ( select restricts())) or shows_upload(created_by, case when ((finished_at is not null) and ((status = 'completed'::text) or (planned_at is not null))) then acl_nos else (acl_nos || started_nos) end, ((finished_at is not null) and ((status = 'completed'::text) or (planned_at is not null))), (status = 'completed'::text)))));

-- Files of an upload and their results. After a crash another worker continues with the pending ones.
create table upload_files (
  -- Wiki of the upload.
  wiki_id          text collate "C" not null,
  -- Upload that the file belongs to.
  upload_id        text collate "C" not null,
  -- Number in the upload; contents of archives, folders and sections are numbered after the announced files.
  file_no          integer not null,
  -- folder: the page of a folder without a file of its own. archive: unpacked into separate rows. section: one page of a file that is too long for a single page; its name is the name of the file, # and the slugs of the headings.
  kind             text collate "C" not null default 'file'::text,
  -- Relative path as the client sent it, cleaned.
  filename         text collate "C" not null,
  -- Media type that the client stated or the archive implies; '' for folders.
  content_type     text collate "C" not null,
  -- Announced size in bytes; the size of the Markdown for a section, 0 for folders.
  byte_size        bigint not null,
  -- Blob with the bytes; '' until all bytes are stored and checked, and for folders. A section has the blob of its file.
  sha256           text collate "C" not null,
  -- pending until the ingest job has processed the file.
  status           text collate "C" not null default 'pending'::text,
  -- "code: message" of a failed file; for a done one a note for the summary, such as what an archive contained besides; '' for none.
  error            text collate "C" not null default ''::text,
  -- Path of the page, decided before the first file is read; '' before and for files without a page.
  page_path        text collate "C" not null default ''::text,
  -- Page that the file becomes or is attached to; null without one. Decided together with page_path.
  page_id          text collate "C",
  -- Effect on the page; '' before. merged: combined with edits of people. same: nothing changed. kept: edits conflict, so the page was left alone and marked stale.
  page_change      text collate "C" not null default ''::text,
  -- Source with the bytes of the file; null until it is done and for files without one.
  source_id        text collate "C",
  -- Whether this file added the source; uploads.source_count counts these.
  new_source       boolean not null default false,
  -- Id of the form file_… that the client sends bytes to; null for folders, sections and contents of archives.
  file_id          text collate "C",
  -- Durable bytes from the start of the file, where the client resumes.
  received         bigint not null default 0,
  -- Hash announced by the client, compared once all bytes have arrived; '' if it announced none.
  promised_sha256  text collate "C" not null default ''::text,
  -- file_no of the file that a section is part of; null for other kinds.
  section_of       integer,
  -- Number of times that a worker died while it processed the file; the file is given up after a few.
  attempts         smallint not null default 0,
  -- Whether the file becomes no page, but an attachment of the pages that show or link to it. page_id is the first of them.
  is_attachment    boolean not null default false,
  -- Worker whose attempt is included in attempts; null for none. If the worker still lives, the attempt is taken back.
  begun_by         text collate "C",
  -- Name in an earlier upload if the page moves together with the renamed file; otherwise ''.
  renamed_from     text collate "C" not null default ''::text,
  -- pages.position of the new page; null to use file_no, as for sections.
  position         integer,
  -- Lower-case normalized filename, by which links find the file; null for sections. Written by a trigger.
  name_key         text collate "C",
  -- Lower-case title derived from the filename, by which wiki links find the file; null for all but files. Written by a trigger.
  title_key        text collate "C",
  primary key (wiki_id, upload_id, file_no),
  check (((received >= 0) and (received <= byte_size))),
  check ((kind = any (array['file'::text, 'folder'::text, 'archive'::text, 'section'::text]))),
  check ((page_change = any (array[''::text, 'new'::text, 'updated'::text, 'merged'::text, 'same'::text, 'kept'::text]))),
  check (((kind = 'section'::text) = (section_of is not null))),
  check ((status = any (array['pending'::text, 'done'::text, 'failed'::text]))),
  foreign key (wiki_id, upload_id) references uploads(wiki_id, upload_id) on delete cascade
);
create index upload_files_attached_by_filename on upload_files using btree (wiki_id, filename) where (is_attachment and (status = 'done'::text));
create index upload_files_by_filename on upload_files using btree (wiki_id, filename) where (status = 'done'::text);
create index upload_files_by_former_name on upload_files using btree (wiki_id, renamed_from) where (renamed_from <> ''::text);
create index upload_files_by_name_key on upload_files using btree (wiki_id, name_key) where ((status = 'done'::text) and (name_key is not null));
create index upload_files_by_path on upload_files using btree (wiki_id, upload_id, page_path, file_no) where (page_path <> ''::text);
create index upload_files_by_sha256 on upload_files using btree (sha256);
create index upload_files_by_title_key on upload_files using btree (wiki_id, title_key) where ((status = 'done'::text) and (title_key is not null));
create index upload_files_failed on upload_files using btree (wiki_id, upload_id) where ((kind = 'file'::text) and (status = 'failed'::text) and (sha256 <> ''::text));
create index upload_files_pages_of_sections on upload_files using btree (wiki_id, page_id) where (section_of is not null);
create index upload_files_sections on upload_files using btree (wiki_id, upload_id, section_of) where (section_of is not null);
create unique index upload_files_of_tus on upload_files using btree (wiki_id, upload_id, file_id) where (file_id is not null);
create trigger name_upload_file before insert on upload_files for each row execute function name_upload_file();
create trigger usage_on_delete after delete on upload_files referencing old table as old_rows for each statement execute function count_upload_files();
create trigger usage_on_insert after insert on upload_files referencing new table as new_rows for each statement execute function count_upload_files();
create trigger usage_on_update after update on upload_files referencing old table as old_rows new table as new_rows for each statement execute function count_upload_files();
grant delete, insert, select, update on upload_files to ibid_service;
alter table upload_files enable row level security;
create policy of_the_wiki on upload_files for all
  using (((wiki_id = ( select own_wiki())) and ((not ( select restricts())) or (not (exists ( select from hidden_uploads h where ((h.wiki_id = upload_files.wiki_id) and (h.upload_id = upload_files.upload_id)) offset 0))))));

-- Received parts of incomplete files. A part in the file store without a row is an orphan.
create table upload_parts (
  -- Wiki of the upload.
  wiki_id    text collate "C" not null,
  -- Upload of the file.
  upload_id  text collate "C" not null,
  -- File that the part belongs to.
  file_no    integer not null,
  -- Offset of the part in the file, in bytes.
  start_at   bigint not null,
  -- Size of the part in bytes.
  byte_size  bigint not null,
  -- Name of the part in the file store.
  name       text collate "C" not null,
  primary key (wiki_id, upload_id, file_no, start_at),
  check ((byte_size > 0)),
  foreign key (wiki_id, upload_id) references uploads(wiki_id, upload_id) on delete cascade
);
create index upload_parts_by_name on upload_parts using btree (name);
grant delete, insert, select, update on upload_parts to ibid_service;
alter table upload_parts enable row level security;
create policy of_the_wiki on upload_parts for all
  using ((((wiki_id = ( select own_wiki())) and ((not ( select restricts())) or (not (exists ( select from hidden_uploads h where ((h.wiki_id = upload_parts.wiki_id) and (h.upload_id = upload_parts.upload_id)) offset 0))))) or ( select is_service())));

-- Original documents from which pages were compiled. The same bytes are one source per wiki and restriction, however often they are uploaded.
create table sources (
  -- Wiki that the source belongs to.
  wiki_id            text collate "C" not null,
  -- Id of the form source_….
  source_id          text collate "C" not null,
  -- Upload that first had the bytes; no foreign key.
  upload_id          text collate "C" not null,
  -- Title of the document, from its content or its filename.
  title              text collate "C" not null,
  -- Name in the first upload, with folders.
  filename           text collate "C" not null,
  -- Media type found on extraction, which can differ from the announced one.
  content_type       text collate "C" not null,
  -- Size in bytes, which counts towards the quota.
  byte_size          bigint not null,
  -- Blob with the bytes.
  sha256             text collate "C" not null,
  -- Language tag that the document states; '' for none.
  language           text collate "C" not null default ''::text,
  -- Start of the transaction that wrote the row.
  created_at         timestamp with time zone not null default now(),
  -- Same as created_at: sources are not edited.
  updated_at         timestamp with time zone not null default now(),
  -- Content of the file that the text lacks, by kind and place; at most 500 entries, see packages/documents/formats/losses.ts.
  losses             jsonb not null default '[]'::jsonb,
  -- Number of entries in losses, for lists.
  loss_count         integer not null default 0,
  -- Number of losses that a person should look at, because not every file of the format has them.
  losses_to_review   integer not null default 0,
  -- Characters of the file's text without white space, counted by a second reader to detect losses; 0 if not counted.
  file_characters    integer not null default 0,
  -- Version of the extractor that read the text, see packages/documents/extractor-versions.json; 0 from before versions were numbered.
  extractor_version  integer not null default 0,
  -- Numbers of the restrictions of the pages that the source is for; a caller sees the source if they read all of them. settle_sources keeps it right.
  acl_nos            integer[] not null default '{}'::integer[],
  -- Tells sources with the same bytes apart: the bytes are one source for each restriction, because a caller must not notice that a hidden source has them.
  copy_no            integer not null default 0,
  primary key (wiki_id, source_id),
  foreign key (wiki_id) references wikis(wiki_id) on delete cascade
);
create index sources_by_sha256 on sources using btree (sha256);
create index sources_restricted on sources using btree (wiki_id, source_id) where (acl_nos <> '{}'::integer[]);
create index sources_with_losses on sources using btree (wiki_id, source_id) where (loss_count > 0);
create unique index sources_copies on sources using btree (wiki_id, sha256, copy_no);
create trigger acls_of_new after insert on sources referencing new table as changed for each statement execute function note_source_acls();
create trigger acls_of_removed after delete on sources referencing old table as changed for each statement execute function note_source_acls();
create trigger legal_hold after delete on sources referencing old table as old_rows for each statement execute function refuse_deletion_under_hold();
create trigger usage_on_delete after delete on sources referencing old table as old_rows for each statement execute function count_stored_files();
create trigger usage_on_insert after insert on sources referencing new table as new_rows for each statement execute function count_stored_files();
grant delete, insert, select, update on sources to ibid_service;
alter table sources enable row level security;
create policy deleters on sources for delete
  using (((not ( select restricts())) or (acl_nos = '{}'::integer[]) or (acl_nos <@ ( select numbers_of(own_writes())))));
create policy of_the_wiki on sources for all
  using (((wiki_id = ( select own_wiki())) and ((not ( select restricts())) or (acl_nos = '{}'::integer[]) or (acl_nos <@ ( select numbers_of(own_reads()))))));
create policy writers on sources for update
  using (((not ( select restricts())) or (acl_nos = '{}'::integer[]) or (acl_nos <@ ( select numbers_of(own_writes())))));

-- Plain text of each source, for search and snippets.
create table source_texts (
  -- Wiki of the source.
  wiki_id    text collate "C" not null,
  -- Source whose text this is.
  source_id  text collate "C" not null,
  -- Plain text of the source, which the offsets in page_sources refer to.
  text       text collate "C" not null,
  primary key (wiki_id, source_id),
  foreign key (wiki_id, source_id) references sources(wiki_id, source_id) on delete cascade
);
grant delete, insert, select, update on source_texts to ibid_service;
alter table source_texts enable row level security;
create policy of_the_wiki on source_texts for all
  using (((wiki_id = ( select own_wiki())) and ((not ( select restricts())) or (not (exists ( select from hidden_sources h where ((h.wiki_id = source_texts.wiki_id) and (h.source_id = source_texts.source_id)) offset 0))))));

-- Sources of a page, and for each block of the page, in order, the part of the source it was compiled from. The lists have one element per block.
create table page_sources (
  -- Wiki of page and source.
  wiki_id            text collate "C" not null,
  -- Page that was compiled from the source.
  page_id            text collate "C" not null,
  -- Source of the page.
  source_id          text collate "C" not null,
  -- Start of each block in source_texts.text, in UTF-16 code units.
  starts             integer[] not null default '{}'::integer[],
  -- End of each block in source_texts.text, in UTF-16 code units.
  ends               integer[] not null default '{}'::integer[],
  -- Page of the source (PDF) on which each block starts, from 1; empty for formats without pages.
  first_pages        integer[] not null default '{}'::integer[],
  -- Page of the source on which each block ends; empty like first_pages.
  last_pages         integer[] not null default '{}'::integer[],
  -- Concatenated SHA-256 of each block's text (UTF-8) as compiled, 32 bytes each; they show whether a block was edited since.
  hashes             bytea not null default '\x'::bytea,
  -- Line of the file (Markdown, text, CSV) on which each block starts, from 1, or 0 for a block that is not from it; in Word the paragraph, in EPUB the chapter. Empty for other formats and older pages.
  first_lines        integer[] not null default '{}'::integer[],
  -- Line of the file on which each block ends; empty like first_lines.
  last_lines         integer[] not null default '{}'::integer[],
  -- Indexes (from 0) of the blocks whose form differs from their text, see packages/markdown/blocks/block-form.ts; null on pages from before forms were kept.
  form_blocks        integer[],
  -- Concatenated SHA-256 of the forms of form_blocks (UTF-8) as compiled, 32 bytes each.
  form_hashes        bytea not null default '\x'::bytea,
  -- Rectangles on the pages of the source, six integers each: block index (from 0), page (from 1), then left, top, right and bottom in points from the upper left corner of the page as shown. Null for none.
  boxes              integer[],
  -- Version of the extractor that compiled the page; 0 from before it was stored, when forms did not mark what a browser draws (formulas, diagrams).
  extractor_version  integer not null default 0,
  -- Version of the forms in form_hashes: 0 lacks heads of columns and words of notes, 1 has them; see packages/markdown/blocks/block-form.ts.
  form_version       integer not null default 0,
  -- Surroundings of each block as compiled, 16 bytes each, see packages/markdown/blocks/block-context.ts; null on pages from before they were kept.
  contexts           bytea,
  -- Block index (from 0) of each element of targets.
  target_blocks      integer[],
  -- Link targets and pictures of the blocks, see packages/markdown/blocks/block-targets.ts; null on pages from before they were kept.
  targets            text[] collate "C",
  primary key (wiki_id, page_id, source_id),
  check (((cardinality(ends) = cardinality(starts)) and (length(hashes) = (32 * cardinality(starts))) and ((cardinality(first_pages) = 0) or (cardinality(first_pages) = cardinality(starts))) and (cardinality(last_pages) = cardinality(first_pages)))),
  check ((((cardinality(first_lines) = 0) or (cardinality(first_lines) = cardinality(starts))) and (cardinality(last_lines) = cardinality(first_lines)))),
  foreign key (wiki_id, page_id) references pages(wiki_id, page_id) on delete cascade,
  foreign key (wiki_id, source_id) references sources(wiki_id, source_id) on delete cascade
);
create index page_sources_by_source on page_sources using btree (wiki_id, source_id);
grant delete, insert, select, update on page_sources to ibid_service;
alter table page_sources enable row level security;
create policy of_the_wiki on page_sources for all
  using (((wiki_id = ( select own_wiki())) and ((not ( select restricts())) or (not (exists ( select from hidden_pages h where ((h.wiki_id = page_sources.wiki_id) and (h.page_id = page_sources.page_id)) offset 0))))));

-- Inputs from which the page of a file was last compiled, so that an unchanged file is skipped. A page without a row is compiled again.
create table compiled_files (
  -- Wiki of the page.
  wiki_id    text collate "C" not null,
  -- Page of the file.
  page_id    text collate "C" not null,
  -- Last upload that had the file in this state; see upload_files.
  upload_id  text collate "C" not null,
  -- Row of upload_files in that upload; its sections refer to it.
  file_no    integer not null,
  -- Addresses in the file that may lead to other files; targets of wiki links start with "[[".
  refers_to  text[] collate "C" not null,
  -- Hash of everything that the page depends on: bytes, name and type of the file, path of the page, version of the compiler, and the target of each reference.
  digest     text collate "C" not null,
  primary key (wiki_id, page_id),
  foreign key (wiki_id, page_id) references pages(wiki_id, page_id) on delete cascade
);
grant delete, insert, select, update on compiled_files to ibid_service;
alter table compiled_files enable row level security;
create policy of_the_wiki on compiled_files for all
  using ((wiki_id = ( select own_wiki())));

-- Uploads of the caller, with the names of their files; a batch is small, because an upload may contain a thousand files.
create function caller_uploads(after_wiki text, after_id text) returns table(wiki_id text, upload_id text, status text, summary text, created_at timestamp with time zone, files json) language sql stable security definer set enable_bitmapscan to 'off' set search_path to 'public', 'pg_temp' as $$
  -- The summary has names of pages.
  select u.wiki_id, u.upload_id, u.status,
    case when u.acl_nos <@ numbers_of((bits_of(u.wiki_id, own_user())).reads) then u.summary else '' end, u.created_at, (
    select coalesce(json_agg(json_build_object(
      'filename', f.filename, 'content_type', f.content_type, 'byte_size', f.byte_size, 'status', f.status) order by f.file_no), '[]')
    from upload_files f where f.wiki_id = u.wiki_id and f.upload_id = u.upload_id and f.kind = 'file')
  from uploads u
  where u.created_by = (select own_user()) and (u.wiki_id, u.upload_id) > (after_wiki, after_id)
    and array_position((select caller_wikis()), u.wiki_id) is not null
  order by u.wiki_id, u.upload_id limit 10
$$;

-- Lower-case title derived from the name of a file.
create function file_title_key(filename text) returns text language sql immutable set search_path to 'public', 'pg_temp' as $$
  select folded(trim(regexp_replace(regexp_replace(regexp_replace(filename collate "default", '^.*/', ''), '(.)\.[^.\s]{1,16}$', '\1'), '[-_\s]+', ' ', 'g')))
$$;

-- Trigger function of upload_files: sets the keys by which links find a file.
create function name_upload_file() returns trigger language plpgsql set search_path to 'public', 'pg_temp' as $$
begin
  if new.kind <> 'section' then
    new.name_key := folded(normalize(new.filename));
  end if;
  if new.kind = 'file' then
    new.title_key := file_title_key(new.filename);
  end if;
  return new;
end $$;

-- Number of sources added by an upload so far. A separate function, because the calling statement may have waited for the job's last write and would not see it.
create function sources_made(wiki text, upload text) returns integer language plpgsql as $$
begin
  return (select count(*) from upload_files f where f.wiki_id = wiki and f.upload_id = upload and f.new_source);
end $$;

-- For the scheduler: wikis with uploads that have received no bytes for longer than age.
create function wikis_with_expired_uploads(age interval) returns table(wiki_id text, workspace_id text) language sql stable security definer set search_path to 'public', 'pg_temp' as $$
  select k.wiki_id, k.workspace_id from wikis k
  where k.wiki_id in (select u.wiki_id from uploads u where u.status = 'uploading' and u.updated_at < now() - age)
$$;

-- For the scheduler: wikis with uploads that failed longer ago than age and whose bytes are still stored.
create function wikis_with_failed_files(age interval) returns table(wiki_id text, workspace_id text) language sql stable security definer set search_path to 'public', 'pg_temp' as $$
  select k.wiki_id, k.workspace_id from wikis k
  where k.wiki_id in (
    select f.wiki_id from upload_files f join uploads u on u.wiki_id = f.wiki_id and u.upload_id = f.upload_id
    where f.kind = 'file' and f.status = 'failed' and f.sha256 <> '' and u.status = 'failed' and u.finished_at < now() - age)
$$;

-- ---- Search ----

-- State of a search index: one for the pages and one for the sources of each wiki. A merge locks the row.
create table search_wikis (
  -- Wiki that the index covers.
  wiki_id      text collate "C" not null,
  -- page or source: which documents the index covers.
  kind         text collate "C" not null,
  -- Next document_no to assign.
  next_no      integer not null default 0,
  -- Number of documents in the index.
  documents    integer not null default 0,
  -- Sum of title_length of the documents; divided by documents it gives the current average.
  title_terms  bigint not null default 0,
  -- Sum of body_length of the documents.
  body_terms   bigint not null default 0,
  -- Average title length that the stored impacts were computed with.
  pivot_title  real not null,
  -- Average text length that the stored impacts were computed with.
  pivot_body   real not null,
  -- Whether a reindex job is due, because the averages drifted from the pivots or the texts are older than the index.
  is_stale     boolean not null default false,
  -- Number of rows in search_words since the last packing into search_vocabulary; null to pack at the next merge.
  loose_words  integer,
  primary key (wiki_id, kind),
  check ((kind = any (array['page'::text, 'source'::text]))),
  foreign key (wiki_id) references wikis(wiki_id) on delete cascade
);
create index search_wikis_stale on search_wikis using btree (wiki_id) where is_stale;
create trigger with_its_index after delete on search_wikis for each row execute function remove_index();
grant delete, insert, select, update on search_wikis to ibid_service;
alter table search_wikis enable row level security;
create policy of_the_wiki on search_wikis for all
  using ((wiki_id = ( select own_wiki())));

-- Documents of an index and their numbers in postings.
create table search_documents (
  -- Wiki of the index.
  wiki_id       text collate "C" not null,
  -- page or source.
  kind          text collate "C" not null,
  -- Number in postings, which keep it short; stays with the document.
  document_no   integer not null,
  -- page_id or source_id; no foreign key, because a merge removes the row after the document is deleted.
  document_id   text collate "C" not null,
  -- Terms of the title in rows of earlier releases; '' since title_length is stored.
  title_terms   text collate "C" not null default ''::text,
  -- Terms of the text in rows of earlier releases; '' since body_length is stored.
  body_terms    text collate "C" not null default ''::text,
  -- No longer used.
  pivot_title   real not null default 0,
  -- No longer used.
  pivot_body    real not null default 0,
  -- Version of packages/markdown/analysis that found title_terms and body_terms.
  analysis      smallint not null default 0,
  -- Deflated body_terms in rows of earlier releases; null otherwise.
  body          bytea,
  -- Number of words of the title, subtracted from search_wikis.title_terms on removal; null if title_terms has to be counted.
  title_length  integer,
  -- Number of words of the text; null like title_length.
  body_length   integer,
  primary key (wiki_id, kind, document_no) include (document_id),
  unique (wiki_id, kind, document_id),
  foreign key (wiki_id) references wikis(wiki_id) on delete cascade
);
grant delete, insert, select, update on search_documents to ibid_service;
alter table search_documents enable row level security;
create policy of_the_wiki on search_documents for all
  using ((wiki_id = ( select own_wiki())));

-- Documents written since the last merge; searches read them in addition to the segments. Rows are only added, so writers never wait for each other.
create table search_pending (
  -- Wiki of the index.
  wiki_id      text collate "C" not null,
  -- page or source.
  kind         text collate "C" not null,
  -- page_id or source_id.
  document_id  text collate "C" not null,
  -- Revision of a page, 1 for a source, 2147483647 for a deletion; the highest counts.
  version      integer not null,
  -- Terms of the title with their counts; null to analyze the stored text at the merge.
  title_terms  text collate "C",
  -- Terms of the text with their counts; null if the text is unchanged or has to be analyzed at the merge.
  body_terms   text collate "C",
  -- Words as written, for spelling corrections; null to analyze the stored text at the merge.
  vocabulary   text collate "C",
  -- Time of the write; a merge is due some seconds later.
  created_at   timestamp with time zone not null default now(),
  -- Version of packages/markdown/analysis that found the terms; after an upgrade the merge analyzes the text again.
  analysis     smallint not null default 0,
  -- Deflated body_terms in rows of earlier releases; null otherwise.
  body         bytea,
  primary key (wiki_id, kind, document_id, version),
  foreign key (wiki_id) references wikis(wiki_id) on delete cascade
);
grant delete, insert, select, update on search_pending to ibid_service;
alter table search_pending enable row level security;
create policy of_the_wiki on search_pending for all
  using ((wiki_id = ( select own_wiki())));

-- Parts of an index, each written by one merge and then immutable except for dead.
create table search_segments (
  -- Random, so that postings cached under it stay valid after a restore.
  segment_id  bigint not null,
  -- Number of documents with postings in the segment, dead ones included.
  documents   integer not null,
  -- Number of documents in dead.
  dead_count  integer not null default 0,
  -- Size of its rows in search_blocks, by which merges choose segments.
  bytes       bigint not null,
  -- Wiki of the index.
  wiki_id     text collate "C" not null,
  -- page or source.
  kind        text collate "C" not null,
  -- Packed numbers of documents that were rewritten or deleted since; their postings here are ignored.
  dead        bytea not null default '\x'::bytea,
  -- Packed numbers of the documents with postings in the segment, dead ones included; null if unknown.
  held        bytea,
  primary key (wiki_id, kind, segment_id)
);
grant delete, insert, select, update on search_segments to ibid_service;
alter table search_segments enable row level security;
create policy of_the_wiki on search_segments for all
  using ((wiki_id = ( select own_wiki())));

-- Postings of a segment, cut into blocks in the order of terms (src/wiki/search/index/blocks.ts). Immutable.
create table search_blocks (
  -- Segment that the block belongs to.
  segment_id  bigint not null,
  -- Number of postings if the block belongs to one frequent term; 0 for a block of several terms.
  documents   integer not null,
  -- Number of the block among the blocks of a frequent term, from 0.
  part        smallint not null,
  -- Wiki of the index.
  wiki_id     text collate "C" not null,
  -- page or source.
  kind        text collate "C" not null,
  -- First term of the block, or its only one.
  term        text collate "C" not null,
  -- Encoded terms and postings.
  bytes       bytea not null,
  primary key (wiki_id, kind, segment_id, term, part)
);
grant delete, insert, select, update on search_blocks to ibid_service;
alter table search_blocks enable row level security;
create policy of_the_wiki on search_blocks for all
  using ((wiki_id = ( select own_wiki())));

-- Words as written that are not packed into search_vocabulary yet, for spelling corrections: a word with one wrong letter shares its beginning or its end with the right word.
create table search_words (
  -- Wiki of the index.
  wiki_id    text collate "C" not null,
  -- page or source.
  kind       text collate "C" not null,
  -- Word as written.
  word       text collate "C" not null,
  -- The word reversed, so that an index finds it by its end.
  backwards  text collate "C" not null,
  primary key (wiki_id, kind, word)
);
create index search_words_backwards on search_words using btree (wiki_id, kind, backwards);
grant delete, insert, select, update on search_words to ibid_service;
alter table search_words enable row level security;
create policy of_the_wiki on search_words for all
  using ((wiki_id = ( select own_wiki())));

-- Words as written, sorted and packed into blocks, once forwards and once reversed (src/wiki/search/index/vocabulary.ts).
create table search_vocabulary (
  -- Whether the words of the block are reversed.
  is_backwards  boolean not null,
  -- Wiki of the index.
  wiki_id       text collate "C" not null,
  -- page or source.
  kind          text collate "C" not null,
  -- First word of the block, by which a search finds the block of a word.
  first         text collate "C" not null,
  -- Words of the block in order, with a space before, between and after them.
  words         text collate "C" not null,
  primary key (wiki_id, kind, is_backwards, first),
  foreign key (wiki_id) references wikis(wiki_id) on delete cascade
);
grant delete, insert, select, update on search_vocabulary to ibid_service;
alter table search_vocabulary enable row level security;
create policy of_the_wiki on search_vocabulary for all
  using ((wiki_id = ( select own_wiki())));

-- Searches saved by a person under a name.
create table saved_searches (
  -- Wiki that is searched.
  wiki_id          text collate "C" not null,
  -- Owner, who alone sees the search.
  user_id          text collate "C" not null,
  -- Id chosen by the client.
  saved_search_id  text collate "C" not null,
  -- Name as typed.
  name             text collate "C" not null,
  -- Lower-case name, unique per person and wiki.
  name_key         text collate "C" not null generated always as (folded(name)) stored,
  -- Query as typed, with its operators.
  query            text collate "C" not null,
  -- Order of the results that the search was saved with.
  sort             text collate "C" not null,
  -- Time when the search was first saved.
  created_at       timestamp with time zone not null default now(),
  -- Time of the last change.
  updated_at       timestamp with time zone not null default now(),
  primary key (wiki_id, user_id, saved_search_id),
  unique (wiki_id, user_id, name_key),
  check (((length(name) >= 1) and (length(name) <= 100))),
  check (((length(query) >= 1) and (length(query) <= 1024))),
  check ((sort = any (array['relevance'::text, 'updated'::text, 'created'::text, 'title'::text]))),
  foreign key (user_id) references users(user_id) on delete cascade,
  foreign key (wiki_id) references wikis(wiki_id) on delete cascade
);
create index saved_searches_of_user on saved_searches using btree (user_id);
create trigger limit_saved_searches after insert on saved_searches for each row execute function limit_saved_searches();
grant delete, insert, select, update on saved_searches to ibid_service;
alter table saved_searches enable row level security;
create policy of_the_user on saved_searches for all
  using (((wiki_id = ( select own_wiki())) and (user_id = ( select own_user()))));

-- Searches saved by the caller.
create function caller_searches(after_wiki text, after_id text) returns table(wiki_id text, saved_search_id text, name text, query text, sort text, created_at timestamp with time zone, updated_at timestamp with time zone) language sql stable security definer set search_path to 'public', 'pg_temp' as $$
  select s.wiki_id, s.saved_search_id, s.name, s.query, s.sort, s.created_at, s.updated_at from saved_searches s
  where s.user_id = (select own_user()) and s.wiki_id = any ((select caller_wikis())::text[])
    and (s.wiki_id, s.saved_search_id) > (after_wiki, after_id)
  order by s.wiki_id, s.saved_search_id limit 500
$$;

-- Trigger function of saved_searches: limits each person to 50 per wiki.
create function limit_saved_searches() returns trigger language plpgsql security definer set search_path to 'public', 'pg_temp' as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('saved searches ' || new.wiki_id || ' ' || new.user_id, 0));
  if (select count(*) from saved_searches s where s.wiki_id = new.wiki_id and s.user_id = new.user_id) > 50 then
    raise exception 'a person has too many saved searches' using errcode = '23514', constraint = 'saved_searches_of_a_person';
  end if;
  return null;
end $$;

create function remove_index() returns trigger language plpgsql set search_path to 'public', 'pg_temp' as $$
begin
  delete from search_blocks where wiki_id = old.wiki_id and kind = old.kind;
  delete from search_segments where wiki_id = old.wiki_id and kind = old.kind;
  delete from search_words where wiki_id = old.wiki_id and kind = old.kind;
  return null;
end $$;

-- For metrics: number of documents waiting to be merged into the search indexes, and age of the oldest one in seconds.
create function search_backlog(out documents bigint, out oldest_seconds double precision) returns record language sql stable security definer set search_path to 'public', 'pg_temp' as $$
  select count(*), coalesce(extract(epoch from now() - min(p.created_at))::float8, 0) from search_pending p
$$;

-- For the scheduler: wikis with pending documents to merge, or with stale impacts to recompute.
create function wikis_to_index(enough integer, age interval) returns table(wiki_id text, workspace_id text) language sql stable security definer set search_path to 'public', 'pg_temp' as $$
  with recursive waiting as (
    (select p.wiki_id, p.kind from search_pending p order by p.wiki_id, p.kind limit 1)
    union all
    select n.wiki_id, n.kind from waiting w cross join lateral (
      select p.wiki_id, p.kind from search_pending p where (p.wiki_id, p.kind) > (w.wiki_id, w.kind)
      order by p.wiki_id, p.kind limit 1) n
  )
  select k.wiki_id, k.workspace_id from wikis k join (
    select w.wiki_id from waiting w cross join lateral (
      select count(*) as documents, min(p.created_at) as oldest from (
        select p.created_at from search_pending p where p.wiki_id = w.wiki_id and p.kind = w.kind
        order by p.document_id, p.version limit enough) p) p
    -- Ordered by the key; otherwise the planner would scan the table from its start. If fewer than enough documents
    -- wait, all of them are read.
    where p.documents >= enough or p.oldest < now() - age
    union
    select w.wiki_id from search_wikis w where w.is_stale and not exists (
      select from jobs j where j.wiki_id = w.wiki_id and j.kind = 'reindex' and j.status in ('queued', 'running'))
  ) due on due.wiki_id = k.wiki_id
$$;

-- ---- Exports and imports ----

-- Archives made by export jobs. They are deleted from the blob store after expires_at.
create table exports (
  -- Exported wiki.
  wiki_id     text collate "C" not null,
  -- Id of the job, see jobs.job_id.
  export_id   text collate "C" not null,
  -- User who asked for the export; no foreign key.
  created_by  text collate "C" not null,
  -- Name for the download: slug of the wiki and .zip.
  filename    text collate "C" not null,
  -- Blob with the archive; '' until the job has ended.
  sha256      text collate "C" not null default ''::text,
  -- Size of the archive, which counts towards the quota; 0 until the job has ended.
  byte_size   bigint not null default 0,
  -- End of the download, 7 days after the archive was made.
  expires_at  timestamp with time zone not null default (now() + '7 days'::interval),
  primary key (wiki_id, export_id),
  foreign key (wiki_id, export_id) references jobs(wiki_id, job_id) on delete cascade
);
create index exports_by_end on exports using btree (expires_at);
create index exports_by_sha256 on exports using btree (sha256);
create trigger usage_on_delete after delete on exports referencing old table as old_rows for each statement execute function count_stored_files();
create trigger usage_on_insert after insert on exports referencing new table as new_rows for each statement execute function count_stored_files();
create trigger usage_on_update after update on exports referencing old table as old_rows new table as new_rows for each statement execute function count_stored_files();
grant delete, insert, select, update on exports to ibid_service;
alter table exports enable row level security;
create policy of_the_wiki on exports for all
  using ((((wiki_id = ( select own_wiki())) and ((not ( select restricts())) or (created_by = ( select own_user())) or (( select own_user()) = ''::text))) or ( select is_service())));

-- Archives read by import jobs.
create table imports (
  -- Wiki that the pages go to.
  wiki_id     text collate "C" not null,
  -- Id of the job, see jobs.job_id.
  import_id   text collate "C" not null,
  -- User who asked for the import; no foreign key.
  created_by  text collate "C" not null,
  -- Name of the archive as uploaded.
  filename    text collate "C" not null,
  -- Blob with the archive.
  sha256      text collate "C" not null,
  -- Size of the archive, which counts towards the quota.
  byte_size   bigint not null,
  primary key (wiki_id, import_id),
  foreign key (wiki_id, import_id) references jobs(wiki_id, job_id) on delete cascade
);
create index imports_by_sha256 on imports using btree (sha256);
create trigger usage_on_delete after delete on imports referencing old table as old_rows for each statement execute function count_stored_files();
create trigger usage_on_insert after insert on imports referencing new table as new_rows for each statement execute function count_stored_files();
grant delete, insert, select, update on imports to ibid_service;
alter table imports enable row level security;
create policy of_the_wiki on imports for all
  using ((((wiki_id = ( select own_wiki())) and ((not ( select restricts())) or (created_by = ( select own_user())) or (( select own_user()) = ''::text))) or ( select is_service())));

-- Imports with rows in import_pages, import_revisions and import_attachments. All four tables are unlogged: after a crash of the database the row is missing, so the import starts over.
create table staged_imports (
  -- Wiki of the import.
  wiki_id    text collate "C" not null,
  -- Import whose rows are staged.
  import_id  text collate "C" not null,
  primary key (wiki_id, import_id),
  foreign key (wiki_id, import_id) references imports(wiki_id, import_id) on delete cascade
);
grant delete, insert, select, update on staged_imports to ibid_service;
alter table staged_imports enable row level security;
create policy of_the_wiki on staged_imports for all
  using ((wiki_id = ( select own_wiki())));

-- Pages that a running import has prepared; published together with their revisions in one transaction.
create table import_pages (
  -- Becomes pages.wiki_id.
  wiki_id         text collate "C" not null,
  -- Import that staged the row.
  import_id       text collate "C" not null,
  -- Becomes pages.page_id.
  page_id         text collate "C" not null,
  -- Becomes pages.path.
  path            text collate "C" not null,
  -- Becomes pages.slug.
  slug            text collate "C" not null,
  -- Becomes pages.parent_page_id.
  parent_page_id  text collate "C",
  -- Becomes pages.parent_path.
  parent_path     text collate "C",
  -- Becomes pages.title.
  title           text collate "C" not null,
  -- Becomes pages.description.
  description     text collate "C" not null,
  -- Becomes pages.position.
  position        integer not null,
  -- Becomes pages.status.
  status          text collate "C" not null,
  -- Becomes pages.origin.
  origin          text collate "C" not null,
  -- Becomes pages.stale.
  stale           boolean not null,
  -- Becomes pages.revision.
  revision        integer not null,
  -- Becomes pages.word_count.
  word_count      integer not null,
  -- Becomes pages.created_at.
  created_at      timestamp with time zone not null,
  -- Becomes pages.created_by.
  created_by      text collate "C" not null,
  -- Becomes pages.updated_at.
  updated_at      timestamp with time zone not null,
  -- Becomes pages.updated_by.
  updated_by      text collate "C" not null,
  -- JSON array of strings; they become rows of page_paths.
  former_paths    jsonb not null,
  -- Becomes pages.gone_file.
  gone_file       text collate "C",
  -- JSON array of strings; becomes pages.tags.
  tags            jsonb not null default '[]'::jsonb,
  -- Becomes pages.properties.
  properties      jsonb not null default '[]'::jsonb,
  primary key (wiki_id, import_id, page_id),
  foreign key (wiki_id, import_id) references staged_imports(wiki_id, import_id) on delete cascade
);
grant delete, insert, select, update on import_pages to ibid_service;
alter table import_pages enable row level security;
create policy of_the_wiki on import_pages for all
  using ((wiki_id = ( select own_wiki())));

-- Revisions that a running import has rendered.
create table import_revisions (
  -- Becomes revisions.wiki_id.
  wiki_id      text collate "C" not null,
  -- Import that staged the row.
  import_id    text collate "C" not null,
  -- Becomes revisions.page_id.
  page_id      text collate "C" not null,
  -- Becomes revisions.revision.
  revision     integer not null,
  -- Becomes revisions.title.
  title        text collate "C" not null,
  -- Becomes revisions.markdown.
  markdown     text collate "C" not null,
  -- Becomes revisions.html.
  html         text collate "C" not null,
  -- Becomes revisions.outline.
  outline      jsonb not null,
  -- Becomes revisions.origin.
  origin       text collate "C" not null,
  -- Becomes revisions.folder.
  folder       text collate "C" not null,
  -- Becomes revisions.created_at.
  created_at   timestamp with time zone not null,
  -- Becomes revisions.created_by.
  created_by   text collate "C" not null,
  -- Becomes page_texts.text; null for a replaced revision.
  text         text collate "C",
  -- Becomes search_pending.title_terms; null for a replaced revision.
  title_terms  text collate "C",
  -- Becomes search_pending.body_terms; null for a replaced revision.
  body_terms   text collate "C",
  -- Becomes search_pending.vocabulary; null for a replaced revision.
  vocabulary   text collate "C",
  -- JSON array of rows for page_links; null for a replaced revision.
  links        jsonb,
  -- Becomes revisions.claim.
  claim        jsonb,
  primary key (wiki_id, import_id, page_id, revision),
  foreign key (wiki_id, import_id) references staged_imports(wiki_id, import_id) on delete cascade
);
grant delete, insert, select, update on import_revisions to ibid_service;
alter table import_revisions enable row level security;
create policy of_the_wiki on import_revisions for all
  using ((wiki_id = ( select own_wiki())));

-- Attachments whose files a running import has stored. The rows are no references to blobs; after a failed import the files are deleted a day later.
create table import_attachments (
  -- Becomes attachments.wiki_id.
  wiki_id        text collate "C" not null,
  -- Import that staged the row.
  import_id      text collate "C" not null,
  -- Becomes attachments.attachment_id.
  attachment_id  text collate "C" not null,
  -- Becomes attachments.page_id.
  page_id        text collate "C" not null,
  -- Becomes attachments.filename.
  filename       text collate "C" not null,
  -- Becomes attachments.content_type.
  content_type   text collate "C" not null,
  -- Becomes attachments.byte_size.
  byte_size      bigint not null,
  -- Becomes attachments.sha256.
  sha256         text collate "C" not null,
  -- Becomes attachments.created_at.
  created_at     timestamp with time zone not null,
  -- Becomes attachments.created_by.
  created_by     text collate "C" not null,
  primary key (wiki_id, import_id, attachment_id),
  foreign key (wiki_id, import_id) references staged_imports(wiki_id, import_id) on delete cascade
);
grant delete, insert, select, update on import_attachments to ibid_service;
alter table import_attachments enable row level security;
create policy of_the_wiki on import_attachments for all
  using ((wiki_id = ( select own_wiki())));

-- People named in imported archives, as described there.
create table imported_people (
  -- Wiki of the import.
  wiki_id  text collate "C" not null,
  -- Id made for the person, which revisions refer to; no user has it.
  user_id  text collate "C" not null,
  -- Name in the archive; '' once the person with this address deleted their account.
  name     text collate "C" not null,
  -- Address in the archive, unverified; '' if missing and after such a deletion.
  email    text collate "C" not null,
  primary key (wiki_id, user_id),
  foreign key (wiki_id) references wikis(wiki_id) on delete cascade
);
create index imported_people_by_address on imported_people using btree (email);
grant delete, insert, select, update on imported_people to ibid_service;
alter table imported_people enable row level security;
create policy of_the_wiki on imported_people for all
  using ((wiki_id = ( select own_wiki())));

-- Rows that reference a blob, with the time of the reference; for a file of an upload, id is the upload's. Must contain every table that references blobs. Contains rows of all tenants, so only the service sees it; in psql, run "set ibid.service to on" first.
create view blob_references (sha256, kind, wiki_id, id, since);
grant select on blob_references to ibid_service;

-- Returns those ids that are in use for a page or an attachment of any wiki.
create function ids_in_use(ids text[]) returns setof text language sql stable security definer set search_path to 'public', 'pg_temp' as $$
    select page_id from pages where page_id = any (ids) union all
    select attachment_id from attachments where attachment_id = any (ids)
$$;

-- For the scheduler: wikis with staged rows of imports that have ended.
create function wikis_with_staged_imports() returns table(wiki_id text, workspace_id text) language sql stable security definer set search_path to 'public', 'pg_temp' as $$
  select k.wiki_id, k.workspace_id from wikis k where k.wiki_id in (
    select s.wiki_id from staged_imports s join jobs j on j.wiki_id = s.wiki_id and j.job_id = s.import_id
    where j.finished_at is not null)
$$;

-- ---- Operation ----

create table migrations (
  -- File in src/platform/db/migrations.
  name        text collate "C" not null,
  -- Time when the migration was recorded as applied.
  applied_at  timestamp with time zone not null default now(),
  -- Earliest migration whose release still works with the schema, or "any"; null for none.
  works_with  text collate "C",
  primary key (name)
);
grant select on migrations to ibid_service;

-- Operator settings for the whole service; no row for the defaults.
create table service_controls (
  -- Always true, so that there is one row at most.
  the_only         boolean not null default true,
  -- Whether no process claims jobs, as after a restore.
  jobs_are_paused  boolean not null,
  primary key (the_only),
  check (the_only)
);
grant select on service_controls to ibid_service;

-- Answers to requests with an Idempotency-Key, kept for 24 hours.
create table idempotency_keys (
  -- SHA-256 of caller, endpoint and key.
  id           bytea not null,
  -- Hash of the request; another request with the same key is refused.
  fingerprint  bytea not null,
  -- Reply, encrypted with the key, which only the client has.
  answer       bytea not null,
  -- Time of the answer.
  created_at   timestamp with time zone not null default now(),
  primary key (id)
);
create index idempotency_keys_by_age on idempotency_keys using btree (created_at);
grant delete, insert, select, update on idempotency_keys to ibid_service;

-- Uses of rate limits in the current window, shared by all processes. Unlogged: a crash of the database loses one window at most.
create table limit_counts (
  -- SHA-256 of the policy and the subject that it counts.
  bucket   bytea not null,
  -- Number of uses in the window; requests may exceed the quota, because processes report them in batches.
  used     integer not null,
  -- End of the window; the next use starts a new one.
  ends_at  timestamp with time zone not null,
  primary key (bucket)
);
create index limit_counts_by_end on limit_counts using btree (ends_at);
grant delete, insert, select, update on limit_counts to ibid_service;

-- The latest API calls of each workspace with a key or an access token. Processes write their calls in batches every few seconds (log_requests), so a crash loses the latest calls.
create table request_log (
  -- Workspace that the call was about; calls of others than its active members are left out.
  workspace_id     text collate "C" not null,
  -- Id of the form req_… that the service assigns; ascending in time.
  call_id          text collate "C" not null,
  -- Id of the request, which clients may choose.
  request_id       text collate "C" not null,
  -- HTTP method.
  method           text collate "C" not null,
  -- Route with its ids, without the query.
  path             text collate "C" not null,
  -- HTTP status of the response.
  status           integer not null,
  -- Code of the API error; '' for a success.
  error            text collate "C" not null,
  -- Time until the response in milliseconds.
  duration_ms      integer not null,
  -- key, session or identity.
  credential_kind  text collate "C" not null,
  -- Key, session or issuer; never the secret.
  credential_id    text collate "C" not null,
  -- Time of the call by the clock of the process.
  created_at       timestamp with time zone not null,
  primary key (workspace_id, call_id),
  foreign key (workspace_id) references workspaces(workspace_id) on delete cascade
);
grant select on request_log to ibid_service;
alter table request_log enable row level security;
create policy of_the_workspaces on request_log for all
  using ((workspace_id = any (( select own_workspaces())::text[])));

-- Outcome of the last backup of this database; no row before the first.
create table backup_status (
  -- Always true, so that there is one row at most.
  the_only        boolean not null default true,
  -- incomplete: the file store lacked some files, but the backup was kept.
  last_outcome    text collate "C" not null,
  -- Time when the last backup ended, whatever its outcome.
  last_ended_at   timestamp with time zone not null default now(),
  -- Message of a failed or incomplete backup; '' for a success.
  last_error      text collate "C" not null default ''::text,
  -- Latest backup that was made, even if a later one failed; null before the first.
  last_backup_id  text collate "C",
  -- Time of the snapshot in last_backup_id; null before the first.
  last_made_at    timestamp with time zone,
  primary key (the_only),
  check (the_only),
  check ((last_outcome = any (array['succeeded'::text, 'incomplete'::text, 'failed'::text])))
);
grant select on backup_status to ibid_service;

-- State of the write-ahead log that the supervised PostgreSQL stores with the backups for point-in-time recovery; no row while none is stored.
create table wal_archive (
  -- Always true, so that there is one row at most.
  the_only      boolean not null default true,
  -- Latest stored segment; null before the first and after a gap.
  last_segment  text collate "C",
  -- Commits before this time are stored; null before the first segment.
  stored_until  timestamp with time zone,
  -- Files of the blob store kept before this time are stored with the backups too; later ones are not deleted.
  files_until   timestamp with time zone not null default now(),
  -- Time when a lost segment was noticed; null if never. Only a newer base backup leads past it.
  gap_at        timestamp with time zone,
  -- Start of the base backup in the latest complete backup; null before the first.
  based_at      timestamp with time zone,
  primary key (the_only),
  check (the_only)
);
grant select on wal_archive to ibid_service;

-- Timelines on which the primary has written, one more after each fail-over. A replica is up to date with the timeline if its last row equals the primary's last row.
create table wal_timelines (
  -- First 8 hexadecimal digits of the names of its WAL segments.
  timeline  text collate "C" not null,
  -- Random id that reads from a replica compare, because another cluster can have the same timeline.
  marker    uuid not null default gen_random_uuid(),
  -- Time when a process first saw the timeline.
  seen_at   timestamp with time zone not null default now(),
  primary key (timeline)
);
grant insert, select on wal_timelines to ibid_service;

-- Restrictions of pages.
create table page_acls (
  -- Wiki of the page.
  wiki_id        text collate "C" not null,
  -- Number of the restriction; a wiki gives it once.
  acl_no         integer not null,
  -- Page that is restricted together with those below it.
  page_id        text collate "C" not null,
  -- Number of the restriction around it, whose readers alone can be readers of this one; 0 for none.
  outer_no       integer not null default 0,
  -- Number of restrictions around it.
  depth          integer not null default 0,
  -- Time of the restriction.
  restricted_at  timestamp with time zone not null default now(),
  -- User who restricted the page; no foreign key.
  restricted_by  text collate "C" not null,
  primary key (wiki_id, acl_no),
  unique (wiki_id, page_id),
  foreign key (wiki_id, page_id) references pages(wiki_id, page_id) on delete cascade
);
create index page_acls_inner on page_acls using btree (wiki_id, depth) where (outer_no > 0);
create trigger number before insert on page_acls for each row execute function number_acl();
create trigger settle after insert or delete on page_acls for each row execute function change_acl();
grant delete, insert, select on page_acls to ibid_service;
alter table page_acls enable row level security;
create policy of_the_wiki on page_acls for all
  using (((wiki_id = ( select own_wiki())) and (exists ( select from pages p where ((p.wiki_id = page_acls.wiki_id) and (p.page_id = page_acls.page_id))))));

-- People whom a restriction admits.
create table page_grants (
  -- Wiki of the restriction.
  wiki_id     text collate "C" not null,
  -- Restriction that the grant is part of.
  acl_no      integer not null,
  -- Person who is admitted.
  user_id     text collate "C" not null,
  -- What the person may do, each level including the ones before; the role in the workspace stays the ceiling.
  level       text collate "C" not null,
  -- Time of the grant.
  granted_at  timestamp with time zone not null default now(),
  -- User who gave it; no foreign key.
  granted_by  text collate "C" not null,
  primary key (wiki_id, acl_no, user_id),
  check ((level = any (array['read'::text, 'comment'::text, 'write'::text, 'manage'::text]))),
  foreign key (user_id) references users(user_id) on delete cascade,
  foreign key (wiki_id, acl_no) references page_acls(wiki_id, acl_no) on delete cascade
);
create index page_grants_of_user on page_grants using btree (user_id, wiki_id);
create trigger bits_of_others after update on page_grants referencing old table as changed for each statement execute function change_bits();
create trigger bits_on_delete after delete on page_grants referencing old table as changed for each statement execute function change_bits();
create trigger bits_on_insert after insert on page_grants referencing new table as changed for each statement execute function change_bits();
create trigger bits_on_update after update on page_grants referencing new table as changed for each statement execute function change_bits();
grant delete, insert, select, update on page_grants to ibid_service;
alter table page_grants enable row level security;
create policy of_the_wiki on page_grants for all
  using (((wiki_id = ( select own_wiki())) and (exists ( select from page_acls a where ((a.wiki_id = page_grants.wiki_id) and (a.acl_no = page_grants.acl_no))))));

-- page_grants as bits for set_request_context. Only written by the trigger of page_grants.
create table subject_bits (
  -- Wiki of the restrictions.
  wiki_id     text collate "C" not null,
  -- User whom they admit.
  subject_id  text collate "C" not null,
  -- A bit for each number of a restriction, from 1: whether the person reads its pages. Missing bits are 0.
  reads       bit varying not null,
  -- The same for writing.
  writes      bit varying not null,
  primary key (wiki_id, subject_id),
  foreign key (wiki_id) references wikis(wiki_id) on delete cascade
);
alter table subject_bits enable row level security;

-- Pages of own_wiki() whose restriction does not admit the caller, for policies.
create view hidden_pages (wiki_id, page_id);
grant select on hidden_pages to ibid_service;

-- Sources of own_wiki() whose restrictions do not admit the caller, for policies.
create view hidden_sources (wiki_id, source_id);
grant select on hidden_sources to ibid_service;

-- Uploads of own_wiki() that the caller does not see, for policies.
create view hidden_uploads (wiki_id, upload_id);
grant select on hidden_uploads to ibid_service;

-- Exports and imports of own_wiki() by other people, for policies.
create view transfers_of_others (wiki_id, job_id);
grant select on transfers_of_others to ibid_service;

-- For jobs that have written much: analyzes tables that have grown by a tenth since their last analysis.
create function analyze_grown_tables() returns void language plpgsql security definer set search_path to 'public', 'pg_temp' as $$
declare
  t regclass;
begin
  for t in
    select c.oid from pg_class c
    where c.relkind = 'r' and c.relnamespace = current_schema()::regnamespace
      and pg_relation_size(c.oid) / current_setting('block_size')::int > 1.1 * greatest(c.relpages, 0) + 8
  loop
    execute format('analyze (skip_locked) %s', t);
  end loop;
end $$;

-- Ids of the pages above a page of own_wiki(), nearest first, including drafts that the caller does not see: published pages below them are listed.
create function ancestors(wiki text, page text) returns table(page_id text) language plpgsql stable security definer rows 5 set search_path to 'public', 'pg_temp' as $$
declare
  step text := page;
begin
  if wiki is distinct from own_wiki() then
    return;
  end if;
  loop
    select p.parent_page_id into step from pages p where p.wiki_id = wiki and p.page_id = step and p.trashed_at is null;
    exit when step is null;
    page_id := step;
    return next;
  end loop;
end $$;

-- Restrictions of a wiki whose pages a user reads and writes, as bits by their number.
create function bits_of(wiki text, who text, out reads bit varying, out writes bit varying) returns record language plpgsql stable security definer set search_path to 'public', 'pg_temp' as $$
declare
  one record;
begin
  select b.reads, b.writes into reads, writes from subject_bits b where b.wiki_id = wiki and b.subject_id = who;
  -- A restriction inside another one opens only for those whom both admit. The outer one comes first.
  for one in
    select a.acl_no, a.outer_no from page_acls a where a.wiki_id = wiki and a.outer_no > 0 order by a.depth
  loop
    if not has_bit(reads, one.outer_no) then
      if one.acl_no <= length(reads) then reads := set_bit(reads, one.acl_no - 1, 0); end if;
      if one.acl_no <= length(writes) then writes := set_bit(writes, one.acl_no - 1, 0); end if;
    end if;
  end loop;
  reads := coalesce(reads, '');
  writes := coalesce(writes, '');
end $$;

-- Trigger function of page_acls: numbers the pages below and their sources, and changes wikis.tree_version.
create function change_acl() returns trigger language plpgsql security definer set search_path to 'public', 'pg_temp' as $$
declare
  subject page_acls := coalesce(new, old);
  changed text[];
begin
  -- Nothing is below a page that is deleted for good, and no caller has seen it.
  if tg_op = 'DELETE' and not exists (select from pages p where p.wiki_id = old.wiki_id and p.page_id = old.page_id) then
    return null;
  end if;
  changed := settle_acls(subject.wiki_id, subject.page_id);
  if tg_op = 'DELETE' then
    -- The restriction was lifted. Sources without a page go to the restriction around it.
    update sources s set acl_nos = array_remove(array_replace(s.acl_nos, old.acl_no, old.outer_no), 0)
    where s.wiki_id = old.wiki_id and s.acl_nos @> array[old.acl_no];
    update uploads u set acl_nos = array_remove(array_replace(u.acl_nos, old.acl_no, old.outer_no), 0),
      started_nos = array_remove(array_replace(u.started_nos, old.acl_no, old.outer_no), 0)
    where u.wiki_id = old.wiki_id and (u.acl_nos @> array[old.acl_no] or u.started_nos @> array[old.acl_no]);
  end if;
  if changed <> '{}' then
    perform settle_sources(subject.wiki_id, changed);
  end if;
  update wikis k set sources_version = k.sources_version + 1,
    tree_version = pg_current_xact_id()::text || '-' || (extract(epoch from now()) * 1000000)::bigint
  where k.wiki_id = subject.wiki_id;
  return null;
end $$;

-- Trigger function of page_grants: writes the bits of the people whose grants changed.
create function change_bits() returns trigger language plpgsql security definer set search_path to 'public', 'pg_temp' as $$
begin
  insert into subject_bits as b (wiki_id, subject_id, reads, writes)
  select s.wiki_id, s.user_id, g.reads, g.writes
  from (select distinct c.wiki_id, c.user_id from changed c) s
  cross join lateral (
    select coalesce(string_agg(case when g.level is null then '0' else '1' end, '' order by n.no), '')::bit varying as reads,
      coalesce(string_agg(case when g.level in ('write', 'manage') then '1' else '0' end, '' order by n.no), '')::bit varying as writes
    from generate_series(1, (
      select max(g.acl_no) from page_grants g where g.wiki_id = s.wiki_id and g.user_id = s.user_id)) n (no)
    left join page_grants g on g.wiki_id = s.wiki_id and g.acl_no = n.no and g.user_id = s.user_id) g
  join wikis k on k.wiki_id = s.wiki_id
  on conflict (wiki_id, subject_id) do update set reads = excluded.reads, writes = excluded.writes;
  return null;
end $$;

-- Makes a copy of a source for its pages of one restriction (0: of none), and returns its id.
create function copy_source(wiki text, original text, acl integer) returns text language plpgsql security definer set search_path to 'public', 'pg_temp' as $$
declare
  -- It starts like the id of the original, so both are neighbours in lists.
  made text := left(original, -12) || translate(substr(md5(random()::text || clock_timestamp()::text), 1, 12), 'abcdef', 'vwxyz0');
begin
  insert into sources (wiki_id, source_id, upload_id, title, filename, content_type, byte_size, sha256, language, created_at, updated_at,
    losses, loss_count, losses_to_review, file_characters, extractor_version, acl_nos, copy_no)
  select s.wiki_id, made, s.upload_id, s.title, s.filename, s.content_type, s.byte_size, s.sha256, s.language, s.created_at, s.updated_at,
    s.losses, s.loss_count, s.losses_to_review, s.file_characters, s.extractor_version, array_remove(array[acl], 0),
    (select max(o.copy_no) + 1 from sources o where o.wiki_id = wiki and o.sha256 = s.sha256)
  from sources s where s.wiki_id = wiki and s.source_id = original;
  insert into source_texts (wiki_id, source_id, text)
  select wiki, made, t.text from source_texts t where t.wiki_id = wiki and t.source_id = original;
  insert into search_pending (wiki_id, kind, document_id, version) values (wiki, 'source', made, 1);
  update page_sources c set source_id = made from pages p
  where c.wiki_id = wiki and c.source_id = original and p.wiki_id = wiki and p.page_id = c.page_id and p.acl_no = acl;
  update upload_files f set source_id = made from pages p
  where f.wiki_id = wiki and f.source_id = original and p.wiki_id = wiki and p.page_id = f.page_id and p.acl_no = acl;
  return made;
end $$;

-- Trigger function of memberships: grants end with the membership, and follow it to the account that it moves to.
create function end_grants() returns trigger language plpgsql security definer set search_path to 'public', 'pg_temp' as $$
begin
  if tg_op = 'UPDATE' then
    update page_grants g set user_id = new.user_id from wikis k
    where k.workspace_id = old.workspace_id and g.wiki_id = k.wiki_id and g.user_id = old.user_id;
  else
    delete from page_grants g using wikis k
    where k.workspace_id = old.workspace_id and g.wiki_id = k.wiki_id and g.user_id = old.user_id;
  end if;
  return null;
end $$;

-- The first of these slugs that no page of own_wiki() has below a path (null: at the root), hidden pages included; null if all are taken.
create function free_slug(wiki text, below text, slugs text[]) returns text language plpgsql stable security definer set search_path to 'public', 'pg_temp' as $$
declare
  candidate text;
begin
  if wiki is distinct from own_wiki() then
    return null;
  end if;
  foreach candidate in array slugs loop
    if not exists (
      select from pages p
      where p.wiki_id = wiki and p.path = coalesce(below || '/', '') || candidate and p.trashed_at is null)
    then
      return candidate;
    end if;
  end loop;
  return null;
end $$;

-- Whether the bit with this number, from 1, is set; missing bits are not.
create function has_bit(bits bit varying, no integer) returns boolean language sql immutable parallel safe as $$
  select substring(bits from no for 1) = B'1'
$$;

-- The page of own_wiki() at a path, or with a title_key, also if the writer of the link does not see it: it is stored for readers who do. Whoever does not see the page is shown a link to a missing page.
create function hidden_link_target(wiki text, wanted_path text, wanted_title text) returns text language sql stable security definer set search_path to 'public', 'pg_temp' as $$
  select coalesce(
    (select p.page_id from pages p where p.wiki_id = wiki and p.path = wanted_path and p.trashed_at is null),
    (select p.page_id from pages p where p.wiki_id = wiki and p.title_key = wanted_title and p.trashed_at is null
      order by length(p.path), p.page_id limit 1))
  where restricts() and wiki = own_wiki()
$$;

-- Trigger function of pages: new pages belong to the restriction of their parents.
create function inherit_acls() returns trigger language plpgsql security definer set search_path to 'public', 'pg_temp' as $$
declare
  one record;
begin
  for one in
    select n.wiki_id, n.page_id from new_rows n join wikis k on k.wiki_id = n.wiki_id and k.acls > 0
    where n.parent_page_id is not null and not exists (
      select from new_rows o where o.wiki_id = n.wiki_id and o.page_id = n.parent_page_id)
  loop
    perform settle_acls(one.wiki_id, one.page_id);
  end loop;
  return null;
end $$;

-- Whether the caller sees a page, but its restriction does not let them change it.
create function is_closed_page(wiki text, page text) returns boolean language sql stable as $$
  select restricts() and exists (
    select from pages p
    where p.wiki_id = wiki and p.page_id = page and p.acl_no > 0 and not has_bit((select own_writes()), p.acl_no))
$$;

-- Whether a restriction keeps the caller from writing a planned page of an upload: the page itself, or the nearest page above, is hidden or may only be read.
create function is_closed_place(wiki text, upload text, page text, page_path text) returns boolean language plpgsql stable security definer set search_path to 'public', 'pg_temp' as $$
declare
  above text := page_path;
  acl int;
  is_live boolean;
begin
  if not restricts() or wiki is distinct from own_wiki() then
    return false;
  end if;
  select p.acl_no, p.trashed_at is null into acl, is_live from pages p where p.wiki_id = wiki and p.page_id = page;
  if acl > 0 and not has_bit(own_writes(), acl) then
    return true;
  end if;
  -- The page will be made below the nearest page that exists.
  while is_live is not true and position('/' in above) > 0 loop
    above := regexp_replace(above, '/[^/]*$', '');
    select p.acl_no, true into acl, is_live from pages p
    where p.wiki_id = wiki and p.trashed_at is null and p.page_id = coalesce(
      (select f.page_id from upload_files f join pages n on n.wiki_id = f.wiki_id and n.page_id = f.page_id and n.trashed_at is null
        where f.wiki_id = wiki and f.upload_id = upload and f.page_path = above order by f.file_no limit 1),
      (select n.page_id from pages n where n.wiki_id = wiki and n.path = above and n.trashed_at is null));
  end loop;
  return coalesce(is_live and acl > 0 and not has_bit(own_writes(), acl), false);
end $$;

-- Whether the caller sees a source, but the restriction of its pages does not let them change it.
create function is_closed_source(wiki text, source text) returns boolean language sql stable as $$
  select restricts() and exists (
    select from sources s
    where s.wiki_id = wiki and s.source_id = source and not s.acl_nos <@ numbers_of(own_writes()))
$$;

-- Whether the caller sees an upload of another person, but the restriction of its pages does not let them change it.
create function is_closed_upload(wiki text, upload text) returns boolean language sql stable as $$
  select restricts() and exists (
    select from uploads u
    where u.wiki_id = wiki and u.upload_id = upload and u.created_by <> own_user()
      and not (u.acl_nos || case when u.finished_at is null then numbers_of((bits_of(wiki, u.created_by)).writes) else '{}' end)
        <@ numbers_of(own_writes()))
$$;

-- User who asked for a job; the job sees what this person sees. Null for a job of the service.
create function job_creator(wiki text, job text) returns text language sql stable security definer set search_path to 'public', 'pg_temp' as $$
  select coalesce(
    (select u.created_by from jobs j join uploads u on u.wiki_id = j.wiki_id and u.upload_id = j.upload_id
      where j.wiki_id = wiki and j.job_id = job),
    (select e.created_by from exports e where e.wiki_id = wiki and e.export_id = job),
    (select i.created_by from imports i where i.wiki_id = wiki and i.import_id = job))
$$;

-- Changes whenever a job changes, or who sees the restricted pages of its wiki.
create function job_version(wiki text, job text) returns text language sql stable security definer set search_path to 'public', 'pg_temp' as $$
  select concat_ws(' ', j.xmin, k.sources_version, (select sum(b.xmin::text::bigint) from subject_bits b where b.wiki_id = wiki))
  from jobs j join wikis k on k.wiki_id = j.wiki_id
  where j.wiki_id = wiki and j.job_id = job and is_service()
$$;

-- Whether a page of own_wiki() leaves the restriction around it by a move to a new parent (null or empty: the root); null if that is its parent.
create function leaves_acl(wiki text, page text, new_parent text) returns boolean language sql stable security definer set search_path to 'public', 'pg_temp' as $$
  with recursive here as (
    select o.acl_no from pages p join pages o on o.wiki_id = p.wiki_id and o.page_id = p.parent_page_id
    where wiki = own_wiki() and p.wiki_id = wiki and p.page_id = page and o.acl_no > 0
  ), there as (
    select n.acl_no from here, pages n where n.wiki_id = wiki and n.page_id = new_parent and n.acl_no > 0
    union all
    select a.outer_no from there t join page_acls a on a.wiki_id = wiki and a.acl_no = t.acl_no where a.outer_no > 0
  )
  select case when not exists (
      select from pages p
      where wiki = own_wiki() and p.wiki_id = wiki and p.page_id = page and coalesce(p.parent_page_id, '') = coalesce(new_parent, ''))
    then exists (select from here h where h.acl_no not in (select t.acl_no from there t)) end
$$;

-- Trigger function of pages: resolves links of pages that the caller does not see or may not change to a page that is new at its path or has a new title.
create function link_closed_pages() returns trigger language plpgsql security definer set search_path to 'public', 'pg_temp' as $$
begin
  if restricts() and new.wiki_id = own_wiki() then
    update page_links l set to_page_id = new.page_id
    from (
      select k.from_page_id, k.to_path from page_links k where k.wiki_id = new.wiki_id and k.to_path = new.path and k.to_page_id is null
      union
      select k.from_page_id, k.to_path from page_links k
      where k.wiki_id = new.wiki_id and k.wanted_title is not null and k.wanted_path = new.path and k.to_page_id is null
      union
      select k.from_page_id, k.to_path from page_links k where k.wiki_id = new.wiki_id and k.wanted_title = new.title_key and k.to_page_id is null
    ) w join pages f on f.wiki_id = new.wiki_id and f.page_id = w.from_page_id
    where l.wiki_id = new.wiki_id and l.from_page_id = w.from_page_id and l.to_path = w.to_path
      and f.acl_no > 0 and not has_bit(own_writes(), f.acl_no);
  end if;
  return null;
end $$;

-- Adds calls to the log of their workspace if the user is an active member, and keeps the latest ones of each workspace. Hashes and subjects only identify the credential and are not stored.
create function log_requests(calls jsonb, kept integer) returns void language plpgsql security definer set search_path to 'public', 'pg_temp' as $$
declare of_workspaces text[];
begin
  with named as (
    select c.call_id, c.request_id, c.method, c.path, c.status, c.error, c.duration_ms, c.kind, c.created_at,
      coalesce(c.workspace_id, w.workspace_id, k.workspace_id) as workspace_id, k.workspace_id as bound_to,
      coalesce(k.user_id, s.user_id, i.user_id) as user_id, coalesce(k.key_id, s.session_id, i.issuer) as credential_id
    from jsonb_to_recordset(calls) as c(
      call_id text, request_id text, method text, path text, status int, error text, duration_ms int, kind text, hash text,
      issuer text, subject text, workspace_id text, wiki_id text, created_at timestamptz)
    left join wikis w on w.wiki_id = c.wiki_id
    left join api_keys k on c.kind = 'key' and k.secret_hash = decode(c.hash, 'hex')
    left join sessions s on c.kind = 'session' and s.access_hash = decode(c.hash, 'hex')
    left join identities i on c.kind = 'identity' and i.issuer = c.issuer and i.subject = c.subject
  ), added as (
    insert into request_log (
      workspace_id, call_id, request_id, method, path, status, error, duration_ms, credential_kind, credential_id, created_at)
    select n.workspace_id, n.call_id, n.request_id, n.method, n.path, n.status, n.error, n.duration_ms, n.kind, n.credential_id,
      n.created_at
    from named n
    where (n.bound_to is null or n.bound_to = n.workspace_id)
      and exists (
        select from memberships m
        where m.user_id = n.user_id and m.workspace_id = n.workspace_id and m.status = 'active')
    returning workspace_id
  )
  select array_agg(distinct workspace_id) into of_workspaces from added;
  if of_workspaces is null then
    return;
  end if;
  -- Prevents a deadlock of two processes that delete the same rows in different orders.
  perform pg_advisory_xact_lock(hashtextextended('request log', 0));
  delete from request_log r using unnest(of_workspaces) as o(workspace_id)
  where r.workspace_id = o.workspace_id and r.call_id <= (
    select l.call_id from request_log l where l.workspace_id = o.workspace_id order by l.call_id desc offset kept limit 1);
end $$;

-- Trigger function of pages: a moved page belongs to the restriction of its new parent, and its sources with it.
create function move_acls() returns trigger language plpgsql security definer set search_path to 'public', 'pg_temp' as $$
declare
  changed text[];
begin
  if exists (select from wikis k where k.wiki_id = new.wiki_id and k.acls > 0) then
    changed := settle_acls(new.wiki_id, new.page_id);
    if changed <> '{}' then
      perform settle_sources(new.wiki_id, changed);
    end if;
  end if;
  return null;
end $$;

-- Gives a source the names of the first file of its pages of one restriction (0: of none), so that the names of hidden pages stay hidden.
create function name_source(wiki text, source text, acl integer) returns void language sql security definer set search_path to 'public', 'pg_temp' as $$
  update sources s set acl_nos = array_remove(array[acl], 0), filename = n.filename, upload_id = n.upload_id,
    title = coalesce((
      select r.title from revisions r
      where r.wiki_id = wiki and r.page_id = n.page_id and r.origin = 'compiled' order by r.revision limit 1), s.title)
  from (
    select f.filename, f.upload_id, f.page_id from upload_files f join pages p on p.wiki_id = wiki and p.page_id = f.page_id
    where f.wiki_id = wiki and f.source_id = source and p.acl_no = acl
    order by f.upload_id, f.file_no limit 1) n
  where s.wiki_id = wiki and s.source_id = source
$$;

-- copy_no for a further source of own_wiki() with these bytes, hidden sources included.
create function next_copy(wiki text, bytes text) returns integer language sql stable security definer set search_path to 'public', 'pg_temp' as $$
  select coalesce(max(s.copy_no) + 1, 0) from sources s where s.wiki_id = wiki and s.sha256 = bytes and wiki = own_wiki()
$$;

-- Trigger function of sources: changes wikis.sources_version.
create function note_source_acls() returns trigger language plpgsql security definer set search_path to 'public', 'pg_temp' as $$
begin
  if exists (select from changed c where c.acl_nos <> '{}') then
    update wikis k set sources_version = k.sources_version + 1
    where k.wiki_id in (select c.wiki_id from changed c where c.acl_nos <> '{}');
  end if;
  return null;
end $$;

-- Trigger function of uploads: notes the restrictions that admit the creator.
create function note_started_acls() returns trigger language plpgsql security definer set search_path to 'public', 'pg_temp' as $$
begin
  if exists (select from wikis k where k.wiki_id = new.wiki_id and k.acls > 0) then
    new.started_nos := numbers_of((bits_of(new.wiki_id, new.created_by)).reads);
  end if;
  return new;
end $$;

-- Trigger function of uploads: notes the restrictions of its pages when an upload ends.
create function note_upload_acls() returns trigger language plpgsql security definer set search_path to 'public', 'pg_temp' as $$
begin
  if exists (select from wikis k where k.wiki_id = new.wiki_id and k.acls > 0) then
    new.acl_nos := array(
      select distinct n.acl_no from (
        select p.acl_no from upload_files f join pages p on p.wiki_id = f.wiki_id and p.page_id = f.page_id
        where f.wiki_id = new.wiki_id and f.upload_id = new.upload_id
        union
        -- For a page that was never written, the pages above decide.
        select k.acl_no from upload_files f
        join page_acls k on k.wiki_id = f.wiki_id
        join pages p on p.wiki_id = k.wiki_id and p.page_id = k.page_id and p.trashed_at is null
          and (p.path = f.page_path or starts_with(f.page_path, p.path || '/'))
        where f.wiki_id = new.wiki_id and f.upload_id = new.upload_id and f.page_path <> '' and not exists (
          select from pages w where w.wiki_id = f.wiki_id and w.page_id = f.page_id)
        union
        -- The place of a file that became no page is known from other files of its folder.
        select unnest(new.started_nos) where exists (
          select from (
            select regexp_replace(f.filename, '[^/]*$', '') as folder from upload_files f
            where f.wiki_id = new.wiki_id and f.upload_id = new.upload_id and f.kind = 'file' and f.status <> 'done' and f.page_path = '') u
          where u.folder <> '' and not exists (
            select from upload_files o join pages p on p.wiki_id = o.wiki_id and p.page_id = o.page_id
            where o.wiki_id = new.wiki_id and o.upload_id = new.upload_id and starts_with(o.filename, u.folder)))
        union
        select unnest(new.acl_nos)) n
      where n.acl_no > 0 order by n.acl_no);
  end if;
  return new;
end $$;

-- Trigger function of page_acls: gives a restriction the next number of its wiki, and admits its author until the end of the transaction.
create function number_acl() returns trigger language plpgsql security definer set search_path to 'public', 'pg_temp' as $$
begin
  update wikis k set acls = k.acls + 1 where k.wiki_id = new.wiki_id returning k.acls into new.acl_no;
  if new.wiki_id = own_wiki() and own_user() <> '' then
    perform set_config('ibid.restricts', 'on', true),
      set_config('ibid.reads', rpad(current_setting('ibid.reads'), new.acl_no - 1, '0') || '1', true),
      set_config('ibid.writes', rpad(current_setting('ibid.writes'), new.acl_no - 1, '0') || '1', true);
  end if;
  return new;
end $$;

-- The numbers, from 1, of the bits that are set.
create function numbers_of(bits bit varying) returns integer[] language sql immutable parallel safe as $$
  select array(select n from generate_series(1, length(bits)) n where has_bit(bits, n))
$$;

-- Restrictions of own_wiki() whose pages the caller reads, as bits.
create function own_reads() returns bit varying language sql stable parallel safe as $$
  select current_setting('ibid.reads', true)::bit varying
$$;

-- Names the set of pages of own_wiki() that the caller sees in one state of its tree: the same for two callers exactly if they see the same.
create function own_view() returns text language sql stable parallel safe as $$
  select case when current_setting('ibid.drafts', true) = 'on' then '-drafts' else '' end
    || case when current_setting('ibid.reads', true) <> '' then '-' || left(md5(current_setting('ibid.reads', true)), 12) else '' end
$$;

-- Restrictions of own_wiki() whose pages the caller writes, as bits.
create function own_writes() returns bit varying language sql stable parallel safe as $$
  select current_setting('ibid.writes', true)::bit varying
$$;

-- Number of pages of own_wiki() outside the trash, hidden pages included.
create function page_count(wiki text) returns integer language sql stable security definer set search_path to 'public', 'pg_temp' as $$
  select count(*)::int from pages p where p.wiki_id = wiki and p.trashed_at is null and wiki = own_wiki()
$$;

-- Facts about pages of own_wiki() outside the trash, by document number, including hidden pages: the facts are cached for all callers, and a caller is only shown counts of visible pages.
create function page_facts(wiki text, numbers integer[]) returns table(document_no integer, page_id text, created_by text, status text, folder text, acl_no integer) language sql stable security definer set search_path to 'public', 'pg_temp' as $$
  select n.no, d.document_id, p.created_by, p.status, split_part(p.path, '/', 1), p.acl_no
  from unnest(numbers) n (no)
  cross join lateral (
    select d.document_id from search_documents d
    where d.wiki_id = wiki and d.kind = 'page' and d.document_no = n.no offset 0) d
  cross join lateral (
    select p.created_by, p.status, p.path, p.trashed_at, p.acl_no from pages p
    where p.wiki_id = wiki and p.page_id = d.document_id offset 0) p
  where wiki = own_wiki() and p.trashed_at is null
$$;

-- Pages of own_wiki() that some callers do not find, because they are in the trash, not published or restricted, with their numbers in the index (null if they are not indexed).
create function pages_not_open(wiki text) returns table(document_no integer, page_id text, is_trashed boolean, status text, acl_no integer) language sql stable security definer set search_path to 'public', 'pg_temp' as $$
  select d.document_no, h.page_id, h.trashed_at is not null, h.status, h.acl_no
  from (
    select p.page_id, p.trashed_at, p.status, p.acl_no from pages p
    where p.wiki_id = wiki and (p.trashed_at is not null or p.status <> 'published')
    union all
    select p.page_id, p.trashed_at, p.status, p.acl_no from pages p
    where p.wiki_id = wiki and p.acl_no > 0 and p.trashed_at is null and p.status = 'published') h
  left join search_documents d on d.wiki_id = wiki and d.kind = 'page' and d.document_id = h.page_id
  where wiki = own_wiki()
$$;

-- Trigger function of pages: deletes the sources of a restriction that ended with its page.
create function remove_orphaned_sources() returns trigger language plpgsql security definer set search_path to 'public', 'pg_temp' as $$
begin
  delete from sources s using (select distinct o.wiki_id, o.acl_no from old_rows o where o.acl_no > 0) g
  where s.wiki_id = g.wiki_id and s.acl_nos @> array[g.acl_no]
    and not exists (select from page_acls a where a.wiki_id = g.wiki_id and a.acl_no = g.acl_no)
    and not exists (select from page_sources c where c.wiki_id = s.wiki_id and c.source_id = s.source_id);
  return null;
end $$;

-- Reads again which restrictions of own_wiki() admit the caller, or the person for whom a job acts, for a transaction that has waited for the lock of the wiki.
create function renew_restrictions(wiki text, person text) returns void language plpgsql security definer set search_path to 'public', 'pg_temp' as $$
declare
  bits record;
begin
  if wiki is distinct from own_wiki() or own_user() not in ('', person) then
    return;
  end if;
  select b.reads, b.writes into bits from bits_of(wiki, person) b;
  perform set_config('ibid.restricts', 'on', true),
    set_config('ibid.reads', rtrim(bits.reads::text, '0'), true),
    set_config('ibid.writes', rtrim(bits.writes::text, '0'), true);
end $$;

-- Whether own_wiki() has restrictions that apply to the caller. False for jobs of the wiki that act for no user.
create function restricts() returns boolean language sql stable parallel safe as $$
  select current_setting('ibid.restricts', true) = 'on'
$$;

-- Whether the caller sees the drafts of own_wiki(): the role and the key give pages:write. True for jobs of the wiki.
create function sees_drafts() returns boolean language sql stable parallel safe as $$
  select current_setting('ibid.drafts', true) = 'on'
$$;

-- Gives a page and the pages below it the numbers of their nearest restrictions, and returns the ids of the pages with a new number. The caller holds the lock of the wiki.
create function settle_acls(wiki text, top text) returns text[] language plpgsql security definer set search_path to 'public', 'pg_temp' as $$
declare
  changed text[];
  is_placed boolean;
begin
  -- Where the page has the right number, those below have theirs.
  if exists (
    select from pages p
    left join page_acls a on a.wiki_id = wiki and a.page_id = p.page_id
    left join pages o on o.wiki_id = wiki and o.page_id = p.parent_page_id
    where p.wiki_id = wiki and p.page_id = top and p.acl_no = coalesce(a.acl_no, o.acl_no, 0)
      and (a.acl_no is null or a.outer_no = coalesce(o.acl_no, 0)))
  then
    return '{}';
  end if;
  with recursive below as (
    select p.page_id, p.acl_no as was, a.acl_no as own, coalesce(a.acl_no, o.acl_no, 0) as is_now, coalesce(o.acl_no, 0) as outer_no
    from pages p
    left join page_acls a on a.wiki_id = wiki and a.page_id = p.page_id
    left join pages o on o.wiki_id = wiki and o.page_id = p.parent_page_id
    where p.wiki_id = wiki and p.page_id = top
    union all
    select c.page_id, c.acl_no, a.acl_no, coalesce(a.acl_no, b.is_now), b.is_now
    from below b
    cross join lateral (
      select c.page_id, c.acl_no from pages c where c.wiki_id = wiki and c.parent_page_id = b.page_id offset 0) c
    left join page_acls a on a.wiki_id = wiki and a.page_id = c.page_id
  ), placed as (
    update page_acls a set outer_no = b.outer_no from below b
    where a.wiki_id = wiki and a.acl_no = b.own and a.outer_no <> b.outer_no
    returning 1
  ), numbered as (
    update pages p set acl_no = b.is_now from below b
    where p.wiki_id = wiki and p.page_id = b.page_id and p.acl_no <> b.is_now
    returning p.page_id
  )
  select (select array_agg(n.page_id) from numbered n), exists (select from placed) into changed, is_placed;
  -- A restriction is seldom inside of another one.
  if is_placed then
    with recursive around as (
      select a.acl_no, 0 as depth from page_acls a where a.wiki_id = wiki and a.outer_no = 0
      union all
      select a.acl_no, o.depth + 1 from around o join page_acls a on a.wiki_id = wiki and a.outer_no = o.acl_no
    )
    update page_acls a set depth = o.depth from around o
    where a.wiki_id = wiki and a.acl_no = o.acl_no and a.depth <> o.depth;
  end if;
  return coalesce(changed, '{}');
end $$;

-- Gives uploads and sources the restrictions of their pages, some of which have changed. The same bytes for two restrictions become two sources. The caller holds the lock of the wiki.
create function settle_sources(wiki text, changed text[]) returns void language plpgsql security definer set search_path to 'public', 'pg_temp' as $$
declare
  one record;
  part record;
  copied text;
begin
  update uploads u set acl_nos = array(select distinct n from unnest(u.acl_nos || f.nos) n order by n)
  from (
    select f.upload_id, array_agg(distinct p.acl_no) as nos
    from pages p join upload_files f on f.wiki_id = wiki and f.page_id = p.page_id
    where p.wiki_id = wiki and p.page_id = any (changed) and p.acl_no > 0
    group by f.upload_id) f
  where u.wiki_id = wiki and u.upload_id = f.upload_id and not u.acl_nos @> f.nos;
  for one in
    with files as materialized (
      select distinct f.source_id, f.page_id, f.kind = 'section' as is_section from upload_files f
      where f.wiki_id = wiki and f.source_id is not null and f.page_id is not null
    ), touched as (
      select c.source_id from page_sources c where c.wiki_id = wiki and c.page_id = any (changed)
      union
      select f.source_id from files f where f.page_id = any (changed)
    ), homes as (
      select t.source_id, p.acl_no, true as is_cited, false as is_section
      from touched t join page_sources c on c.wiki_id = wiki and c.source_id = t.source_id
      join pages p on p.wiki_id = wiki and p.page_id = c.page_id
      union
      select t.source_id, p.acl_no, false, f.is_section
      from touched t join files f on f.source_id = t.source_id
      join pages p on p.wiki_id = wiki and p.page_id = f.page_id
    ), settled as (
      select h.source_id, array_agg(distinct h.acl_no) filter (where h.is_cited) as cited,
        coalesce(array_agg(distinct h.acl_no) filter (where h.acl_no > 0), '{}') as all_nos,
        bool_or(h.is_section) as has_sections
      from homes h group by h.source_id
    )
    select s.source_id, s.acl_nos, t.cited, t.all_nos, t.has_sections,
      -- Pages of one divided file share a source; otherwise each restriction has its own.
      not t.has_sections and coalesce(cardinality(t.cited), 0) > 1 as is_shared,
      case when t.has_sections or t.cited is null then t.all_nos else array_remove(t.cited, 0) end as nos
    from settled t join sources s on s.wiki_id = wiki and s.source_id = t.source_id
  loop
    if not one.is_shared then
      update sources s set acl_nos = one.nos where s.wiki_id = wiki and s.source_id = one.source_id and s.acl_nos <> one.nos;
      -- A page of another restriction had the file before, and the source may have the name of it.
      if one.cited is not null and not one.has_sections and one.all_nos <> one.nos then
        perform name_source(wiki, one.source_id, coalesce(one.nos[1], 0));
      end if;
      continue;
    end if;
    -- The pages that were there keep the source; each other restriction gets a copy with the name of its own file.
    for part in
      select n as acl_no, row_number() over (order by array_remove(array[n], 0) = one.acl_nos desc, n) = 1 as is_first
      from unnest(one.cited) n order by is_first
    loop
      copied := case when part.is_first then one.source_id else copy_source(wiki, one.source_id, part.acl_no) end;
      perform name_source(wiki, copied, part.acl_no);
    end loop;
  end loop;
  update wikis k set sources_version = k.sources_version + 1 where k.wiki_id = wiki;
end $$;

-- Whether the caller sees an upload of own_wiki(). Until it is settled, it may write whatever its creator sees, so it is for callers who see as much; its creator sees it until it is completed. Jobs see all uploads.
create function shows_upload(creator text, acl_nos integer[], is_settled boolean, is_completed boolean) returns boolean language sql stable parallel safe as $$
  select own_user() = '' or creator = own_user() and not is_completed
    or numbers_of(own_reads()) @> acl_nos
      and (is_settled or numbers_of(own_reads()) @> numbers_of((bits_of(own_wiki(), creator)).reads))
$$;

-- Sources of own_wiki() that some callers do not see, with their numbers in the index (null if they are not indexed).
create function sources_not_open(wiki text) returns table(document_no integer, source_id text, acl_nos integer[]) language sql stable security definer set search_path to 'public', 'pg_temp' as $$
  select d.document_no, s.source_id, s.acl_nos
  from sources s
  left join search_documents d on d.wiki_id = wiki and d.kind = 'source' and d.document_id = s.source_id
  where s.wiki_id = wiki and s.acl_nos <> '{}' and wiki = own_wiki()
$$;

-- The given paths that are taken by a page of own_wiki(), which may be hidden: a path belongs to one page.
create function taken_paths(wiki text, paths text[]) returns setof text language sql stable security definer set search_path to 'public', 'pg_temp' as $$
  select t.path from unnest(paths) w (path)
  cross join lateral (
    select p.path from pages p where p.wiki_id = wiki and p.path = w.path and p.trashed_at is null offset 0) t
  where wiki = own_wiki()
$$;

-- Number of restrictions of a page and of the pages below it that the caller does not manage. moves_out: the page leaves the restriction around it; null if it keeps its parent, so that its own restriction does not count.
create function unmanaged_acls(wiki text, page text, moves_out boolean) returns integer language sql stable security definer set search_path to 'public', 'pg_temp' as $$
  with recursive top as (
    select p.page_id, coalesce((
      select o.acl_no from pages o where o.wiki_id = wiki and o.page_id = p.parent_page_id), 0) as outer_no
    from pages p
    where restricts() and wiki = own_wiki() and p.wiki_id = wiki and p.page_id = page
      and (p.acl_no = 0 or has_bit((select own_reads()), p.acl_no))
  ), up as (
    select a.acl_no, a.page_id from top, page_acls a where a.wiki_id = wiki and (moves_out is not null or a.page_id <> page)
    union all
    select u.acl_no, p.parent_page_id
    from up u cross join lateral (
      select p.parent_page_id from pages p where p.wiki_id = wiki and p.page_id = u.page_id offset 0) p
    where u.page_id <> page and p.parent_page_id is not null
  ), inside as (
    select u.acl_no from up u where u.page_id = page
    union
    select t.outer_no from top t where moves_out and t.outer_no > 0
  )
  select count(*)::int from inside i
  where not exists (
    select from page_grants g
    where g.wiki_id = wiki and g.acl_no = i.acl_no and g.user_id = own_user() and g.level = 'manage')
$$;

-- Waits until this server has replayed the log up to a position of the primary; fails with IBLAG after the given time. Later statements of the same transaction see everything up to the position.
create function wait_for_replay(lsn pg_lsn, marker uuid, milliseconds integer) returns void language plpgsql strict as $$
declare
  give_up_at constant timestamptz := clock_timestamp() + make_interval(secs => milliseconds / 1000.0);
  last wal_timelines;
begin
  while coalesce(pg_last_wal_replay_lsn(), '0/0') < lsn and pg_is_in_recovery() loop
    if clock_timestamp() >= give_up_at then
      raise exception 'the replica is behind the primary' using errcode = 'IBLAG';
    end if;
    perform pg_sleep(0.001);
  end loop;
  select * into last from wal_timelines t order by t.timeline desc limit 1;
  -- The server may be the primary itself. A former primary is on an earlier timeline, and a promoted replica on a later
  -- one.
  if last.marker is distinct from wait_for_replay.marker
    or not pg_is_in_recovery() and left(pg_walfile_name(pg_current_wal_flush_lsn()), 8) <> last.timeline then
    raise exception 'the replica does not follow the primary' using errcode = 'IBLAG';
  end if;
end $$;
