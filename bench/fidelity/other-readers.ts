import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isNoteReference, pairedMarks } from './paired-marks.ts';

/**
 * Folders that are searched for the other readers. PATH is ignored, since it may contain other programs of these names.
 */
const BINS = ['/usr/bin', '/usr/local/bin', '/opt/homebrew/bin'];

/**
 * Returns the words of a file as read by pdftotext or pandoc; undefined if they are not installed or cannot read it.
 */
export function readByOther(file: string, format: string): string | undefined {
  if (format === 'pdf') return run('pdftotext', ['-enc', 'UTF-8', file, '-']);
  const tree = treeOfPandoc(file, format);
  if (tree === undefined) return undefined;
  const { meta } = tree;
  // Pandoc moves a Word document's title and authors out of its text.
  const above = format === 'docx' ? ['title', 'subtitle', 'author', 'date', 'abstract'].map((name) => meta[name]) : [];
  return wholeText([above, withoutRepeatedCaptions(tree.blocks)]);
}

/** Returns the words of blocks, followed by the words of their notes. */
function wholeText(blocks: unknown): string {
  const notes: string[] = [];
  const text = textOfPandoc(blocks, notes, pairedMarks(blocks)).join('');
  return `${text}\n${notes.join('\n')}`;
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
  const tree = run('pandoc', ['-f', format, '-t', 'json', file]);
  return tree === undefined ? undefined : (JSON.parse(tree) as PandocTree);
}

/**
 * Removes duplicate captions: pandoc returns the caption of a Word table both as a paragraph and as part of the table.
 */
function withoutRepeatedCaptions(blocks: readonly PandocNode[]): PandocNode[] {
  return blocks.filter((block, i) => {
    const next = blocks[i + 1];
    if (block.t !== 'Para' || next?.t !== 'Table') return true;
    const caption = textOfPandoc(captionOf(next), [], new Set()).join('').trim();
    return caption === '' || caption !== textOfPandoc(block, [], new Set()).join('').trim();
  });
}

/** Returns the text of a PDF in the order in which its program wrote it; undefined for other formats. */
export function textAsWritten(file: string, format: string): string | undefined {
  return format === 'pdf' ? run('pdftotext', ['-raw', '-enc', 'UTF-8', file, '-']) : undefined;
}

function run(command: string, args: string[]): string | undefined {
  if (!BINS.some((bin) => existsSync(join(bin, command)))) return undefined;
  try {
    return execFileSync(command, args, { encoding: 'utf8', maxBuffer: 2 ** 28, stdio: ['ignore', 'pipe', 'ignore'] });
  } catch {
    // The program cannot read the file, so a comparison is impossible.
    return undefined;
  }
}

/** Returns the caption of a table, without its short form for lists of tables. */
function captionOf({ c }: PandocNode): unknown {
  const [, [, caption]] = c as [unknown, [short: unknown, caption: unknown]];
  return caption;
}

/**
 * Returns the words of pandoc's tree. Its plain text would also contain generated text: numbers of lists and notes,
 * lines of tables, and formulas in its own characters. Notes go to `notes`, because they follow the text. References to
 * notes are left out, because browsers write those numbers: the nodes in `marks`, and links marked as references.
 */
function textOfPandoc(node: unknown, notes: string[], marks: ReadonlySet<unknown>): string[] {
  const each = (child: unknown) => textOfPandoc(child, notes, marks);
  if (Array.isArray(node)) return node.flatMap(each);
  if (typeof node !== 'object' || node === null) return [];
  const { t: type, c: content } = node as PandocNode;
  const at = (i: number) => (content as unknown[])[i];
  if (type === 'Str') return [String(content)];
  if (type === 'Space' || type === 'SoftBreak' || type === 'LineBreak') return [' '];
  // Each reader writes the commands of TeX in its own way.
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
