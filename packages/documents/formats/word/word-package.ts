import { posix } from 'node:path';
import { ExtractError } from '../extract-error.ts';
import type { LossList } from '../loss-list.ts';
import type { ZipEntry } from '../zip/zip.ts';
import { PLAIN_NUMBERING, rewriteLists } from './list-paragraphs.ts';
import { readNumbering } from './numbering.ts';
import { OUTLINE_STYLES, rewriteOwnProperties } from './own-properties.ts';
import { paragraphsOf } from './paragraph-lines.ts';
import { rewriteWordPart } from './word-parts.ts';
import { paragraphStyles } from './word-styles.ts';
import { countWordCharacters, textOfXml } from './word-text.ts';
import { attributesOf, isNested, xmlTokens } from './xml-tree.ts';

/** The limit of one part in bytes; the total unpacked size was checked when the archive was opened. */
const PART_MAX = 256 * 2 ** 20;

const NUMBERING = 'word/numbering.xml';
const RELATIONSHIPS = /^word\/_rels\/document\d*\.xml\.rels$/;

const MAIN = /^word\/document\d*\.xml$/;

/** Parts whose text is shown. */
const SHOWN = /^word\/(?:document|footnotes|endnotes)\d*\.xml$/;
const COUNTED =
  /^word\/(?:(?:document|footnotes|endnotes|header|footer|comments)\d*|charts\/chart\w*|diagrams\/data\d*)\.xml$/;

/** The files of a Word document for the converter, with text parts rewritten. */
interface WordPackage {
  exists(name: string): boolean;
  read(name: string): Promise<Uint8Array>;
  read(name: string, encoding: string): Promise<string>;
}

/** Opens the package of a Word document. Losses of a rewritten part are listed when the converter reads it. */
export function openWordPackage(entries: readonly ZipEntry[], losses: LossList) {
  const byName = new Map(entries.map((entry) => [entry.name, entry]));
  const bytesOf = (name: string) => byName.get(name)?.read(PART_MAX);
  const textOf = (name: string) => bytesOf(name)?.toString('utf8') ?? '';
  const related = relatedTexts(textOf, [...byName.keys()].find((name) => RELATIONSHIPS.test(name)) ?? '');
  const styles = new Map([...paragraphStyles(textOf('word/styles.xml')), ...OUTLINE_STYLES]);
  const findLevel = byName.has(NUMBERING) ? readNumbering(textOf(NUMBERING), styles) : undefined;
  const read = async (name: string, encoding?: string) => {
    const bytes = bytesOf(name);
    if (!bytes)
      throw new ExtractError(
        'unreadable',
        'the Word document is damaged: a part is missing; save it again as .docx and upload it again',
      );
    if (encoding === undefined) return bytes;
    if (encoding === 'base64') return bytes.toString('base64');
    if (name === NUMBERING) return PLAIN_NUMBERING;
    const text = new TextDecoder(encoding).decode(bytes);
    // Word refuses such a part too, and the converter's parser may take minutes for it.
    if (!isNested(text))
      throw new ExtractError(
        'unreadable',
        'the Word document is damaged: a part is not well-formed; save it again as .docx and upload it again',
      );
    if (!SHOWN.test(name)) return text;
    const rewritten = rewriteOwnProperties(rewriteWordPart(text, losses, related), styles);
    return findLevel ? rewriteLists(rewritten, findLevel, styles) : rewritten;
  };
  const files: WordPackage = { exists: (name) => byName.has(name), read: read as WordPackage['read'] };
  return {
    files,
    styles,
    /** Returns the texts of headers or footers with the number of times each occurs: a section may have three. */
    edges(kind: 'header' | 'footer'): Map<string, number> {
      const names = [...byName.keys()].filter((name) => new RegExp(`^word/${kind}\\d*\\.xml$`).test(name)).sort();
      const texts = names.map((name) => textOfXml(textOf(name)).replace(/\s+/g, ' ').trim());
      const counts = new Map<string, number>();
      for (const text of texts) if (text !== '') counts.set(text, (counts.get(text) ?? 0) + 1);
      return counts;
    },
    /** Returns the texts of the paragraphs in the main part. */
    paragraphs(): string[] {
      return paragraphsOf(textOf([...byName.keys()].find((name) => MAIN.test(name)) ?? ''));
    },
    comments(): string[] {
      const comments = textOf('word/comments.xml').split(/<(?:\w+:)?comment\s/);
      return comments.slice(1).map((comment) => textOfXml(`<${comment}`).replace(/\s+/g, ' ').trim());
    },
    /** Counts the characters of all texts without white space. */
    countCharacters(): number {
      const counted = [...byName.keys()].filter((name) => COUNTED.test(name));
      return counted.reduce((sum, name) => sum + countWordCharacters(textOf(name)), 0);
    },
  };
}

/** Returns a function that finds the texts of a diagram or chart by relationship id. */
function relatedTexts(textOf: (name: string) => string, source: string): (id: string) => string[] {
  let targets: Map<string, string> | undefined;
  return (id) => {
    targets ??= relationships(textOf(source));
    const name = posix.join('word', targets.get(id) ?? '');
    if (/^word\/diagrams\/data\d*\.xml$/.test(name)) return piecesOf(textOf(name), 'pt');
    return /^word\/charts\/chart\w*\.xml$/.test(name) ? piecesOf(textOf(name), 'ser') : [];
  };
}

function piecesOf(xml: string, element: string): string[] {
  const pieces = xml.split(new RegExp(`<\\w+:${element}[\\s>]`));
  return pieces.map((piece) => textOfXml(`<${piece}`).replace(/\s+/g, ' ').trim()).filter((text) => text !== '');
}

function relationships(xml: string): Map<string, string> {
  const targets = new Map<string, string>();
  for (const { type, source } of xmlTokens(xml)) {
    if (type !== 'empty' && type !== 'open') continue;
    const { Id, Target } = attributesOf(source);
    if (Id !== undefined && Target !== undefined) targets.set(Id, Target);
  }
  return targets;
}
