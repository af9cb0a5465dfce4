/** A link as found while scanning tags. */
export interface PairedLink {
  /** The place that it leads to. */
  place: string;
  /** Places (`path#id`, see References) of the link and of the elements that start directly before it. */
  begun: readonly string[];
  /** The number or sign if it is the whole text of the link; "" for other links. */
  mark: string;
  /** Whether the link follows a word directly, is a superscript or is in brackets. */
  isRaised: boolean;
  beginsBlock: boolean;
}

/** A start tag with the start tags directly before it. */
export interface OpenTags {
  names: readonly string[];
  ids: readonly string[];
  /** Offsets of the start of the first tag and the end of the last tag. */
  start: number;
  end: number;
}

/** The limit of consecutive start tags. */
const TAGS_MAX = 8;

/** How far to search for the end of a link that is only a number: Word wraps it in several elements. */
const MARK_HTML_MAX = 400;

const MARK = /^([[(]?)(\d{1,4}|[ivxlcdm]{1,8}|[a-z]|\*{1,4}|[†‡§]{1,3})[\])]?$/i;

/** Blocks that may hold a note. */
const BLOCKS = new Set('aside dd div li p td'.split(' '));

/** Appends a tag to the tags before it if only white space separates them; otherwise starts a new run. */
export function withTag(
  before: OpenTags | undefined,
  html: string,
  tag: { name: string; id: string | undefined; start: number; end: number },
): OpenTags {
  const { start, end } = tag;
  const [name, ids] = [tag.name.toLowerCase(), tag.id === undefined ? [] : [tag.id]];
  const isBehind =
    before && before.names.length < TAGS_MAX && start - before.end < 40 && html.slice(before.end, start).trim() === '';
  if (!isBehind) return { names: [name], ids, start, end };
  return { names: [...before.names, name], ids: [...before.ids, ...ids], start: before.start, end };
}

/** Derives the properties of a link from the tags that it is in and the text after them. */
export function linkIn(html: string, tags: OpenTags): Omit<PairedLink, 'place' | 'begun'> {
  const piece = html.slice(tags.end, tags.end + MARK_HTML_MAX);
  const close = piece.search(/<\/a\s*>/i);
  const words = piece.slice(0, Math.max(close, 0)).replace(/<[^<>]*>/g, '');
  const [, bracket, mark = ''] = MARK.exec(words.trim()) ?? [];
  const isHeading = tags.names.some((name) => /^h[1-6]$/.test(name));
  return {
    mark: mark.toLowerCase(),
    isRaised:
      bracket !== '' ||
      tags.names.includes('sup') ||
      /[^\s>]/.test(html[tags.start - 1] ?? ' ') ||
      piece.startsWith('<sup'),
    beginsBlock: !isHeading && tags.names.some((name) => BLOCKS.has(name)),
  };
}

/**
 * Finds note references that have no markup: a number after a word links to a block that begins with the same number,
 * and that number links back. Word, LibreOffice, Google Docs and InDesign write such pairs. Maps each reference to its
 * back link.
 */
export function pairedReferences(links: readonly PairedLink[]): Map<PairedLink, PairedLink> {
  const references = new Map<PairedLink, PairedLink>();
  const marked = links.filter(({ mark }) => mark !== '');
  const byPlace = new Map(marked.flatMap((link) => link.begun.map((place) => [place, link] as const)));
  const order = new Map(marked.map((link, i) => [link, i]));
  for (const link of marked) {
    const note = byPlace.get(link.place);
    if (!note?.beginsBlock || !link.isRaised || note.mark !== link.mark || !link.begun.includes(note.place)) continue;
    if ((order.get(link) ?? 0) < (order.get(note) ?? 0)) references.set(link, note);
  }
  return references;
}
