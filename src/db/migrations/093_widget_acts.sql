-- What was done through a widget says so.
alter table audit_events
  add column widget        text collate "C" not null default '',
  add column widget_origin text collate "C" not null default '';
comment on column audit_events.widget is 'The widget that it was done through: profile, enterprise or developers; '''' for none.';
comment on column audit_events.widget_origin is 'The origin of the page that showed the widget; '''' for none.';
