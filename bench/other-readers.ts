import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Structure } from './structure.ts';
import { structureOfPandoc, structureOfTagged } from './structure-of-others.ts';

/** Where the other readers are looked for; a PATH may name anything. */
const BINS = ['/usr/bin', '/usr/local/bin', '/opt/homebrew/bin'];

export interface OtherReading {
  text: string;
  /** Undefined for a PDF without a structure tree. */
  structure: Structure | undefined;
  /** Whether letters of the structure's elements are missing. */
  isPartial: boolean;
}

/** A file as pdftotext and pdfinfo or pandoc read it; undefined if they are not installed or cannot read it. */
export function readByOther(file: string, format: string): OtherReading | undefined {
  if (format === 'pdf') {
    const text = run('pdftotext', ['-enc', 'UTF-8', file, '-']);
    const tree = run('pdfinfo', ['-enc', 'UTF-8', '-struct-text', file]);
    if (text === undefined) return undefined;
    return { text, structure: tree === undefined ? undefined : structureOfTagged(tree), isPartial: true };
  }
  const tree = run('pandoc', ['-f', format, '-t', 'json', file]);
  if (tree === undefined) return undefined;
  const { blocks } = JSON.parse(tree) as { blocks: unknown };
  return { text: textOfPandoc(blocks).join(''), structure: structureOfPandoc(blocks), isPartial: false };
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

/**
 * The words of pandoc's tree. Its plain text also has what it writes itself: numbers of lists and notes, lines of tables,
 * and formulas in its own characters.
 */
function textOfPandoc(node: unknown): string[] {
  if (Array.isArray(node)) return node.flatMap(textOfPandoc);
  if (typeof node !== 'object' || node === null) return [];
  const { t: type, c: content } = node as { t?: string; c?: unknown };
  const at = (i: number) => (content as unknown[])[i];
  if (type === 'Str') return [String(content)];
  if (type === 'Space' || type === 'SoftBreak' || type === 'LineBreak') return [' '];
  if (type === 'Code' || type === 'Math') return [String(at(1))];
  if (type === 'CodeBlock') return ['\n', String(at(1)), '\n'];
  if (type === 'RawInline' || type === 'RawBlock') return [];
  if (type === 'Link' || type === 'Image' || type === 'Span' || type === 'Quoted' || type === 'Cite')
    return textOfPandoc(at(1));
  if (type === 'Header') return ['\n', ...textOfPandoc(at(2)), '\n'];
  if (type === 'OrderedList' || type === 'Div') return ['\n', ...textOfPandoc(at(1)), '\n'];
  if (type === 'Para' || type === 'Plain' || type === 'Note') return ['\n', ...textOfPandoc(content), '\n'];
  if (content !== undefined) return textOfPandoc(content);
  return [];
}
