import { posix } from 'node:path';
import { decodeHtml } from '../decode.ts';
import { collectPictures } from '../document-pictures.ts';
import { ExtractError } from '../extract-error.ts';
import type { Picture } from '../extracted.ts';
import { type LossList, lossList } from '../loss-list.ts';
import type { ZipEntry } from '../zip/zip.ts';
import { childrenOf, damaged, findAll, parseNodes, textOf, type XmlNode } from './xml-nodes.ts';

/** Limits of one file in a document, and of all files read, in unpacked bytes. */
const PART_MAX = 64 * 2 ** 20;
const PARTS_MAX = 192 * 2 ** 20;
const PICTURE_MAX = 32 * 2 ** 20;

/** Signatures of pictures that browsers show; metafiles of Windows are not among them. */
const PICTURES = ['\x89PNG', '\xff\xd8\xff', 'GIF8', 'RIFF'];

/** A relationship from a part of an Office document to another part or to an address. */
export interface Relation {
  type: string;
  target: string;
  isExternal: boolean;
}

/** The files of a packed office document, with the pictures and losses collected while reading. */
export interface OfficePackage {
  names: readonly string[];
  /** Parses a file; undefined if it does not exist. Throws an ExtractError if it is damaged or too large. */
  read(name: string): XmlNode | undefined;
  /** Returns the relationships of a part by id. */
  relationsOf(name: string): Map<string, Relation>;
  /** Returns the address of a picture. Lists a picture that cannot be shown as a loss and returns "". */
  pictureAt(name: string, alternative: string): string;
  pictures: Picture[];
  losses: LossList;
}

export function openOffice(entries: readonly ZipEntry[]): OfficePackage {
  const byName = new Map(entries.map((entry) => [entry.name.toLowerCase(), entry]));
  const losses = lossList();
  const { pictures, add } = collectPictures();
  let left = PARTS_MAX;
  const read = (name: string): XmlNode | undefined => {
    const entry = byName.get(name.toLowerCase());
    if (!entry) return undefined;
    if (entry.size > left)
      throw new ExtractError('too_large', 'the document has too much text; split it and upload its parts');
    left -= entry.size;
    return parseNodes(decodeHtml(entry.read(PART_MAX), 'text/xml'));
  };
  const relationsOf = (name: string): Map<string, Relation> => {
    const folder = posix.dirname(name);
    const part = `${folder === '.' ? '' : `${folder}/`}_rels/${posix.basename(name)}.rels`;
    return new Map(
      findAll(read(part), 'Relationship').map(({ attributes: { Id = '', Type = '', Target = '', TargetMode } }) => {
        const isExternal = TargetMode === 'External';
        const path = Target.startsWith('/') ? Target.slice(1) : posix.join(folder, Target);
        return [Id, { type: Type.slice(Type.lastIndexOf('/') + 1), target: isExternal ? Target : path, isExternal }];
      }),
    );
  };
  const pictureAt = (name: string, alternative: string): string => {
    const bytes = pictureOf(byName.get(name.toLowerCase()));
    const address = bytes ? add(bytes) : '';
    if (address === '') losses.addThing('picture', alternative);
    return address;
  };
  return { names: entries.map(({ name }) => name), read, relationsOf, pictureAt, pictures, losses };
}

/** Returns the bytes of a picture; undefined if it is damaged or no browser shows it. */
function pictureOf(entry: ZipEntry | undefined): Buffer | undefined {
  if (!entry || entry.size > PICTURE_MAX) return undefined;
  try {
    const bytes = entry.read(PICTURE_MAX);
    const start = bytes.toString('latin1', 0, 4);
    return PICTURES.some((signature) => start.startsWith(signature)) ? bytes : undefined;
  } catch (error) {
    if (error instanceof ExtractError) return undefined;
    throw error;
  }
}

/** Returns the title from the properties of an Office or OpenDocument file; "" without one. */
export function titleIn(properties: XmlNode | undefined): string {
  return textOf(findAll(properties, 'title')[0]).replace(/\s+/g, ' ').trim().slice(0, 255);
}

/** Returns the root element. Throws an ExtractError if the part, which every document has, is missing. */
export function needed(part: XmlNode | undefined): XmlNode {
  const [root] = childrenOf(part);
  if (!root) throw damaged();
  return root;
}
