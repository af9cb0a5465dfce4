import { type CitedPlace, citationsOf, placesOf } from '@ibid/documents/cite-blocks.ts';
import { completeness } from '@ibid/documents/compile-file.ts';
import type { KnownTitle } from '@ibid/documents/links/title-names.ts';
import type { Part } from '@ibid/documents/split/split-document.ts';
import { indexBody } from '@ibid/markdown/analysis/document-terms.ts';
import { ID_PREFIX } from '@ibid/markdown/safe-addresses.ts';
import { relativeAddress } from '@ibid/markdown/wiki-links.ts';
import type { Query } from '../../platform/db/db.ts';
import type { CompileOutput, Sandbox, SplitOutput } from '../../platform/sandbox/sandbox.ts';
import type { CompiledUploadFile, PendingFile } from './compiled-upload.ts';
import { planSections, type SectionPlans } from './plan-sections.ts';

type Page = Extract<CompileOutput, { ok: true }>;

/** A cited block with its text. */
export interface ShownBlock extends CitedPlace {
  text: string;
}

/**
 * Compiles a long document into a page for each part. A page with parts below it ends with links to them; each link
 * cites the heading of its target. The source text is the concatenation of the parts. Returns only the parts that no
 * earlier attempt has written, or the file alone with its error.
 */
export async function compileSections(
  { query, sandbox, plans, stopping }: { query: Query; sandbox: Sandbox; plans: SectionPlans; stopping: AbortSignal },
  upload: { wiki_id: string; upload_id: string },
  file: PendingFile,
  { ok, parts, losses, file_characters, ...read }: SplitOutput,
  { pages, titles, site_root }: Surroundings,
): Promise<CompiledUploadFile[]> {
  const rows = [file, ...(await planSections(query, plans, upload, file, parts))];
  const pathOf = (i: number) => rows[i]?.page_path ?? '';
  const below = parts.map((): number[] => []);
  for (const [i, { parent }] of parts.entries()) below[parent]?.push(i);

  const linkTo = (from: number, to: number) => relativeAddress(pathOf(from), pathOf(to));
  const run = (i: number, { title, block_pages, lines, links }: Part, markdown: string) => {
    const fragments = links.map(({ fragment, part, anchor }): [string, string] => {
      return [fragment, `${part === i ? '' : linkTo(i, part)}#${anchor.slice(ID_PREFIX.length)}`];
    });
    const input = {
      wiki_id: upload.wiki_id,
      filename: file.filename,
      content_type: file.content_type,
      bytes: new Uint8Array(),
      page_path: pathOf(i),
      document: { ...read, title: i === 0 ? read.title : title, markdown, block_pages, lines },
      fragments: new Map(fragments),
      document_path: file.page_path,
      site_root,
    };
    return sandbox.compile(input, pages, titles);
  };

  const texts: string[] = [];
  let length = 0;
  /** The blocks of each part's own text, with their ranges in the source text. */
  const shown: ShownBlock[][] = [];
  const made: Page[] = [];
  for (const [i, part] of parts.entries()) {
    if (stopping.aborted) return [];
    const links = (below[i] ?? []).map((to) => linkCalled(parts[to]?.title ?? '', linkTo(i, to)));
    const own = part.markdown === '' ? undefined : await run(i, part, part.markdown);
    if (own && !own.ok) return [{ file, result: own, page: undefined, pictures: [] }];
    const page = own && links.length === 0 ? own : await run(i, part, withLinks(part.markdown, links));
    if (!page.ok) return [{ file, result: page, page: undefined, pictures: [] }];
    const head = own && part.repeatsHead ? repeatedHead(own, shown[i - 1]) : undefined;
    const from = head ? head.text.length + 1 : 0;
    const blocks = own ? blocksOf(own, length - from) : [];
    shown.push(head ? [head, ...blocks.slice(1)] : blocks);
    if (own && own.text !== '') {
      const text = own.text.slice(from);
      texts.push(text);
      length += text.length + 1;
    }
    // Drop the source text of each part: only the whole source keeps it.
    made.push({ ...page, source_text: '', source_indexed: page.indexed });
  }

  const source_text = texts.join('\n');
  return rows.flatMap((row, i): CompiledUploadFile[] => {
    const page = made[i];
    if (!page || row.status !== 'pending') return [];
    const isLeaf = below[i]?.length === 0;
    const headings = (below[i] ?? []).map((to) => shown[to]?.[0]);
    const cited = isLeaf ? (shown[i] ?? []) : withHeadings(blocksOf(page, 0), shown[i] ?? [], headings);
    const compiled = { ...page, citations: citationsOf(cited) };
    if (i > 0) return [{ file: row, result: compiled, page: compiled, pictures: [] }];
    const complete = completeness({ losses, file_characters, kind: read.kind }, source_text);
    const references = [...new Set(made.flatMap((each) => each.references))];
    const result = { ...compiled, ...complete, references, source_text, source_indexed: indexBody(source_text) };
    return [{ file, result, page: result, pictures: [], sections: rows.slice(1) }];
  });
}

/** Finds the previous part's table head if this page repeats it, because the source contains it only once. */
export function repeatedHead(page: Page, before: readonly ShownBlock[] = []): ShownBlock | undefined {
  const [first, second] = blocksOf(page, 0);
  if (second?.start !== (first?.end ?? 0) + 1) return undefined;
  const same = before.find(({ text, lines }) => text === first?.text && lines?.first_line === first.lines?.first_line);
  return same && first && { ...same, context: first.context, targets: first.targets };
}

export function blocksOf({ text, citations }: Page, at: number): ShownBlock[] {
  return placesOf(citations).map((place) => ({
    ...place,
    start: at + place.start,
    end: at + place.end,
    text: text.slice(place.start, place.end),
  }));
}

/**
 * Maps the blocks of a page to ranges of the source: its own blocks by their text, and its links to the headings of
 * their targets.
 */
function withHeadings(
  blocks: readonly ShownBlock[],
  own: readonly ShownBlock[],
  headings: readonly (ShownBlock | undefined)[],
): CitedPlace[] {
  let nextOwn = 0;
  let nextHeading = 0;
  return blocks.flatMap(({ text, form_hash, context, targets }) => {
    const place = own[nextOwn];
    if (place?.text === text) {
      nextOwn += 1;
      return [place];
    }
    const heading = headings[nextHeading++];
    // The link has the words of its heading, but not its markup, so keep the form of the link.
    return heading?.text === text ? [{ ...heading, form_hash, context, targets }] : [];
  });
}

function linkCalled(title: string, address: string): string {
  return `[${title.replace(/[!-/:-@[-`{-~]/g, '\\$&')}](${address})`;
}

/** Uses a list marker that the text does not use, so that the links form a list of their own. */
function withLinks(markdown: string, links: readonly string[]): string {
  const mark = /^[ \t]*-[ \t]/m.test(markdown) ? '*' : '-';
  const list = links.map((link) => `${mark} ${link}\n`).join('');
  return markdown === '' ? list : `${markdown}\n${list}`;
}

/** The context of compilation: paths of the upload's files, and titles that texts may mention. */
export interface Surroundings {
  pages: ReadonlyMap<string, string>;
  titles: readonly KnownTitle[];
  /** The folder that absolute links start from: see CompileInput. */
  site_root: string | null;
}
