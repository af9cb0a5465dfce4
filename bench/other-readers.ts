import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { contentOfHtml } from './content-of-html.ts';
import { isNoteReference, pairedMarks, withoutNoteReferences } from './paired-marks.ts';
import type { Structure } from './structure.ts';
import { structureOfPandoc } from './structure-of-others.ts';
import { structureOfTagged } from './structure-of-tagged.ts';

/** Where the other readers are looked for; a PATH may name anything. */
const BINS = ['/usr/bin', '/usr/local/bin', '/opt/homebrew/bin'];

export interface OtherReading {
  text: string;
  /** Of HTML the text without what the file itself says is navigation. */
  content?: string;
  /** Of a PDF without a structure tree that of the HTML file beside it with its name, from which it was printed; else undefined. */
  structure: Structure | undefined;
  /** Whether letters of the structure's elements are missing. */
  isPartial: boolean;
  /** The title of a book: pandoc leaves out the page that it writes of it. */
  title?: string;
}

/** A file as pdftotext and pdfinfo or pandoc read it; undefined if they are not installed or cannot read it. */
export function readByOther(file: string, format: string): OtherReading | undefined {
  if (format === 'pdf') {
    const text = run('pdftotext', ['-enc', 'UTF-8', file, '-']);
    const tree = run('pdfinfo', ['-enc', 'UTF-8', '-struct-text', file]);
    if (text === undefined) return undefined;
    const tagged = tree === undefined ? undefined : structureOfTagged(tree);
    if (tagged) return { text, structure: tagged, isPartial: true };
    const printed = file.replace(/\.pdf$/, '.html');
    const structure = existsSync(printed) ? structureOfPandoc(treeOfContent(printed)?.blocks ?? [], 'html') : undefined;
    return { text, structure, isPartial: false };
  }
  const tree = treeOfPandoc(file, format);
  if (tree === undefined) return undefined;
  const { meta } = tree;
  const blocks = withoutRepeatedCaptions(tree.blocks);
  // What stands above the text of a Word document: pandoc moves it out of the text.
  const above = format === 'docx' ? ['title', 'subtitle', 'author', 'date', 'abstract'].map((name) => meta[name]) : [];
  const text = wholeText([above, blocks]);
  // One that another program made of an HTML file, which stands beside it.
  const source = file.replace(/\.(?:docx|epub)$/, '.html');
  const made = source !== file && existsSync(source) ? treeOfPandoc(source, 'html')?.blocks : undefined;
  const own = format === 'html' ? (treeOfContent(file)?.blocks ?? blocks) : blocks;
  return {
    text,
    ...(format === 'html' && { content: wholeText(own) }),
    structure: structureOfPandoc(withoutNoteReferences(made ?? own), format),
    isPartial: false,
    ...(format === 'epub' && { title: textOfPandoc(meta.title, [], new Set()).join('') }),
  };
}

/** The words of blocks, and then those of their notes. */
function wholeText(blocks: unknown): string {
  const notes: string[] = [];
  const text = textOfPandoc(blocks, notes, pairedMarks(blocks)).join('');
  return `${text}\n${notes.join('\n')}`;
}

/** The content of a page as pandoc reads it. */
function treeOfContent(file: string): PandocTree | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'ibid-content-'));
  try {
    const content = join(folder, 'content.html');
    writeFileSync(content, contentOfHtml(readFileSync(file, 'utf8')));
    return treeOfPandoc(content, 'html');
  } finally {
    rmSync(folder, { recursive: true });
  }
}

interface PandocNode {
  t: string;
  c?: unknown;
}

interface PandocTree {
  blocks: PandocNode[];
  meta: Record<string, unknown>;
}

function treeOfPandoc(file: string, format: string): PandocTree | undefined {
  // Tags that pandoc has no form for are in its tree then: see raw-definitions.ts.
  const tree = run('pandoc', ['-f', format === 'html' ? 'html+raw_html' : format, '-t', 'json', file]);
  return tree === undefined ? undefined : (JSON.parse(tree) as PandocTree);
}

/** Of a Word document pandoc gives a caption twice: as the paragraph that it is, and as part of its table. */
function withoutRepeatedCaptions(blocks: readonly PandocNode[]): PandocNode[] {
  return blocks.filter((block, i) => {
    const next = blocks[i + 1];
    if (block.t !== 'Para' || next?.t !== 'Table') return true;
    const caption = textOfPandoc(captionOf(next), [], new Set()).join('').trim();
    return caption === '' || caption !== textOfPandoc(block, [], new Set()).join('').trim();
  });
}

/** The text of a PDF in the order in which its program wrote it; of other files undefined. */
export function textAsWritten(file: string, format: string): string | undefined {
  return format === 'pdf' ? run('pdftotext', ['-raw', '-enc', 'UTF-8', file, '-']) : undefined;
}

function run(command: string, args: string[]): string | undefined {
  if (!BINS.some((bin) => existsSync(join(bin, command)))) return undefined;
  try {
    return execFileSync(command, args, { encoding: 'utf8', maxBuffer: 2 ** 28, stdio: ['ignore', 'pipe', 'ignore'] });
  } catch {
    // It cannot read the file, so there is nothing to compare with.
    return undefined;
  }
}

/** The caption of a table, without the short form that lists of tables have. */
function captionOf({ c }: PandocNode): unknown {
  const [, [, caption]] = c as [unknown, [short: unknown, caption: unknown]];
  return caption;
}

/**
 * The words of pandoc's tree. Its plain text also has what it writes itself: numbers of lists and notes, lines of tables,
 * and formulas in its own characters. Notes are added to a list, since they stand behind the text, and so are references to
 * notes left out, which are numbers that a browser writes: those in `marks`, and those that say so.
 */
function textOfPandoc(node: unknown, notes: string[], marks: ReadonlySet<unknown>): string[] {
  const each = (child: unknown) => textOfPandoc(child, notes, marks);
  if (Array.isArray(node)) return node.flatMap(each);
  if (typeof node !== 'object' || node === null) return [];
  const { t: type, c: content } = node as PandocNode;
  const at = (i: number) => (content as unknown[])[i];
  if (type === 'Str') return [String(content)];
  if (type === 'Space' || type === 'SoftBreak' || type === 'LineBreak') return [' '];
  // The commands of TeX are each reader's own.
  if (type === 'Math') return [String(at(1)).replace(/\\[a-z]+/gi, ' ')];
  if (type === 'Code') return [String(at(1))];
  if (type === 'CodeBlock') return ['\n', String(at(1)), '\n'];
  if (type === 'RawInline' || type === 'RawBlock') return [];
  if (type === 'Note') {
    notes.push(...each(content), '\n');
    return [];
  }
  if (type === 'Link' && (isNoteReference(at(0)) || marks.has(node))) return [];
  if (type === 'Link' || type === 'Image' || type === 'Span' || type === 'Quoted' || type === 'Cite')
    return each(at(1));
  if (type === 'Header') return ['\n', ...each(at(2)), '\n'];
  if (type === 'Table') return each([captionOf({ t: type, c: content }), (content as unknown[]).slice(2)]);
  if (type === 'OrderedList' || type === 'Div') return ['\n', ...each(at(1)), '\n'];
  if (type === 'Para' || type === 'Plain') return ['\n', ...each(content), '\n'];
  if (type === 'DefinitionList')
    return (content as [unknown, unknown][]).flatMap((group) => ['\n', ...each(group[0]), '\n', ...each(group[1])]);
  if (content !== undefined) return each(content);
  return [];
}
