-- Pages whose files a sync of their folder had no more wait for a decision: keep or delete.
alter table pages add column gone_file text;
comment on column pages.gone_file is 'The file that the page was made from, or the folder with a / behind it, if the last sync of its folder had it no more; null again once it came back or a person decided.';
