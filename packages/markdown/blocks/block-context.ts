import { hash } from 'node:crypto';
import type { Element } from 'hast';

/** The headings above a block and its place in a list, which are not part of its form: two keys of KEY characters. */
export type ContextKeys = string;

/** Hex digits of a SHA-256. 64 bits are enough because keys are only compared within one page. */
const KEY = 16;
const NONE = '0'.repeat(KEY);

/** Parts of its context that can change while a block's form stays the same. */
export const CONTEXT_CHANGES = ['headings', 'place', 'links'] as const;
export type ContextChange = (typeof CONTEXT_CHANGES)[number];

/** Returns the parts in which two contexts differ; never `links`, which context keys do not cover. */
export function changesOfContext(before: ContextKeys, now: ContextKeys): ContextChange[] {
  const changes: ContextChange[] = [];
  if (before.slice(0, KEY) !== now.slice(0, KEY)) changes.push('headings');
  if (before.slice(KEY) !== now.slice(KEY)) changes.push('place');
  return changes;
}

/** The context of a block without headings above it and outside of lists. */
export const NO_CONTEXT: ContextKeys = NONE + NONE;

interface Container {
  tagName: string;
  isOfNotes: boolean;
  /** The number of the next item of a numbered list. */
  number: number;
  /** The terms of the next definition in a definition list. */
  terms: string[];
  isDefined: boolean;
  /** The caption of the table. */
  caption: string;
}

/** Computes the context of each block of a page. Blocks must be reported in document order. */
export class BlockContext {
  /** The headings above, outermost first; `path` is the key of a heading and its ancestors. */
  private headings: { level: number; path: string }[] = [];
  private readonly containers: Container[] = [];
  /** The current block's number or term, and the first numbers of the numbered lists in it. */
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

  /** Records the first number of a numbered list inside a block, because the block's form leaves out item numbers. */
  listWithin({ properties }: Element): void {
    this.place.push(`list from ${startOf(properties.start)}`);
  }

  /** Ends a block and returns its context; `form` is the form of the block. */
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
