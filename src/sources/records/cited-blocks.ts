import { hash } from 'node:crypto';
import { boxesByBlock, contextAt, hashAt, targetsByBlock } from '@ibid/documents/cite-blocks.ts';
import { type Sql, sql } from '../../platform/db/sql.ts';
import type { FormKind } from './shown-blocks.ts';

/** The stored citations of one source by one page. The lists have equal lengths, an element for each block. */
export interface CitationRow {
  page_id: string;
  source_id: string;
  starts: number[];
  ends: number[];
  first_pages: number[];
  last_pages: number[];
  first_lines: number[];
  last_lines: number[];
  /** Concatenated hashes of 64 hexadecimal digits. */
  hashes: string;
  /** As in Citations; null for pages compiled before forms were stored. */
  form_blocks: number[] | null;
  form_hashes: string;
  /** FORM_VERSION at the time of compilation. */
  form_version: number;
  /**
   * The extractor version that compiled the page. 0 for pages from before it was stored; their forms lack the marks for
   * formulas and diagrams.
   */
  extractor_version: number;
  /** As in Citations; null if unknown. */
  boxes: number[] | null;
  /** As in Citations; null for pages compiled before they were stored. */
  contexts: string | null;
  target_blocks: number[] | null;
  targets: string[] | null;
  /** Page ids and file hashes of the link targets, in the form that `meantTarget` expects. */
  meant: Record<string, string> | null;
}

/** A block of a page and its range in the source text, in UTF-16 units. */
export interface CitedBlock {
  block: number;
  start: number;
  end: number;
  /** 0 if the source has no pages. */
  first_page: number;
  last_page: number;
  /**
   * First unit of the block in the file: a line, a paragraph (Word) or a chapter (EPUB); see `placesBy`. 0 if the file
   * has no such units, or if the block's place is unknown or not in the file.
   */
  first_line: number;
  last_line: number;
  /** Rectangles on its pages; null if unknown. */
  boxes: CitedBox[] | null;
  sha256: string;
  quote: string;
  /** The hash of the block's form; "" for pages compiled before forms were stored. */
  form_sha256: string;
  form_kind: FormKind;
  context: string;
  targets: readonly string[] | undefined;
  /** Whether the quote in the source text still has its hash. */
  source_matches: boolean;
}

/** A rectangle in points, from the upper left corner of the page after rotation and cropping. */
interface CitedBox {
  page: number;
  left: number;
  top: number;
  right: number;
  bottom: number;
}

/** Selects the columns of CitationRow from a row `c` of page_sources. */
export const citationColumns: Sql = sql`
  c.page_id, c.source_id, c.starts, c.ends, c.first_pages, c.last_pages, c.first_lines, c.last_lines,
  encode(c.hashes, 'hex') as hashes, c.form_blocks, encode(c.form_hashes, 'hex') as form_hashes,
  c.form_version, c.extractor_version, c.boxes, encode(c.contexts, 'hex') as contexts, c.target_blocks, c.targets,
  case when cardinality(c.targets) > 0 then (
    select json_object_agg(m.target, m.id) from (
      select 'page:' || k.to_path as target, k.to_page_id as id from page_links k
      where k.wiki_id = c.wiki_id and k.from_page_id = c.page_id and k.to_page_id is not null
      union
      select 'page:' || t.path, coalesce(
        (select n.page_id from pages n where n.wiki_id = c.wiki_id and n.path = t.path and n.trashed_at is null),
        (select o.page_id from page_paths o where o.wiki_id = c.wiki_id and o.path = t.path))
      from (
        select distinct split_part(substr(u.target, length('link page:') + 1), '#', 1) collate "C" as path
        from unnest(c.targets) as u (target) where starts_with(u.target, 'link page:')) t
      union
      select 'file:' || a.attachment_id, a.sha256 from attachments a where a.wiki_id = c.wiki_id and a.page_id = c.page_id) m
    where m.id is not null and (not (select restricts()) or not exists (
      select from hidden_pages h where h.wiki_id = c.wiki_id and h.page_id = m.id offset 0))) end as meant`;

/**
 * Returns the cited blocks of a page, with the source match of each recomputed from its quote. `passage` is the source
 * text from offset `from` on, at least up to the end of the last block.
 */
export function citedBlocks(row: CitationRow, passage: string, from = 0): CitedBlock[] {
  const forms = new Map(row.form_blocks?.map((block, i) => [block, hashAt(row.form_hashes, i)]));
  const boxes = boxesByBlock(row.boxes ?? []);
  const form_kind = formKindOf(row);
  const { contexts, target_blocks } = row;
  const targets = row.targets && target_blocks && targetsByBlock({ target_blocks, targets: row.targets });
  return row.starts.map((start, i) => {
    const end = row.ends[i] ?? start;
    const sha256 = hashAt(row.hashes, i);
    const form_sha256 = row.form_blocks === null ? '' : (forms.get(i) ?? sha256);
    const quote = passage.slice(start - from, end - from);
    const pages = { first_page: row.first_pages[i] ?? 0, last_page: row.last_pages[i] ?? 0 };
    const lines = { first_line: row.first_lines[i] ?? 0, last_line: row.last_lines[i] ?? 0 };
    const source_matches = hash('sha256', quote) === sha256;
    const places = { boxes: boxesOf(boxes.get(i)) };
    return {
      block: i,
      start,
      end,
      ...pages,
      ...lines,
      ...places,
      sha256,
      quote,
      form_sha256,
      form_kind,
      context: contexts === null ? '' : contextAt(contexts, i),
      targets: targets ? (targets.get(i) ?? []) : undefined,
      source_matches,
    };
  });
}

function formKindOf({ form_blocks, form_version, extractor_version }: CitationRow): FormKind {
  if (form_blocks === null) return 'words';
  if (form_version > 0) return 'whole';
  return extractor_version > 0 ? 'alone' : 'undrawn';
}

const WORD = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';
const EPUB = 'application/epub+zip';

/**
 * Names the stored lines of a block by file type: lines, the paragraphs of a Word document, or the chapter of an EPUB.
 */
export function placesBy(
  content_type: string,
  { first_line, last_line }: Pick<CitedBlock, 'first_line' | 'last_line'>,
) {
  const none = { first_line: 0, last_line: 0, first_paragraph: 0, last_paragraph: 0, chapter: 0 };
  if (content_type === EPUB) return { ...none, chapter: first_line };
  if (content_type !== WORD) return { ...none, first_line, last_line };
  return first_line === 0
    ? none
    : { ...none, first_paragraph: first_line, last_paragraph: Math.max(first_line, last_line) };
}

function boxesOf(numbers: readonly number[] | undefined): CitedBox[] | null {
  if (!numbers) return null;
  return Array.from({ length: numbers.length / 5 }, (_, i) => {
    const [page = 0, left = 0, top = 0, right = 0, bottom = 0] = numbers.slice(5 * i);
    return { page, left, top, right, bottom };
  });
}

/** Returns the `meant` of a row as the map that compareBlocks takes. */
export function meantIn({ meant }: Pick<CitationRow, 'meant'>): ReadonlyMap<string, string> {
  return new Map(Object.entries(meant ?? {}));
}

/** Returns the ranges of a text that no block covers: [start, end), in order. */
export function gapsBetween(blocks: readonly { start: number; end: number }[], length: number): [number, number][] {
  const gaps: [number, number][] = [];
  let at = 0;
  for (const { start, end } of [...blocks].sort((a, b) => a.start - b.start)) {
    if (start > at) gaps.push([at, start]);
    at = Math.max(at, end);
  }
  if (length > at) gaps.push([at, length]);
  return gaps;
}
