import type { Element } from 'hast';

/** Elements that show a file, and the attribute with its address. */
const ADDRESSES: Record<string, string> = { audio: 'src', embed: 'src', object: 'data', source: 'src', video: 'src' };

/** Elements that play a file. */
export type Player = 'audio' | 'video';

const PLAYERS: Record<string, Player> = Object.fromEntries([
  ...'mp3 m4a ogg oga opus wav flac aac'.split(' ').map((end) => [end, 'audio']),
  ...'mp4 m4v webm ogv mov'.split(' ').map((end) => [end, 'video']),
]);

/** The address of the file that an element shows: its own, or that of its first source. "" if it names none. */
export function addressOfMedia(element: Element): string {
  const own = ownAddress(element);
  return own === '' && element.tagName in ADDRESSES ? (sourcesOf(element)[0] ?? '') : own;
}

function ownAddress({ tagName, properties }: Element): string {
  const attribute = ADDRESSES[tagName];
  return attribute === undefined ? '' : String(properties[attribute] || '');
}

/** The addresses of the sources of an element. */
export function sourcesOf({ children }: Element): string[] {
  return children.flatMap((child) => {
    const address = child.type === 'element' && child.tagName === 'source' ? ownAddress(child) : '';
    return address === '' ? [] : [address];
  });
}

/** Whether an element shows a file that is no picture. */
export function isMedia({ tagName, properties }: Element): boolean {
  if (tagName === 'img') return playerOf(String(properties.src ?? '')) !== undefined;
  return tagName in ADDRESSES && tagName !== 'source';
}

/** The element that plays a file, by the end of its name. */
export function playerOf(address: string): Player | undefined {
  if (/^[^?#]*[/\\](?:[?#]|$)/.test(address)) return undefined;
  const [, end = ''] = /\.(\w{3,4})$/.exec(writtenName(address)) ?? [];
  return Object.hasOwn(PLAYERS, end.toLowerCase()) ? PLAYERS[end.toLowerCase()] : undefined;
}

/** The name of a file by its address, as the words of a link. */
export function nameOfAddress(address: string): string {
  const name = writtenName(address);
  try {
    return decodeURIComponent(name) || address;
  } catch {
    return name || address;
  }
}

/** The last segment of an address. The address of an attachment has the name of its file behind a `#`. */
function writtenName(address: string): string {
  const [, attached] = /^attachment:[^?#]*#(.*)$/s.exec(address) ?? [];
  const path = attached ?? address.replace(/[?#].*$/s, '').replace(/(?<![/\\])[/\\]+$/, '');
  return path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1);
}

/** The fragment of an attachment's address that says what its file is, if it is played; else "". */
export function playedName(filename: string): string {
  const name = filename.slice(filename.lastIndexOf('/') + 1);
  if (playerOf(name) === undefined) return '';
  return `#${encodeURIComponent(name.toWellFormed()).replace(/[()*'!~_]/g, (character) => `%${character.charCodeAt(0).toString(16)}`)}`;
}
