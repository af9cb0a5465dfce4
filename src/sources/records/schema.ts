import { LOSS_KINDS } from '@ibid/documents/formats/losses.ts';
import { CONTEXT_CHANGES } from '@ibid/markdown/blocks/block-context.ts';
import { type Static, Type } from 'typebox';
import { Id, Record, Text, Timestamp } from '../../platform/core/records.ts';
import { type Sql, sql } from '../../platform/db/sql.ts';
import { TextChange } from '../../wiki/revisions/schema.ts';

const sourceProperties = {
  source_id: Id,
  wiki_id: Id,
  upload_id: Id,
  title: Type.String(),
  filename: Type.String({ description: 'As it was uploaded, with its folders.' }),
  content_type: Type.String(),
  byte_size: Type.Integer(),
  sha256: Type.String({ description: 'Of the bytes, 64 hex digits.' }),
  language: Text,
  status_label: Type.String({ default: 'ready', description: 'ready, running, failed or unknown.' }),
  page_count: Type.Integer({ description: 'Pages that were made from it.' }),
  created_at: Timestamp,
  updated_at: Timestamp,
};

export const Source = Record(sourceProperties, { title: 'Source' });
export type Source = Static<typeof Source>;

export const SourceHit = Record(
  {
    ...sourceProperties,
    score: Type.Number(),
    snippet: Type.String({ description: 'Escaped text; the only markup is <mark>.' }),
    locator: Type.String({
      description:
        'Where in the source the passage is: `page:`, `line:`, `paragraph:` (Word) or `chapter:` (EPUB) and its number, counted from 1, or `offset:` in UTF-16 units.',
    }),
  },
  { title: 'SourceHit' },
);
export type SourceHit = Static<typeof SourceHit>;

/** A range of the text extracted from a source. */
export const SourceText = Record(
  {
    source_id: Id,
    start: Type.Integer({ description: 'Where the part begins, in UTF-16 units.' }),
    end: Type.Integer(),
    length: Type.Integer({ description: 'Of the whole text.' }),
    text: Type.String(),
  },
  { title: 'SourceText' },
);
export type SourceText = Static<typeof SourceText>;

/** A block of a compiled page and its range in the source. */
export const Citation = Record(
  {
    block: Type.Integer({ description: 'Which block of the page as it was compiled, counted from 0.' }),
    source_id: Id,
    title: Type.String(),
    filename: Type.String(),
    start: Type.Integer({ description: "Where it stands in the source's text, in UTF-16 units." }),
    end: Type.Integer({ description: 'Where it ends there.' }),
    first_page: Type.Integer({ description: 'The page of the source, counted from 1; 0 where it has none.' }),
    last_page: Type.Integer(),
    boxes: Type.Union(
      [
        Type.Array(
          Record(
            {
              page: Type.Integer({ description: 'The page of the PDF, counted from 1.' }),
              left: Type.Integer(),
              top: Type.Integer(),
              right: Type.Integer(),
              bottom: Type.Integer(),
            },
            { title: 'CitationBox' },
          ),
        ),
        Type.Null(),
      ],
      {
        description:
          'Where it is on the pages of a PDF: rectangles in points (1/72 inch) from the upper left corner of the page as it is shown (its crop box, turned). Null where that is not known.',
      },
    ),
    first_line: Type.Integer({
      description: 'The line of the uploaded file (Markdown, text, CSV), counted from 1; 0 where that is not known.',
    }),
    last_line: Type.Integer(),
    first_paragraph: Type.Integer({
      description:
        'The paragraph of a Word document, counted from 1 in its main part with empty ones and those of tables; 0 for notes, for other files, and where that is not known.',
    }),
    last_paragraph: Type.Integer(),
    chapter: Type.Integer({
      description: 'The chapter of an EPUB: its place in the order of reading, counted from 1; 0 for other files.',
    }),
    quote: Type.String({ description: "What the source's text says there." }),
    sha256: Type.String({ description: 'Of the quote in UTF-8 as it was compiled, 64 hex digits.' }),
    verified: Type.Boolean({
      description:
        "Whether the page still says the same in one block, whole, and the source's text still has this hash.",
    }),
    source_matches: Type.Boolean({ description: "Whether the source's text still has this hash there." }),
    shown: Type.Enum(['unchanged', 'edited', 'removed'], {
      description: 'Whether a block of the page says the same, whole; was it but has other words now; or none does.',
    }),
    context: Type.Enum(['same', 'changed', 'unknown'], {
      description:
        'Of a block that says the same, whether it stands where it stood in the source; unknown for others, and where its page was made before this was kept.',
    }),
    context_changes: Type.Array(Type.Enum([...CONTEXT_CHANGES]), {
      description:
        'What is another: the headings above it, its place (the number in a list, the term that it defines, the caption of its table), or links that were added to it or taken away.',
    }),
    page_block: Type.Integer({
      description:
        "Which block of the page's HTML that is now (paragraphs, headings, code blocks, items of lists and rows of tables, empty ones too), counted from 0; -1 where it is none.",
    }),
    changes: Type.Array(TextChange, {
      description: 'Of an edited block the words that people added to the quote and removed from it; else empty.',
    }),
  },
  { title: 'Citation' },
);
export type Citation = Static<typeof Citation>;

