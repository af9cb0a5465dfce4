-- works with: 210_wikis_to_index.sql
-- Ending the session at the issuer takes the ID token that began the session here.
alter table sessions add column id_token text;
comment on column sessions.id_token is 'The ID token that the session began with at an OpenID provider, to sign out there; null for every other session, and once the session is revoked. It opens nothing here.';

create function forget_id_token() returns trigger language plpgsql as $$
begin
  new.id_token := null;
  return new;
end $$;
comment on function forget_id_token is 'A revoked session keeps no ID token.';
create trigger forget_id_token before update of revoked_at on sessions
  for each row when (new.revoked_at is not null and new.id_token is not null) execute function forget_id_token();
