import { hash } from 'node:crypto';
import type { Element } from 'hast';

/** What a block stands in, which is not what it says: two keys of KEY characters, of the headings above it and of its place in a list. */
export type ContextKeys = string;

/** Half of a SHA-256 would do for what is only compared within one page. */
const KEY = 16;
const NONE = '0'.repeat(KEY);

/** What of its context a block can have lost. */
export const CONTEXT_CHANGES = ['headings', 'place', 'links'] as const;
export type ContextChange = (typeof CONTEXT_CHANGES)[number];

/** What is another between two contexts. */
export function changesOfContext(before: ContextKeys, now: ContextKeys): ContextChange[] {
  const changes: ContextChange[] = [];
  if (before.slice(0, KEY) !== now.slice(0, KEY)) changes.push('headings');
  if (before.slice(KEY) !== now.slice(KEY)) changes.push('place');
  return changes;
}

/** The context of a block that stands in nothing. */
export const NO_CONTEXT: ContextKeys = NONE + NONE;

interface Container {
  tagName: string;
  isOfNotes: boolean;
  /** Of a numbered list: the number of its next item. */
  number: number;
  /** Of definitions: the terms of the next, and whether one was given. */
  terms: string[];
  isDefined: boolean;
  /** Of a table. */
  caption: string;
}

/** What the blocks of a page stand in, as they are read one after the other. */
export class BlockContext {
  /** The headings above, outermost first; `path`: the key of this one and those above it. */
  private headings: { level: number; path: string }[] = [];
  private readonly containers: Container[] = [];
  /** Of the present block: its number or term, and where numbered lists in it begin. */
  private place: string[] = [];

  enter({ tagName, properties }: Element): void {
    const outer = this.containers.at(-1);
    this.containers.push({
      tagName,
      isOfNotes: properties.dataFootnotes !== undefined || outer?.isOfNotes === true,
      number: startOf(properties.start),
      terms: [],
      isDefined: false,
      caption: outer?.caption ?? '',
    });
  }

  leave(): void {
    this.containers.pop();
  }

  beginBlock({ tagName }: Element): void {
    const container = this.containers.at(-1);
    if (container?.tagName === 'ol' && tagName === 'li') this.place.push(`item ${container.number++}`);
    const level = levelOf(tagName);
    if (level > 0) this.headings = this.headings.filter((above) => above.level < level);
  }

  /** Numbers of items are not in the form of the block that they are in. */
  listWithin({ properties }: Element): void {
    this.place.push(`list from ${startOf(properties.start)}`);
  }

  /** The context of the block that ends; `form`: what it says. */
  endBlock(tagName: string, form: string): ContextKeys {
    const container = this.containers.at(-1);
    const place = this.place;
    this.place = [];
    if (container?.isOfNotes) return NO_CONTEXT;
    if (container?.tagName === 'dl') this.define(container, tagName, form, place);
    if (container && tagName === 'tr' && container.caption !== '') place.push(`table ${container.caption}`);
    if (container && tagName === 'caption') container.caption = form;
    const above = this.headings.at(-1)?.path ?? NONE;
    const level = levelOf(tagName);
    if (level > 0) this.headings.push({ level, path: keyOf(`${above}${form}`) });
    return above + (place.length === 0 ? NONE : keyOf(place.join('\n')));
  }

  private define(container: Container, tagName: string, form: string, place: string[]): void {
    if (tagName === 'dt') {
      if (container.isDefined) container.terms = [];
      container.terms.push(form);
      container.isDefined = false;
    } else {
      container.isDefined = true;
      place.push(`term ${container.terms.join('\n')}`);
    }
  }
}

function startOf(start: unknown): number {
  const number = Number(start ?? 1);
  return Number.isInteger(number) ? number : 1;
}

function levelOf(tagName: string): number {
  return /^h[1-6]$/.test(tagName) ? Number(tagName.slice(1)) : 0;
}

function keyOf(text: string): string {
  return hash('sha256', text).slice(0, KEY);
}
