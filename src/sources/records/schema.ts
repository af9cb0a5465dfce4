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
  filename: Type.String({ description: 'File name as uploaded, including folders.' }),
  content_type: Type.String(),
  byte_size: Type.Integer(),
  sha256: Type.String({ description: 'SHA-256 of the bytes, 64 hexadecimal digits.' }),
  language: Text,
  status_label: Type.String({ default: 'ready', description: 'ready, running, failed or unknown.' }),
  page_count: Type.Integer({ description: 'Number of pages made from the source.' }),
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
        'Location of the passage in the source: `page:`, `line:`, `paragraph:` (Word) or `chapter:` (EPUB) followed by its number, counted from 1; or `offset:` in UTF-16 units.',
    }),
  },
  { title: 'SourceHit' },
);
export type SourceHit = Static<typeof SourceHit>;

/** A range of the text extracted from a source. */
export const SourceText = Record(
  {
    source_id: Id,
    start: Type.Integer({ description: 'Start of the part, in UTF-16 units.' }),
    end: Type.Integer(),
    length: Type.Integer({ description: 'Length of the whole text.' }),
    text: Type.String(),
  },
  { title: 'SourceText' },
);
export type SourceText = Static<typeof SourceText>;

/** A block of a compiled page and its range in the source. */
export const Citation = Record(
  {
    block: Type.Integer({ description: 'Number of the block in the page as compiled, counted from 0.' }),
    source_id: Id,
    title: Type.String(),
    filename: Type.String(),
    start: Type.Integer({ description: "Start in the source's text, in UTF-16 units." }),
    end: Type.Integer({ description: "End in the source's text." }),
    first_page: Type.Integer({ description: 'First page of the source, counted from 1; 0 for sources without pages.' }),
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
          'Rectangles on the pages of a PDF, in points (1/72 inch) from the upper left corner of the displayed page (crop box, rotated). Null if unknown.',
      },
    ),
    first_line: Type.Integer({
      description: 'First line of the uploaded file (Markdown, text, CSV), counted from 1; 0 if unknown.',
    }),
    last_line: Type.Integer(),
    first_paragraph: Type.Integer({
      description:
        'Paragraph of a Word document, counted from 1 in the main part, including empty paragraphs and paragraphs in tables; 0 for notes, for other files, and if unknown.',
    }),
    last_paragraph: Type.Integer(),
    chapter: Type.Integer({
      description: 'Chapter of an EPUB by reading order, counted from 1; 0 for other files.',
    }),
    quote: Type.String({ description: 'The cited text of the source.' }),
    sha256: Type.String({ description: 'SHA-256 of the quote in UTF-8 as compiled, 64 hexadecimal digits.' }),
    verified: Type.Boolean({
      description:
        "Whether one block of the page still shows exactly this quote, and the source's text still has this hash.",
    }),
    source_matches: Type.Boolean({ description: "Whether the source's text still has this hash at this place." }),
    shown: Type.Enum(['unchanged', 'edited', 'removed'], {
      description:
        'unchanged: a block of the page shows exactly this quote. edited: the words of its block were changed. removed: no block shows it.',
    }),
    context: Type.Enum(['same', 'changed', 'unknown'], {
      description:
        'Whether an unchanged block is still in the context that it has in the source; unknown for other blocks, and for pages made before contexts were stored.',
    }),
    context_changes: Type.Array(Type.Enum([...CONTEXT_CHANGES]), {
      description:
        'What differs: the headings above the block, its place (number in a list, defined term, caption of its table), or links that were added or removed.',
    }),
    page_block: Type.Integer({
      description:
        "Number of the block in the page's HTML (paragraphs, headings, code blocks, list items and table rows, including empty ones), counted from 0; -1 if no block shows it.",
    }),
    changes: Type.Array(TextChange, {
      description: 'Words that people added to or removed from the quote; empty unless the block was edited.',
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
    losses: Type.Integer({ description: 'Number of losses. The coverage of the source lists them.' }),
    losses_to_review: Type.Integer({
      description:
        'Number of losses that a person should review; excludes headers, page numbers, navigation, scripts and metadata.',
    }),
  },
  { title: 'IncompleteSource' },
);
export type IncompleteSource = Static<typeof IncompleteSource>;

/** Content of a file that its text lacks. */
export const SourceLoss = Record(
  {
    kind: Type.Enum([...LOSS_KINDS], { description: 'More kinds may be added.' }),
    first_page: Type.Integer({ description: 'First page of the file, counted from 1; 0 for files without pages.' }),
    last_page: Type.Integer(),
    place: Type.String({ description: 'Human-readable place, for files without pages; may be "".' }),
    count: Type.Integer({ description: 'Number of losses in this entry.' }),
    characters: Type.Integer({
      description: 'Number of lost characters, without white space; 0 for content that is not text.',
    }),
    excerpt: Type.String({ description: 'Beginning of the lost text; "" if it cannot be read.' }),
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
