import { syntaxTree } from '@codemirror/language';
import { type EditorState, type Extension, Prec, type Range, StateEffect } from '@codemirror/state';
import { Decoration, type EditorView, keymap, ViewPlugin, WidgetType } from '@codemirror/view';
import type { SyntaxNodeRef } from '@lezer/common';
import { FRONT_MATTER_START, loadProperties, propertiesModule } from './load-properties.ts';
import { PropertiesEditor } from './properties-editor.ts';
import type { Property } from './read-properties.ts';

export class PropertiesWidget extends WidgetType {
  readonly text: string;
  readonly properties: readonly Property[];
  constructor(text: string, properties: readonly Property[]) {
    super();
    this.text = text;
    this.properties = properties;
  }
  override get estimatedHeight(): number {
    return 34 * (this.properties.length + 1) + 16;
  }
  override eq(other: PropertiesWidget): boolean {
    return other.text === this.text;
  }
  toDOM(view: EditorView): HTMLElement {
    const place = document.createElement('div');
    place.className = 'rich-properties';
    new PropertiesEditor(view, place).show(this.text, this.properties);
    return place;
  }
  /** Keeps the edited field, and with it the caret and a composition. */
  override updateDOM(place: HTMLElement): boolean {
    const editor = PropertiesEditor.of(place);
    editor?.show(this.text, this.properties);
    return editor !== undefined;
  }
  override ignoreEvent(): boolean {
    return true;
  }
}

/** Explains why front matter is shown as source. */
class BrokenNote extends WidgetType {
  readonly line: number;
  constructor(line: number) {
    super();
    this.line = line;
  }
  override eq(other: BrokenNote): boolean {
    return other.line === this.line;
  }
  toDOM(): HTMLElement {
    const note = document.createElement('p');
    note.className = 'rich-broken';
    note.textContent = `Line ${this.line} is not valid YAML, so these properties are shown as text.`;
    return note;
  }
}

/**
 * Returns the rows that replace front matter, or a note below invalid front matter. Returns undefined if it is shown as
 * source without a note.
 */
export function frontMatterDecoration(state: EditorState, { from, to }: SyntaxNodeRef): Range<Decoration> | undefined {
  const text = state.sliceDoc(from, to);
  if (!/\n---[ \t]*$/.test(text)) return undefined;
  const reading = propertiesModule()?.readProperties(text);
  if (!reading) return undefined;
  if ('properties' in reading)
    return Decoration.replace({ widget: new PropertiesWidget(text, reading.properties), block: true }).range(from, to);
  return Decoration.widget({ widget: new BrokenNote(reading.badLine), block: true, side: 1 }).range(to);
}

/** Dispatched when the module has loaded and front matter can be shown as rows. */
export const canReadProperties = StateEffect.define<null>();

const loadWhereNeeded = ViewPlugin.define((view) => {
  const load = () => {
    if (propertiesModule() || !FRONT_MATTER_START.test(view.state.sliceDoc(0, 200))) return;
    // Without the module, front matter is shown as source.
    void loadProperties().then(
      () => view.dispatch({ effects: canReadProperties.of(null) }),
      () => undefined,
    );
  };
  load();
  return { update: ({ docChanged }) => docChanged && load() };
});

/** Returns the rows of the front matter, if they are shown. */
export function propertiesIn(view: EditorView): PropertiesEditor | undefined {
  const place = view.contentDOM.querySelector<HTMLElement>('.rich-properties');
  return place ? PropertiesEditor.of(place) : undefined;
}

/**
 * Moves the focus into the rows at Backspace at the beginning of the text; otherwise the first line would be joined to
 * the closing line of the front matter.
 */
function enterBackwards(view: EditorView): boolean {
  const { main } = view.state.selection;
  const editor = propertiesIn(view);
  const end = editor ? (syntaxTree(view.state).topNode.firstChild?.to ?? 0) : -1;
  if (!editor || !main.empty || main.head !== end + 1) return false;
  editor.focus(true);
  return true;
}

/** Opens the front matter, or inserts one and focuses its tags. */
export async function openProperties(view: EditorView): Promise<void> {
  await loadProperties().catch(() => undefined);
  const hasSome = FRONT_MATTER_START.test(view.state.sliceDoc(0, 200));
  const changes = hasSome ? [] : { from: 0, insert: '---\ntags: []\n---\n\n' };
  view.dispatch({ changes, effects: canReadProperties.of(null), userEvent: 'input' });
  if (hasSome) propertiesIn(view)?.focus();
  else propertiesIn(view)?.focusOn('tags');
}

export const propertiesView: Extension = [
  loadWhereNeeded,
  Prec.high(keymap.of([{ key: 'Backspace', run: enterBackwards }])),
];
