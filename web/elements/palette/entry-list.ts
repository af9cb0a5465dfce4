import { html, nothing, type TemplateResult } from 'lit';
import { unsafeHTML } from 'lit/directives/unsafe-html.js';
import type { Entry } from './find.ts';

const GROUPS: readonly { kind: Entry['kind']; name: string }[] = [
  { kind: 'recent', name: 'Recent pages' },
  { kind: 'searched', name: 'Recent searches' },
  { kind: 'suggestion', name: 'Did you mean' },
  { kind: 'title', name: 'Pages' },
  { kind: 'text', name: 'In the text' },
  { kind: 'source', name: 'Sources' },
  { kind: 'saved', name: 'Saved searches' },
  { kind: 'command', name: 'Commands' },
  { kind: 'all', name: 'All results' },
];

/** Pointer actions on an entry, by its index in the list. */
interface Pointed {
  choose(at: number): void;
  open(at: number, inNewTab: boolean): void;
}

/** Renders the entries as grouped options of a list box. */
export function entryList(entries: readonly Entry[], chosen: number, pointed: Pointed): TemplateResult[] {
  return GROUPS.flatMap(({ kind, name }) => {
    const members = entries.map((entry, at) => ({ entry, at })).filter(({ entry }) => entry.kind === kind);
    if (members.length === 0) return [];
    return html`<div role="group" aria-label=${name}>${kind === 'all' ? nothing : html`<div class="group" aria-hidden="true">${name}</div>`}${members.map(({ entry, at }) => option(entry, at, at === chosen, pointed))}</div>`;
  });
}

function option({ title, where, snippet }: Entry, at: number, isChosen: boolean, { choose, open }: Pointed) {
  return html`<div class="option" id="entry-${at}" role="option" aria-selected=${isChosen} @pointermove=${({ movementX, movementY }: PointerEvent) => (movementX !== 0 || movementY !== 0) && choose(at)}
    @click=${(event: MouseEvent) => open(at, event.ctrlKey || event.metaKey)}><span class="title">${title}</span>${where === '' ? nothing : html` <span class="where">${where}</span>`}${snippet === '' ? nothing : html`<div class="snippet">${unsafeHTML(snippet)}</div>`}</div>`;
}
