-- An address had one link, which the next request replaced, and five requests in an hour: a third party could use up both.
-- Now each request has a link of its own. What was sent before this migration must be requested again.

create table email_links (
  link_id    text collate "C" primary key,
  email      text collate "C" not null,
  network    text collate "C" not null,
  token_hash bytea unique,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);
comment on table email_links is 'A row for each request of a sign-in link, for any address, so that the time an answer takes tells nothing. token_hash is null where the address may not sign in, and once a link of the address was used: that ends them all. network: where the request came from.';
create index email_links_by_email on email_links (email, link_id);
create index email_links_by_end on email_links (expires_at);

grant select, insert, update, delete on email_links to ibid_service;
alter table email_links enable row level security;
create policy of_the_service on email_links using ((select is_service()));

alter table sessions add column network text collate "C" not null default '';
comment on column sessions.network is 'The network of address (an IPv6 address counts as its /64), from which its user may ask for links and enter passwords whatever strangers have used up; empty in a session that was last refreshed before the column existed.';

comment on table sign_in_links is 'Not used any more.';
comment on table password_guesses is 'Guesses in a row at the password of one e-mail address, counted before they are judged: from one network, and under the address * from all networks together that its user has no session from.';
