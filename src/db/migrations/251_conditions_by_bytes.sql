-- works with: 210_wikis_to_index.sql
-- An index serves conditions of its own collation alone.
alter table migrations alter column name type text collate "C";

create or replace function widget_origin_is_allowed(origin text, workspace text) returns boolean
language sql stable security definer set search_path = public, pg_temp as
$$ select exists (select from workspaces where widget_origins @> array[origin collate "C"] and (workspace is null or workspace_id = workspace)) $$;

-- The functions are long, and this changes one condition of each.
do $$
declare
  changed regprocedure;
begin
  foreach changed in array array['erase_account(text[])', 'workspaces_left(text)']::regprocedure[] loop
    execute replace(pg_get_functiondef(changed), $a$e.before ->> 'user_id' =$a$, $b$(e.before ->> 'user_id') collate "C" =$b$);
  end loop;
end $$;
