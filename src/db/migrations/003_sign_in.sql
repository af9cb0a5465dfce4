-- Sign-in without another party: sessions, e-mail links, passwords, attempts at an OpenID provider, the first owner.

create table sessions (
  session_id        text collate "C" primary key,
  user_id           text collate "C" not null references users on delete cascade,
  access_hash       bytea not null unique,
  access_expires_at timestamptz not null,
  address           text not null,
  user_agent        text not null,
  created_at        timestamptz not null default now(),
  last_used_at      timestamptz not null default now(),
  expires_at        timestamptz not null,
  revoked_at        timestamptz
);
comment on table sessions is 'Somebody who signed in here. The present access token is kept as its SHA-256 alone; each refresh replaces it. expires_at is final: no refresh moves it.';
create index sessions_by_user on sessions (user_id, session_id);
create index sessions_by_end on sessions (expires_at);

create table refresh_tokens (
  token_hash bytea primary key,
  session_id text collate "C" not null references sessions on delete cascade,
  user_id    text collate "C" not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  used_at    timestamptz
);
comment on table refresh_tokens is 'Used ones stay until they would have expired, so that a second use is noticed: it ends the session.';
create index refresh_tokens_by_session on refresh_tokens (session_id);
create index refresh_tokens_by_end on refresh_tokens (expires_at);

create table sign_in_links (
  email      text collate "C" primary key,
  token_hash bytea unique,
  expires_at timestamptz not null,
  sent_at    timestamptz[] not null
);
comment on table sign_in_links is 'The newest link of an address; token_hash is null once it was used, or where none was sent. A row is made for whatever address is asked for, so that the time an answer takes tells nothing. sent_at: the requests of the last hour.';
create index sign_in_links_by_end on sign_in_links (expires_at);

create table passwords (
  user_id    text collate "C" primary key references users on delete cascade,
  phc        text not null,
  changed_at timestamptz not null default now()
);
comment on table passwords is 'Argon2id, as a PHC string, which names its own parameters.';

create table password_guesses (
  email        text collate "C" not null,
  address      text collate "C" not null,
  guesses      int not null,
  locked_until timestamptz not null,
  primary key (email, address)
);
comment on table password_guesses is 'Guesses in a row at the password of one e-mail address from one network address, counted before they are judged.';
create index password_guesses_by_end on password_guesses (locked_until);

create table openid_attempts (
  attempt_hash bytea primary key,
  sealed       bytea not null,
  expires_at   timestamptz not null
);
comment on table openid_attempts is 'Sign-ins that are under way at the OpenID provider: state, nonce and verifier, encrypted under the secret that the client keeps.';
create index openid_attempts_by_end on openid_attempts (expires_at);

create table welcome_links (
  token_hash bytea primary key,
  created_at timestamptz not null default now()
);
comment on table welcome_links is 'Links that starts have printed while there was no user. With the first user they are void.';
