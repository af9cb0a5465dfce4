-- The audit log of a workspace says which page was changed.

create function page_title(page text) returns text language sql stable security definer as $$
  select p.title from wikis k join pages p on p.wiki_id = k.wiki_id and p.page_id = page
  where k.workspace_id = any ((select own_workspaces())::text[])
$$;
comment on function page_title is 'The title of a page of a workspace that the caller sees, where no wiki is named.';

do $$ begin
  execute format('alter function page_title set search_path = %I, pg_temp', current_schema());
end $$;
