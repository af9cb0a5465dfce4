-- works with: 102_tree_version.sql
-- Where a router of shards has to send a transaction is asked before its first statement. Both answer an id alone, and to the service
-- alone: what the caller may see is decided by the transaction itself.
create function workspace_of_wiki(wiki text) returns setof text
language sql stable security definer set search_path = public, pg_temp
as $$ select coalesce(k.workspace_id, k.deleted_from) from wikis k where k.wiki_id = wiki $$;
comment on function workspace_of_wiki(text) is 'The workspace that a wiki is of, also of a deleted one; no row where there is none.';
revoke all on function workspace_of_wiki(text) from public;
grant execute on function workspace_of_wiki(text) to ibid_service;

create function workspace_of_invitation(secret bytea) returns setof text
language sql stable security definer set search_path = public, pg_temp
as $$ select i.workspace_id from invitations i where i.secret_hash = secret $$;
comment on function workspace_of_invitation(bytea) is 'The workspace that the invitation with this secret is of.';
revoke all on function workspace_of_invitation(bytea) from public;
grant execute on function workspace_of_invitation(bytea) to ibid_service;
