import { hash } from 'node:crypto';
import type { Element } from 'hast';
import { pathOf, pathOfTarget } from '../wiki-links.ts';

/** Longer addresses are kept as their hash. */
const ADDRESS_MAX = 200;

const PLAYED = new Set('audio source video'.split(' '));

/** Where a link leads or which picture, sound or film is shown, as the page writes it; undefined for what is neither. */
export function writtenTarget({ tagName, properties }: Element): string | undefined {
  if (tagName === 'img') return `picture ${properties.src ?? ''}`;
  if (PLAYED.has(tagName) && properties.src !== undefined) return `picture ${properties.src}`;
  if (tagName !== 'a') return undefined;
  if (properties.dataTarget !== undefined) return `missing ${properties.dataTarget}${properties.dataFragment ?? ''}`;
  return properties.href === undefined ? undefined : `link ${properties.href}`;
}

const ATTACHMENT = /^\/v1\/wikis\/[^/]+\/attachments\/([^/?#]+)$/;

/**
 * A target that does not depend on where the page is, which is in `folder`: `link` or `picture`, and then `page:` with its path and the
 * fragment, `file:` with the id of an attachment, `web:` or `address:` with an address; or `missing` with the target of a wiki link
 * that leads to no page.
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

/** Whether the file itself says it, whatever the pages are that it is among. */
export function isOfFile(target: string): boolean {
  return /^\w+ web:/.test(target);
}

/** A target by the page or the bytes that are meant: `meant` has the ids of pages by `page:` and path, and of files by `file:` and id. */
export function meantTarget(target: string, meant: ReadonlyMap<string, string>): string {
  const [, kind = '', what = '', fragment = ''] = /^(\w+) ((?:page|file):[^#]*)(.*)$/s.exec(target) ?? [];
  const id = meant.get(what);
  return id === undefined ? target : `${kind} ${id}${fragment}`;
}

/**
 * Whether the targets of a block are those that it was compiled with: `same`; `added`, where links were added to those of the source or
 * taken away; or `other`. `meant`: as `meantTarget`.
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

/** Whether all of `some` are among `all`, in their order. */
function isWithin(some: readonly string[], all: readonly string[], isSame: (a: string, b: string) => boolean): boolean {
  let next = 0;
  for (const target of all) if (next < some.length && isSame(some[next] ?? '', target)) next += 1;
  return next === some.length;
}

/** Whether a wiki link led to no page on one side, and on the other to one of its name. */
function isSameName(a: string, b: string): boolean {
  const [missing, found] = a.startsWith('missing ') ? [a, b] : [b, a];
  if (!missing.startsWith('missing ') || !found.startsWith('link page:')) return false;
  const [name = '', ...fragment] = missing.slice('missing '.length).split('#');
  const [path = '', ...place] = found.slice('link page:'.length).split('#');
  const last = (whole: string) => whole.slice(whole.lastIndexOf('/') + 1);
  return last(pathOfTarget(name)) === last(path) && fragment.join('#') === place.join('#');
}
