-- A request knows which restrictions admit its caller from before it waited for the lock of the wiki. Restrictions that others made
-- while it waited must apply to it, and the page that it restricts itself must stay visible to it.

create function renew_restrictions(wiki text, person text) returns void language plpgsql security definer set search_path = public, pg_temp as $$
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
comment on function renew_restrictions is 'Reads again which restrictions of own_wiki() admit the caller, or the person for whom a job acts, for a transaction that has waited for the lock of the wiki.';

create or replace function number_acl() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  update wikis k set acls = k.acls + 1 where k.wiki_id = new.wiki_id returning k.acls into new.acl_no;
  if new.wiki_id = own_wiki() and own_user() <> '' then
    perform set_config('ibid.restricts', 'on', true),
      set_config('ibid.reads', rpad(current_setting('ibid.reads'), new.acl_no - 1, '0') || '1', true),
      set_config('ibid.writes', rpad(current_setting('ibid.writes'), new.acl_no - 1, '0') || '1', true);
  end if;
  return new;
end $$;
comment on function number_acl is 'Trigger function of page_acls: gives a restriction the next number of its wiki, and admits its author until the end of the transaction.';
