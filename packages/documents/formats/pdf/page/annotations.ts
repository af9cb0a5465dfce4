import type { PDFPageProxy } from 'unpdf/pdfjs';
import { countCharacters, type Loss } from '../../losses.ts';
import type { Box } from './frames.ts';

interface LinkArea extends Box {
  /** The address on the web, or the placeholder that `Destinations` returns for a place in the document. */
  url: string;
}

/** The target of a bookmark or link: a name, or a page with the part of it to show. */
export type Destination = string | readonly unknown[];

/** The places in a document that its links lead to. The placeholder address of a place is `#target-<number>.`. */
export interface Destinations {
  addressOf(destination: Destination): string;
  byAddress: ReadonlyMap<string, Destination>;
}

/** The limit of distinct places that links lead to. */
const DESTINATIONS_MAX = 5_000;

export function collectDestinations(): Destinations {
  const addresses = new Map<string, string>();
  const byAddress = new Map<string, Destination>();
  return {
    byAddress,
    addressOf(destination) {
      const key = JSON.stringify(destination);
      const known = addresses.get(key);
      if (known !== undefined) return known;
      if (byAddress.size >= DESTINATIONS_MAX) return '';
      const address = `#target-${byAddress.size}.`;
      addresses.set(key, address);
      byAddress.set(address, destination);
      return address;
    },
  };
}

/** The value of a form field, or a note written on the page. */
interface FieldText extends Box {
  text: string;
  size: number;
}

export interface Annotations {
  links: LinkArea[];
  fields: FieldText[];
  losses: Loss[];
}

/** An annotation as PDF.js returns it. */
interface Annotation {
  subtype?: string;
  url?: string;
  dest?: Destination | null;
  rect?: number[];
  annotationFlags?: number;
  fieldType?: string;
  fieldValue?: string | string[] | null;
  checkBox?: boolean;
  radioButton?: boolean;
  buttonValue?: string | null;
  exportValue?: string;
  password?: boolean;
  defaultAppearanceData?: { fontSize?: number };
  textContent?: string[];
  contentsObj?: { str?: string };
}

/** Flags of annotations that are not shown: Hidden and NoView. */
const NOT_SHOWN = 2 | 32;

/** The limit of annotations that are read on a page. */
const ANNOTATIONS_MAX = 5_000;

/**
 * Reads the annotations of a page: links to the web and within the document, and values of form fields. Comments are
 * listed as losses.
 */
export async function readAnnotations(page: PDFPageProxy, destinations: Destinations): Promise<Annotations> {
  const found: Annotations = { links: [], fields: [], losses: [] };
  const annotations = (await page.getAnnotations()) as Annotation[];
  for (const annotation of annotations.slice(0, ANNOTATIONS_MAX)) {
    const [x = 0, bottom = 0, right = 0, top = 0] = annotation.rect ?? [];
    const box = { x, right, bottom, top };
    if (((annotation.annotationFlags ?? 0) & NOT_SHOWN) !== 0) continue;
    if (annotation.subtype === 'Link') {
      const url = addressOf(annotation, destinations);
      if (url !== '') found.links.push({ ...box, url });
    } else if (annotation.subtype === 'Widget' || annotation.subtype === 'FreeText') {
      found.fields.push(...fieldTexts(annotation, box));
    } else {
      const comment = (annotation.contentsObj?.str ?? '').trim();
      if (comment !== '') found.losses.push(lostComment(comment, page.pageNumber));
    }
  }
  return found;
}

function addressOf({ url = '', dest }: Annotation, destinations: Destinations): string {
  if (/^(?:https?|mailto):/i.test(url)) return url;
  return dest ? destinations.addressOf(dest) : '';
}

/** Returns the lines of a field from the top of its box; none if it is empty. */
function fieldTexts(annotation: Annotation, box: Box): FieldText[] {
  const high = box.top - box.bottom;
  const lines = valueIn(annotation)
    .split(/\r\n?|\n/)
    .slice(0, 1_000);
  const size = Math.min(annotation.defaultAppearanceData?.fontSize || 10, Math.max(high / lines.length, 4));
  const first = lines.length === 1 ? box.bottom + (high - size) / 2 + 0.2 * size : box.top - size;
  return lines.flatMap((text, i) => {
    const bottom = first - 1.2 * size * i;
    return text.trim() === '' ? [] : [{ text, x: box.x, right: box.right, bottom, top: bottom + size, size }];
  });
}

function valueIn(annotation: Annotation): string {
  const { fieldType, fieldValue, subtype } = annotation;
  if (subtype === 'FreeText') return (annotation.textContent ?? [annotation.contentsObj?.str ?? '']).join('\n');
  if (annotation.password) return '';
  if (fieldType === 'Btn') {
    if (annotation.checkBox) return fieldValue && fieldValue !== 'Off' ? '☑' : '☐';
    if (annotation.radioButton) return fieldValue && fieldValue === annotation.buttonValue ? '☑' : '☐';
    return '';
  }
  if (fieldType !== 'Tx' && fieldType !== 'Ch') return '';
  return Array.isArray(fieldValue) ? fieldValue.join(', ') : (fieldValue ?? '');
}

function lostComment(text: string, page: number): Loss {
  const characters = countCharacters(text);
  return { kind: 'comment', first_page: page, last_page: page, place: '', count: 1, characters, excerpt: text };
}
