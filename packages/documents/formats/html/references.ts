import { posix } from 'node:path';
import { linkIn, type OpenTags, type PairedLink, pairedReferences, withTag } from './paired-notes.ts';

/**
 * References between the parts of a document: the chapters of a book, or the single text of a file. A place is
 * `path#id`, or the path of a part for its beginning.
 */
export interface References {
  /** Numbers of the linked places that exist. */
  targets: ReadonlyMap<string, number>;
  /** Labels of notes by place. */
  notes: ReadonlyMap<string, string>;
  /** Places of note references, the targets of back links. */
  noteReferences: ReadonlySet<string>;
}

export interface PartText {
  /** "" for a document with a single part. */
  path: string;
  html: string;
}

const TAG = /<([a-zA-Z][^\s<>/]*)((?:\s[^<>]*)?)>/g;
const ID = /\s(?:id|name)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'<>]+))/i;
const HREF = /\shref\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'<>]+))/i;
/** Note references of Pandoc, Hugo and kramdown; docutils; GitHub; older kramdown; Asciidoctor. */
const NOTE_REFERENCE =
  /\s(?:epub:type|role|class)\s*=\s*["']?[^"'<>]*\b(?:noteref|doc-noteref|footnote-ref(?:erence)?)\b|\s(?:data-footnote-ref\b|rel\s*=\s*["']?footnote\b|id\s*=\s*["']?_footnoteref_\d)/i;
/** Elements that mdBook and MediaWiki wrap around a note reference. */
const AROUND_REFERENCE = /\s(?:class\s*=\s*["']?footnote-reference\b|id\s*=\s*["']?cite_ref-)/i;
/** Note references in converted Word documents. */
const WORD_NOTE = /\sid="(foot|end)note-ref-(\d+)"/;
const NOTE_ELEMENTS = new Set('aside dd div li p section td'.split(' '));

/** The limit of places and links, so that a hostile document cannot exhaust memory. */
const PLACES_MAX = 200_000;

interface Link extends PairedLink {
  note: string;
  /** Places of the link itself and of an element that begins directly before it. */
  ids: string[];
}

/**
 * Scans the tags of a document for references before any part is parsed, so that only one tree is in memory at a time.
 */
export function findReferences(parts: Iterable<PartText>): References {
  const places = new Map<string, string>();
  const links: Link[] = [];
  for (const { path, html } of parts) {
    places.set(path, 'body');
    let before: { ids: string[]; end: number; isReference: boolean } | undefined;
    let tags: OpenTags | undefined;
    for (const { 0: tag, 1: name = '', 2: attributes = '', index } of html.matchAll(TAG)) {
      const id = attributes === '' ? undefined : attributeOf(ID, attributes);
      tags = withTag(tags, html, { name, id, start: index, end: index + tag.length });
      if (attributes === '' || places.size + links.length > PLACES_MAX) continue;
      if (id !== undefined && !places.has(`${path}#${id}`)) places.set(`${path}#${id}`, name.toLowerCase());
      const around = before?.end === index ? before : undefined;
      before = {
        ids: id === undefined ? [] : [id],
        end: index + tag.length,
        isReference: AROUND_REFERENCE.test(attributes),
      };
      if (name !== 'a' && name !== 'A') continue;
      const href = attributeOf(HREF, attributes);
      const place = href === undefined ? undefined : placeOf(path, decodeReferences(href));
      if (place !== undefined)
        links.push({
          place,
          note: noteLabel(attributes) || (around?.isReference ? 'any' : ''),
          ids: [...(around?.ids ?? []), ...(id === undefined ? [] : [id])].map((each) => `${path}#${each}`),
          ...linkIn(html, tags),
          begun: tags.ids.map((each) => `${path}#${each}`),
        });
    }
  }
  return resolved(places, links);
}

function resolved(places: ReadonlyMap<string, string>, links: readonly Link[]): References {
  const targets = new Map<string, number>();
  const notes = new Map<string, string>();
  const noteReferences = new Set<string>();
  const labels = new Set(links.map(({ note }) => note));
  const paired = pairedReferences(links);
  const backLinks = new Set(paired.values());
  let no = 0;
  for (const link of links) {
    const { place, ids } = link;
    const isPaired = link.note === '' && paired.has(link);
    const note = isPaired ? 'any' : link.note;
    const element = places.get(place);
    if (note !== '') for (const id of ids) noteReferences.add(id);
    if (element === undefined || notes.has(place)) continue;
    if (note !== '' && (isPaired || NOTE_ELEMENTS.has(element)) && place.includes('#')) {
      do if (note === 'any') no += 1;
      while (note === 'any' && labels.has(String(no)));
      notes.set(place, note === 'any' ? String(no) : note);
    } else if (!targets.has(place) && !backLinks.has(link)) targets.set(place, targets.size);
  }
  return { targets, notes, noteReferences };
}

/** Returns the label of the note that a link refers to: "any" if the link does not name one, "" for other links. */
function noteLabel(attributes: string): string {
  const [, kind, number] = WORD_NOTE.exec(attributes) ?? [];
  if (number !== undefined) return kind === 'end' ? `end-${number}` : number;
  return NOTE_REFERENCE.test(attributes) ? 'any' : '';
}

/** Resolves an address to a place of the document; undefined for other files and the web. */
export function placeOf(path: string, address: string): string | undefined {
  const href = address.trim();
  if (href === '' || /^[a-z][a-z0-9+.-]*:|^\//i.test(href)) return undefined;
  const [file = '', fragment = ''] = href.split('#', 2);
  if (path === '') return file === '' && fragment !== '' ? `#${decoded(fragment)}` : undefined;
  const [name = ''] = decoded(file).split('?', 1);
  const target = name === '' ? path : posix.join(posix.dirname(path), name);
  return fragment === '' ? target : `${target}#${decoded(fragment)}`;
}

function attributeOf(pattern: RegExp, attributes: string): string | undefined {
  const found = pattern.exec(attributes);
  return found ? (found[1] ?? found[2] ?? found[3]) : undefined;
}

function decodeReferences(text: string): string {
  return text.replaceAll('&amp;', '&').replaceAll('&quot;', '"').replaceAll('&#39;', "'");
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // Keep an invalid percent-encoding as text.
    return text;
  }
}
