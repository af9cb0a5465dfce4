/** A link of a text, as it was found in the tags. */
export interface PairedLink {
  /** Where it leads. */
  place: string;
  /** The places that it is itself, and those of the elements that begin with it. */
  begun: readonly string[];
  /** Its number or sign, if that is all of it; "" for other links. */
  mark: string;
  /** Whether it stands behind a word, is raised or in brackets. */
  isRaised: boolean;
  /** Whether a block of text begins with it. */
  beginsBlock: boolean;
}

/** A start tag, with those that stand right before it. */
export interface OpenTags {
  names: readonly string[];
  ids: readonly string[];
  /** Where the first of them begins and the last one ends. */
  start: number;
  end: number;
}

/** More tags than these do not begin at one place. */
const TAGS_MAX = 8;

/** How far the end of a link is looked for that is only a number: Word writes several elements around one. */
const MARK_HTML_MAX = 400;

const MARK = /^([[(]?)(\d{1,4}|[ivxlcdm]{1,8}|[a-z]|\*{1,4}|[†‡§]{1,3})[\])]?$/i;

/** Blocks of text that notes are. */
const BLOCKS = new Set('aside dd div li p td'.split(' '));

/** The tags that end with this one, if nothing but white space is between them. */
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

/** What is known of a link from the tags that begin with it. */
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
 * The references to notes that nothing else says are some: a number behind a word leads to a block that begins with the
 * same number, and that leads back, as in what Word, LibreOffice, Google Docs and InDesign write. With the link that leads back.
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
