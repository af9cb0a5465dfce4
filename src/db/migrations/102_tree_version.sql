-- works with: 101_starred_pages.sql
-- The tree of all pages was read, sorted and hashed to find that its reader has it. Its version changes with what it shows.

alter table wikis add column tree_version text collate "C" not null default '';
comment on column wikis.tree_version is
  'Another one after each transaction in which a page came, went, or changed its place, title or status. Written by the triggers of pages alone.';

create function change_tree_version() returns trigger language plpgsql security definer as $$
declare
  -- The time too: after a restore in another cluster the numbers of transactions begin again.
  version text := pg_current_xact_id()::text || '-' || (extract(epoch from now()) * 1000000)::bigint;
begin
  -- Of many rows only the first writes.
  if current_setting('ibid.tree_version', true) is distinct from new.wiki_id || ' ' || version then
    update wikis w set tree_version = version where w.wiki_id = new.wiki_id and w.tree_version <> version;
    perform set_config('ibid.tree_version', new.wiki_id || ' ' || version, true);
  end if;
  return null;
end $$;
do $$ begin
  execute format('alter function change_tree_version set search_path = %I, pg_temp', current_schema());
end $$;
comment on function change_tree_version is 'For triggers of pages: the tree that has the page is another one.';

create trigger tree_has_new_page after insert on pages for each row
  when (new.trashed_at is null) execute function change_tree_version();
-- An edit of a text changes no tree.
create trigger tree_has_changed_page after update on pages for each row
  when (old.title <> new.title or old.slug <> new.slug or old.status <> new.status or old.position <> new.position
    or old.parent_page_id is distinct from new.parent_page_id or old.trashed_at is distinct from new.trashed_at)
  execute function change_tree_version();
