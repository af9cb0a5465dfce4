-- works with: any
-- Word documents have paragraphs and EPUBs chapters in place of lines.
comment on column page_sources.first_lines is 'Of a source that has lines (Markdown, text, CSV): where each block begins in the file, counted from 1, 0 for what is not from it; last_lines is where it ends. Of a Word document the paragraphs, of an EPUB the chapter. Else, and where a page was made before these were kept, empty.';
