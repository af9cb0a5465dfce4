import type { Element } from 'hast';

/** What shows a file that a page cannot contain, and the attribute that names the file. */
const ADDRESSES: Record<string, string> = { audio: 'src', embed: 'src', object: 'data', source: 'src', video: 'src' };

/** The address of the file that an element shows: its own, or that of its first source. "" if it names none. */
export function addressOfMedia(element: Element): string {
  const attribute = ADDRESSES[element.tagName];
  if (attribute === undefined) return '';
  const own = element.properties[attribute];
  if (own) return String(own);
  for (const child of element.children) {
    const address = child.type === 'element' && child.tagName === 'source' ? String(child.properties.src ?? '') : '';
    if (address !== '') return address;
  }
  return '';
}

/** Whether an element shows a file, so that a page has a link to it instead. */
export function isMedia({ tagName }: Element): boolean {
  return tagName in ADDRESSES && tagName !== 'source';
}

/** The name of a file by its address, as the words of a link. */
export function nameOfAddress(address: string): string {
  const name = /[^/\\]*$/.exec(address.replace(/[?#].*$/s, '').replace(/(?<![/\\])[/\\]+$/, ''))?.[0] ?? '';
  try {
    return decodeURIComponent(name) || address;
  } catch {
    return name || address;
  }
}
