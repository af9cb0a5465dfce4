-- Where a block of a page is on the pages of its PDF, for viewers that mark it.

alter table page_sources add column boxes int[];
comment on column page_sources.boxes is 'Rectangles on the pages of the source, six integers each: the block (its place in the lists, from 0), the page (from 1), left, top, right and bottom in points from the upper left corner of the page as it is shown. Null where there are none.';
