-- The sites that may show a workspace's widgets.

alter table workspaces add column widget_origins text[] not null default '{}';
comment on column workspaces.widget_origins is 'Origins (scheme, host, port) whose pages browsers let use this workspace''s widget tokens.';
create index workspaces_widget_origins on workspaces using gin (widget_origins);

create function widget_origin_is_allowed(origin text, workspace text) returns boolean language sql stable security definer
  as $$ select exists (select from workspaces where widget_origins @> array[origin] and (workspace is null or workspace_id = workspace)) $$;
comment on function widget_origin_is_allowed is 'Whether pages of this origin may use widget tokens of the workspace; without one: of any. A preflight has no token to tell by.';
