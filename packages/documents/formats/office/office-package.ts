import { posix } from 'node:path';
import { decodeHtml } from '../decode.ts';
import { collectPictures } from '../document-pictures.ts';
import { ExtractError } from '../extract-error.ts';
import type { Picture } from '../extracted.ts';
import { type LossList, lossList } from '../loss-list.ts';
import type { ZipEntry } from '../zip/zip.ts';
import { childrenOf, damaged, findAll, parseNodes, textOf, type XmlNode } from './xml-nodes.ts';

/** The limits of one file in a document and of all that are read, in bytes unpacked. */
const PART_MAX = 64 * 2 ** 20;
const PARTS_MAX = 192 * 2 ** 20;
const PICTURE_MAX = 32 * 2 ** 20;

/** Pictures that browsers show, by how they begin; metafiles of Windows are none. */
const PICTURES = ['\x89PNG', '\xff\xd8\xff', 'GIF8', 'RIFF'];

/** A relationship of a part of an Office document to another one, or to an address. */
export interface Relation {
  type: string;
  target: string;
  isExternal: boolean;
}

/** The files of a packed office document, and what is found on the way. */
export interface OfficePackage {
  names: readonly string[];
  /** Undefined if there is no such file. Throws an ExtractError if it is damaged or too large. */
  read(name: string): XmlNode | undefined;
  /** The relationships of a part by their ids. */
  relationsOf(name: string): Map<string, Relation>;
  /** The address of a picture; "" if it cannot be shown, which is listed. */
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
      throw new ExtractError(
        'too_large',
        'the document has more text than can be read; split it, and upload its parts',
      );
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

/** Undefined for what no browser shows, and for what is damaged. */
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

/** The title in the properties of an Office or OpenDocument file; "" without one. */
export function titleIn(properties: XmlNode | undefined): string {
  return textOf(findAll(properties, 'title')[0]).replace(/\s+/g, ' ').trim().slice(0, 255);
}

/** Throws an ExtractError if a part that every document has is missing. */
export function needed(part: XmlNode | undefined): XmlNode {
  const [root] = childrenOf(part);
  if (!root) throw damaged();
  return root;
}