/** A source whose text lacks some content of its file. */
export const IncompleteSource = Record(
  {
    source_id: Id,
    title: Type.String(),
    filename: Type.String(),
    losses: Type.Integer({ description: 'How many things are missing. The coverage of the source lists them.' }),
    losses_to_review: Type.Integer({
      description:
        'Those that a person should look at: not headers, page numbers, navigation, scripts and data about the file.',
    }),
  },
  { title: 'IncompleteSource' },
);
export type IncompleteSource = Static<typeof IncompleteSource>;

/** Content of a file that its text lacks. */
export const SourceLoss = Record(
  {
    kind: Type.Enum([...LOSS_KINDS], { description: 'More kinds may be added.' }),
    first_page: Type.Integer({ description: 'The page of the file, counted from 1; 0 where it has none.' }),
    last_page: Type.Integer(),
    place: Type.String({ description: 'Where it is, for people, in files without pages; may be "".' }),
    count: Type.Integer({ description: 'How many of them there are.' }),
    characters: Type.Integer({ description: 'Of lost text, white space not counted; 0 for what is no text.' }),
    excerpt: Type.String({ description: 'How the lost text begins; "" where it cannot be read.' }),
  },
  { title: 'SourceLoss' },
);

export type SourceLoss = Static<typeof SourceLoss>;

export const SourceParams = Type.Object({ wiki_id: Id, source_id: Id });

/** Selects the columns of Source from a source `s`. Sources are inserted when usable, so the status is always ready. */
export const sourceColumns: Sql = sql`
  s.source_id, s.wiki_id, s.upload_id, s.title, s.filename, s.content_type, s.byte_size, s.sha256, s.language,
  'ready' as status_label,
  (select count(*)::int from page_sources c where c.wiki_id = s.wiki_id and c.source_id = s.source_id) as page_count,
  s.created_at, s.updated_at`;

export const exampleSource: Source = {
  source_id: 'source_01jd8w3v6xf3e8h2k9m4n5p6t1',
  wiki_id: 'wiki_01jd8w3v6xf3e8h2k9m4n5p6q9',
  upload_id: 'upload_01jd8w3v6xf3e8h2k9m4n5p6u1',
  title: 'Setup',
  filename: 'guide/setup.md',
  content_type: 'text/markdown',
  byte_size: 30,
  sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  language: '',
  status_label: 'ready',
  page_count: 1,
  created_at: '2026-11-21T05:29:32.104Z',
  updated_at: '2026-11-21T05:29:32.104Z',
};
