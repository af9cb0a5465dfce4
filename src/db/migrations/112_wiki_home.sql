-- works with: any
-- The page with which a wiki begins. No foreign key: a page that is deleted comes back from the trash as the home that it was.
alter table wikis add column home_page_id text;
comment on column wikis.home_page_id is 'The page of the wiki that is shown at its address; null for the list of what is new. It counts where it is there and who asks may read it.';
