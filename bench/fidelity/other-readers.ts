import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isNoteReference, pairedMarks } from './paired-marks.ts';

/** Where the other readers are looked for; a PATH may name anything. */
const BINS = ['/usr/bin', '/usr/local/bin', '/opt/homebrew/bin'];

/** The words of a file as pdftotext or pandoc reads it; undefined if they are not installed or cannot read it. */
export function readByOther(file: string, format: string): string | undefined {
  if (format === 'pdf') return run('pdftotext', ['-enc', 'UTF-8', file, '-']);
  const tree = treeOfPandoc(file, format);
  if (tree === undefined) return undefined;
  const { meta } = tree;
  // What stands above the text of a Word document: pandoc moves it out of the text.
  const above = format === 'docx' ? ['title', 'subtitle', 'author', 'date', 'abstract'].map((name) => meta[name]) : [];
  return wholeText([above, withoutRepeatedCaptions(tree.blocks)]);
}

/** The words of blocks, and then those of their notes. */
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
