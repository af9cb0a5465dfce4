-- Links that lead to nothing: where each is written, and addresses that can be no page.
alter table page_links add column line integer not null default 0;
comment on column page_links.line is 'The line of the Markdown in which the link is first written, from 1; 0 if that is not known.';
comment on column page_links.to_path is 'The path as written, [[target]] for a wiki link to a missing page, <address> for an address of the wiki that no page can have.';
