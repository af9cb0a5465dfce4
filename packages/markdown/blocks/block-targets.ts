import { hash } from 'node:crypto';
import type { Element } from 'hast';
import { pathOf, pathOfTarget } from '../wiki-links.ts';

/** Longer addresses are stored as their hash. */
const ADDRESS_MAX = 200;

const PLAYED = new Set('audio source video'.split(' '));

/** Returns the target of a link, picture, sound or film as the page writes it; undefined for other elements. */
export function writtenTarget({ tagName, properties }: Element): string | undefined {
  if (tagName === 'img') return `picture ${properties.src ?? ''}`;
  if (PLAYED.has(tagName) && properties.src !== undefined) return `picture ${properties.src}`;
  if (tagName !== 'a') return undefined;
  if (properties.dataTarget !== undefined) return `missing ${properties.dataTarget}${properties.dataFragment ?? ''}`;
  return properties.href === undefined ? undefined : `link ${properties.href}`;
}

const ATTACHMENT = /^\/v1\/wikis\/[^/]+\/attachments\/([^/?#]+)$/;

/**
 * Returns a target that does not depend on `folder`, the folder of the page. It is `link` or `picture`, followed by
 * `page:` with a path and fragment, `file:` with an attachment id, or `web:` or `address:` with an address. A wiki link
 * to no page is `missing` with its target.
 */
export function targetOf(written: string, folder: string): string {
  const [, kind = '', address = ''] = /^(\w+) ([\s\S]*)$/.exec(written) ?? [];
  if (kind === 'missing') return `missing ${briefly(address)}`;
  const [, attachment_id] = ATTACHMENT.exec(address) ?? [];
  if (attachment_id !== undefined) return `${kind} file:${attachment_id}`;
  if (/^(?:[a-z][a-z0-9+.-]*:|\/\/)/i.test(address)) return `${kind} web:${briefly(address)}`;
  const path = kind === 'link' ? pathOf(address, folder) : undefined;
  if (path !== undefined) return `link page:${briefly(path)}${briefly(/#.*$/s.exec(address)?.[0] ?? '')}`;
  return `${kind} address:${briefly(address)}`;
}

function briefly(address: string): string {
  return address.length > ADDRESS_MAX ? hash('sha256', address) : address;
}

/** Tells whether a target depends on the file alone, and not on the pages around it. */
export function isOfFile(target: string): boolean {
  return /^\w+ web:/.test(target);
}

/**
 * Resolves a target to the page or the bytes it leads to. `meant` maps `page:` with a path to page ids, and `file:`
 * with an id to files.
 */
export function meantTarget(target: string, meant: ReadonlyMap<string, string>): string {
  const [, kind = '', what = '', fragment = ''] = /^(\w+) ((?:page|file):[^#]*)(.*)$/s.exec(target) ?? [];
  const id = meant.get(what);
  return id === undefined ? target : `${kind} ${id}${fragment}`;
}

/**
 * Compares the targets of a block with the targets it was compiled with. `added`: links were added to the source's
 * links, or removed from them. `meant`: see `meantTarget`.
 */
export function compareTargets(
  before: readonly string[],
  now: readonly string[],
  meant: ReadonlyMap<string, string>,
): 'same' | 'added' | 'other' {
  const isPicture = (target: string) => target.startsWith('picture ');
  const isSame = (a: string, b: string) =>
    a === b || meantTarget(a, meant) === meantTarget(b, meant) || isSameName(a, b);
  const equals = (a: readonly string[], b: readonly string[]) =>
    a.length === b.length && a.every((target, i) => isSame(target, b[i] ?? ''));
  if (!equals(before.filter(isPicture), now.filter(isPicture))) return 'other';
  const [was, is] = [before, now].map((all) => all.filter((target) => !isPicture(target))) as [string[], string[]];
  if (equals(was, is)) return 'same';
  return isWithin(was, is, isSame) || isWithin(is, was, isSame) ? 'added' : 'other';
}

/** Tells whether `some` is a subsequence of `all`. */
function isWithin(some: readonly string[], all: readonly string[], isSame: (a: string, b: string) => boolean): boolean {
  let next = 0;
  for (const target of all) if (next < some.length && isSame(some[next] ?? '', target)) next += 1;
  return next === some.length;
}

/** Tells whether one side is a wiki link to no page, and the other a link to a page of that name. */
function isSameName(a: string, b: string): boolean {
  const [missing, found] = a.startsWith('missing ') ? [a, b] : [b, a];
  if (!missing.startsWith('missing ') || !found.startsWith('link page:')) return false;
  const [name = '', ...fragment] = missing.slice('missing '.length).split('#');
  const [path = '', ...place] = found.slice('link page:'.length).split('#');
  const last = (whole: string) => whole.slice(whole.lastIndexOf('/') + 1);
  return last(pathOfTarget(name)) === last(path) && fragment.join('#') === place.join('#');
}
