-- works with: any
-- A formula says something else than the same characters as words: `%` hides what follows. Forms of earlier releases did not tell.
alter table page_sources add column extractor_version integer not null default 0;
comment on column page_sources.extractor_version is 'The version of the extractor that the page was compiled with; 0 before it was kept here, when forms had no mark of what a browser draws (formulas, diagrams).';
