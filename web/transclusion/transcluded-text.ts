import { unescapeHtml } from '../page-text.ts';

/** A tag of the API's serialized HTML: attributes are quoted, and `<` in texts is escaped. */
const TAG = /<(\/?)([a-z][a-z0-9]*)((?:\s[^\s"'<>/=]+(?:="[^"]*")?)*)\s*\/?>/gi;
const ATTRIBUTE = /\s([^\s"'<>/=]+)(?:="([^"]*)")?/g;

const EMPTY = new Set('area base br col hr img input link meta source track wbr'.split(' '));

/** Attributes that refer to elements of the page by id. In another page they would refer to other elements. */
const OF_THE_PAGE = new Set(['id', 'aria-describedby', 'aria-labelledby', 'headers']);

/**
 * Returns the section of the heading with this id, up to the next heading of the same or a higher level, or the
 * paragraph or item with this id. Returns undefined if no element has the id.
 */
export function sectionOf(text: string, id: string): string | undefined {
  let depth = 0;
  let found: { start: number; depth: number; level: number; isItem: boolean } | undefined;
  const upTo = (end: number) => found && wholeOf(text.slice(found.start, end), found.isItem);
  for (const { 0: tag, 1: slash, 2: written = '', 3: attributes = '', index } of text.matchAll(TAG)) {
    const name = written.toLowerCase();
    if (EMPTY.has(name)) continue;
    const level = Number(/^h([1-6])$/.exec(name)?.[1] ?? 0);
    if (slash === '/') {
      depth -= 1;
      if (found && depth < found.depth) return upTo(index);
      if (found && found.level === 0 && depth === found.depth) return upTo(index + tag.length);
      continue;
    }
    if (found && level > 0 && level <= found.level && depth === found.depth) return upTo(index);
    if (!found && (level > 0 || name === 'p' || name === 'li') && idIn(attributes) === id)
      found = { start: index, depth, level, isItem: name === 'li' };
    depth += 1;
  }
  return upTo(text.length);
}

function wholeOf(part: string, isItem: boolean): string {
  return isItem ? `<ul>${part}</ul>` : part;
}

function idIn(attributes: string): string | undefined {
  for (const [, name, value = ''] of attributes.matchAll(ATTRIBUTE)) if (name === 'id') return unescapeHtml(value);
  return undefined;
}

/** Rewrites a page's HTML for use in another page: resolves links against its own `address` and removes ids. */
export function rebased(text: string, address: string): string {
  return text.replace(TAG, (tag, slash: string, name: string, attributes: string) => {
    if (slash === '/' || attributes === '') return tag;
    const kept = attributes.replace(ATTRIBUTE, (attribute, key: string, value: string | undefined) => {
      if (OF_THE_PAGE.has(key)) return '';
      return (key === 'href' || key === 'src') && value !== undefined
        ? ` ${key}="${absolute(value, address)}"`
        : attribute;
    });
    return `<${name}${kept}>`;
  });
}

/**
 * Resolves an address relative to a page into an absolute path; keeps other addresses. Input and output are escaped for
 * an attribute.
 */
function absolute(written: string, address: string): string {
  if (/^(?:[a-z][a-z0-9+.-]*:|\/)/i.test(written)) return written;
  if (written.startsWith('#')) return `${address}${written}`;
  const path = /^[^?#]*/.exec(written)?.[0] ?? '';
  const to = URL.parse(path, `https://page.invalid${address}`);
  return to?.origin === 'https://page.invalid' ? `${to.pathname}${written.slice(path.length)}` : written;
}
