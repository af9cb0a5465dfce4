import { posix } from 'node:path';
import { linkIn, type OpenTags, type PairedLink, pairedReferences, withTag } from './paired-notes.ts';

/**
 * What the parts of a document (the chapters of a book, or the one text of a file) refer to in each other. A place is
 * `path#id`, or the path of a part for its beginning.
 */
export interface References {
  /** The number of each place that a link leads to and that exists. */
  targets: ReadonlyMap<string, number>;
  /** The label of each note, by its place. */
  notes: ReadonlyMap<string, string>;
  /** The places of the references to notes, to which notes lead back. */
  noteReferences: ReadonlySet<string>;
}

export interface PartText {
  /** "" for a document of one part. */
  path: string;
  html: string;
}

const TAG = /<([a-zA-Z][^\s<>/]*)((?:\s[^<>]*)?)>/g;
const ID = /\s(?:id|name)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'<>]+))/i;
const HREF = /\shref\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'<>]+))/i;
/** Pandoc, Hugo and kramdown; docutils; GitHub; older kramdown; Asciidoctor. */
const NOTE_REFERENCE =
  /\s(?:epub:type|role|class)\s*=\s*["']?[^"'<>]*\b(?:noteref|doc-noteref|footnote-ref(?:erence)?)\b|\s(?:data-footnote-ref\b|rel\s*=\s*["']?footnote\b|id\s*=\s*["']?_footnoteref_\d)/i;
/** What mdBook and MediaWiki put around a reference. */
const AROUND_REFERENCE = /\s(?:class\s*=\s*["']?footnote-reference\b|id\s*=\s*["']?cite_ref-)/i;
/** The references to notes that Word documents have after their conversion. */
const WORD_NOTE = /\sid="(foot|end)note-ref-(\d+)"/;
const NOTE_ELEMENTS = new Set('aside dd div li p section td'.split(' '));

/** The limits of a document, so that hostile ones cannot fill the memory. */
const PLACES_MAX = 200_000;

interface Link extends PairedLink {
  note: string;
  /** The places that it is itself, and that what it is all of is. */
  ids: string[];
}

/** Finds the references of a document in its tags, before its trees are made: only one of these is held at a time. */
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

/** The label of the note that a link refers to, "any" if it has none of its own; "" for other links. */
function noteLabel(attributes: string): string {
  const [, kind, number] = WORD_NOTE.exec(attributes) ?? [];
  if (number !== undefined) return kind === 'end' ? `end-${number}` : number;
  return NOTE_REFERENCE.test(attributes) ? 'any' : '';
}

/** The place that an address in a part leads to; undefined for other files and the web. */
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
    // An invalid percent-encoding is kept as text.
    return text;
  }
}
