import type { Element } from 'hast';

/** Elements that show a file, and the attribute with its address. */
const ADDRESSES: Record<string, string> = { audio: 'src', embed: 'src', object: 'data', source: 'src', video: 'src' };

/** Elements that play a file. */
export type Player = 'audio' | 'video';

const PLAYERS: Record<string, Player> = Object.fromEntries([
  ...'mp3 m4a ogg oga opus wav flac aac'.split(' ').map((end) => [end, 'audio']),
  ...'mp4 m4v webm ogv mov'.split(' ').map((end) => [end, 'video']),
]);

/**
 * Returns the address of the file that an element shows: its own address, or the address of its first source; "" if it
 * has neither.
 */
export function addressOfMedia(element: Element): string {
  const own = ownAddress(element);
  return own === '' && element.tagName in ADDRESSES ? (sourcesOf(element)[0] ?? '') : own;
}

function ownAddress({ tagName, properties }: Element): string {
  const attribute = ADDRESSES[tagName];
  return attribute === undefined ? '' : String(properties[attribute] || '');
}

/** Returns the addresses of the sources of an element. */
export function sourcesOf({ children }: Element): string[] {
  return children.flatMap((child) => {
    const address = child.type === 'element' && child.tagName === 'source' ? ownAddress(child) : '';
    return address === '' ? [] : [address];
  });
}

/** Tells whether an element shows a file other than a picture. */
export function isMedia({ tagName, properties }: Element): boolean {
  if (tagName === 'img') return playerOf(String(properties.src ?? '')) !== undefined;
  return tagName in ADDRESSES && tagName !== 'source';
}

/** Returns the element that plays a file, by the file's extension; undefined for other files. */
export function playerOf(address: string): Player | undefined {
  if (/^[^?#]*[/\\](?:[?#]|$)/.test(address)) return undefined;
  const [, end = ''] = /\.(\w{3,4})$/.exec(writtenName(address)) ?? [];
  return Object.hasOwn(PLAYERS, end.toLowerCase()) ? PLAYERS[end.toLowerCase()] : undefined;
}

/** Returns the file name in an address, for the text of a link. */
export function nameOfAddress(address: string): string {
  const name = writtenName(address);
  try {
    return decodeURIComponent(name) || address;
  } catch {
    return name || address;
  }
}

/** Returns the last segment of an address. The address of an attachment has its file name after a `#`. */
function writtenName(address: string): string {
  const [, attached] = /^attachment:[^?#]*#(.*)$/s.exec(address) ?? [];
  const path = attached ?? address.replace(/[?#].*$/s, '').replace(/(?<![/\\])[/\\]+$/, '');
  return path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1);
}

/** Returns the fragment that names the file in an attachment's address; "" unless the file is played. */
export function playedName(filename: string): string {
  const name = filename.slice(filename.lastIndexOf('/') + 1);
  if (playerOf(name) === undefined) return '';
  return `#${encodeURIComponent(name.toWellFormed()).replace(/[()*'!~_]/g, (character) => `%${character.charCodeAt(0).toString(16)}`)}`;
}
