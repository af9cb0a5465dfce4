-- works with: any
-- A formula says something else than the same characters as words: `%` hides what follows. Forms of earlier releases did not tell.
alter table page_sources add column marks_drawn boolean not null default false;
comment on column page_sources.marks_drawn is 'Whether the forms mark what a browser draws (formulas, diagrams); false where a page was compiled before they did.';
