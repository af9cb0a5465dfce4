-- Row-level security shows the pages of the wiki that a path names. The home of a workspace shows those of all its wikis.

create function recent_pages(workspace text, per_wiki int, with_drafts boolean) returns setof pages
language sql stable security definer as $$
  select b.* from wikis k cross join lateral (
    select p.* from (
      (select f.* from pages f where f.wiki_id = k.wiki_id and f.trashed_at is null and f.status = 'published'
        order by f.updated_at desc, f.page_id desc limit per_wiki)
      union all
      (select f.* from pages f where f.wiki_id = k.wiki_id and f.trashed_at is null and f.status = 'draft' and with_drafts
        order by f.updated_at desc, f.page_id desc limit per_wiki)
    ) p order by p.updated_at desc, p.page_id desc limit per_wiki
  ) b
  where k.workspace_id = workspace and workspace = any ((select own_workspaces())::text[])
$$;
comment on function recent_pages is 'Of every wiki of a workspace that the caller sees the pages that were changed last, per_wiki at most, without archived ones.';

do $$ begin
  execute format('alter function recent_pages set search_path = %I, pg_temp', current_schema());
end $$;
