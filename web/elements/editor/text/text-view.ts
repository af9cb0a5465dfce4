import { autocompletion, closeBrackets, closeCompletion, completionStatus } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { codeFolding, foldKeymap } from '@codemirror/language';
import { Compartment, EditorState, type Extension, Transaction } from '@codemirror/state';
import {
  drawSelection,
  EditorView,
  highlightSpecialChars,
  type KeyBinding,
  keymap,
  placeholder,
  tooltips,
} from '@codemirror/view';
import { type AttachmentTarget, attachFiles, handleDrop, handlePaste } from '../editor-paste.ts';
import { toggleFocusMode } from '../focus-mode.ts';
import { altQuestions } from './alt-text.ts';
import { awaitedMenu } from './awaited-menu.ts';
import { heightOf, keepClearOfBars } from './clear-of-bars.ts';
import { insertLink, togglePrefix } from './commands.ts';
import { emojiMenu } from './emoji-menu.ts';
import { findAndReplace } from './find.ts';
import { firstPlace } from './first-place.ts';
import { insertNamed, slashMenu } from './insert-menu.ts';
import { showKeys } from './keys.ts';
import { markdownSupport } from './language.ts';
import { lineDirections } from './line-directions.ts';
import { keepLineEnds, readText, writeParts, writeText } from './line-ends.ts';
import { menuIcons } from './menu-icons.ts';
import { dragHandle } from './moving/drag-handle.ts';
import { moveBlock } from './moving/move-block.ts';
import { pageLinks } from './page-links.ts';
import { restingCaret } from './resting-caret.ts';
import { loadStyle } from './rich/adopt-style.ts';
import { caretPlaced, isCaretPlaced } from './rich/caret-placed.ts';
import { richView } from './rich/rich-view.ts';
import { toggleTask } from './rich/widgets.ts';
import { selectionMenu } from './selection-menu.ts';
import { type TemplateContext, templateMenu } from './template-menu.ts';
import { editorTheme, sourceTheme } from './theme.ts';
import { toggleMark } from './toggle-marks.ts';
import { typeOverLines } from './type-over-lines.ts';

export interface TextOptions extends AttachmentTarget, TemplateContext {
  api: string;
  /** Returns the address from which a browser loads a picture. */
  resolvePicture(address: string): string;
  onChange(): void;
  onSelect(): void;
  root: string;
  save(): void;
}

/** The text of a page in CodeMirror, preserved byte for byte. */
export interface TextView {
  readonly host: HTMLElement;
  readonly view: EditorView;
  text: string;
  /** Strings whose concatenation is the text. Parts that an edit does not touch stay the same strings. */
  readonly textParts: readonly string[];
  /** Whether the Markdown source is shown. The browser remembers it. */
  isSource: boolean;
  /** Selects a range and takes the focus. Positions count as in a textarea. */
  select(from: number, to: number): void;
  /** Lets the user choose files, then attaches them and links them at the cursor. */
  chooseFiles(accept: string): void;
}

/**
 * Loads the style sheets of the text. The text view is created after they have loaded, because otherwise it would be
 * drawn twice.
 */
export function loadTextStyles(): Promise<CSSStyleSheet[]> {
  return Promise.all(['style.css', 'editor.css'].map((name) => loadStyle(new URL(name, import.meta.url).href)));
}

export function createTextView(text: string, styles: readonly CSSStyleSheet[], options: TextOptions): TextView {
  const host = document.createElement('div');
  host.className = 'text-view';
  // CodeMirror adopts its style sheets in a shadow tree. Outside a shadow tree it would need inline styles, which the
  // policy forbids.
  const shadow = host.attachShadow({ mode: 'open' });
  shadow.adoptedStyleSheets.push(...styles);
  const shown = new Compartment();
  const rich = richView(options.resolvePicture);
  const viewOf = (asSource: boolean) => (asSource ? sourceTheme : rich);
  let isSource = isSourcePreferred();
  const view = new EditorView({
    root: shadow,
    parent: shadow,
    extensions: [
      shown.of(viewOf(isSource)),
      ...extensionsOf(options, { chooseFiles, toggleSource: () => toggleSource() }),
    ],
  });
  const replace = (written: string, isUndoable: boolean) => {
    const { doc, effect } = readText(written);
    return view.state.update({
      changes: { from: 0, to: view.state.doc.length, insert: doc },
      ...(!isCaretPlaced(view.state) && { selection: { anchor: firstPlace(doc) } }),
      effects: effect,
      annotations: Transaction.addToHistory.of(isUndoable),
    });
  };
  view.setState(replace(text, false).state);
  function toggleSource(): void {
    isSource = !isSource;
    rememberSource(isSource);
    view.dispatch({ effects: shown.reconfigure(viewOf(isSource)) });
    options.onSelect();
  }
  function chooseFiles(accept: string): void {
    const input = document.createElement('input');
    input.type = 'file';
    input.multiple = true;
    input.accept = accept;
    input.addEventListener('change', () => void attachFiles(view, [...(input.files ?? [])], options));
    input.click();
  }
  return {
    host,
    view,
    chooseFiles,
    select(from, to) {
      const { length } = view.state.doc;
      view.dispatch({
        selection: { anchor: Math.min(from, length), head: Math.min(to, length) },
        scrollIntoView: true,
      });
      view.focus();
    },
    get text() {
      return writeText(view.state);
    },
    get textParts() {
      return writeParts(view.state);
    },
    get isSource() {
      return isSource;
    },
    set isSource(asSource) {
      if (asSource !== isSource) toggleSource();
    },
    set text(written) {
      view.dispatch(replace(written, true));
    },
  };
}

function editorKeys(options: TextOptions, toggleSource: () => void): KeyBinding[] {
  const does = (run: (view: EditorView) => unknown) => (view: EditorView) => {
    run(view);
    return true;
  };
  return [
    { key: 'Mod-s', run: does(() => options.save()) },
    { key: 'Mod-e', run: does(toggleSource) },
    { key: 'Mod-b', run: (view) => toggleMark(view, '**') },
    { key: 'Mod-i', run: (view) => toggleMark(view, '*') },
    { key: 'Mod-Shift-x', run: (view) => toggleMark(view, '~~') },
    { key: 'Mod-Shift-h', run: (view) => toggleMark(view, '==') },
    // Outside the text these keys open the search.
    { key: 'Mod-k', run: (view) => insertLink(view), stopPropagation: true },
    { key: 'Mod-Shift-8', run: (view) => togglePrefix(view, '- ') },
    { key: 'Mod-Shift-7', run: (view) => togglePrefix(view, '1. ') },
    { key: 'Mod-Shift-9', run: (view) => togglePrefix(view, '- [ ] ') },
    { key: 'Mod-Enter', run: (view) => toggleTask(view, view.state.selection.main.head) },
    { key: 'Alt-Shift-ArrowUp', run: moveBlock(-1) },
    { key: 'Alt-Shift-ArrowDown', run: moveBlock(1) },
    { key: 'Mod-/', run: () => showKeys() },
    { key: 'Mod-Alt-f', run: does(toggleFocusMode) },
    ...[1, 2, 3, 4].map((level) => ({
      key: `Mod-Alt-${level}`,
      run: (view: EditorView) => togglePrefix(view, `${'#'.repeat(level)} `),
    })),
  ];
}

const SOURCE_KEY = 'ibid-editor-source';

function isSourcePreferred(): boolean {
  try {
    return localStorage.getItem(SOURCE_KEY) === 'yes';
  } catch {
    // Storage is disabled.
    return false;
  }
}

function rememberSource(isSource: boolean): void {
  try {
    localStorage.setItem(SOURCE_KEY, isSource ? 'yes' : 'no');
  } catch {
    // Storage is disabled or full: the choice applies to this page only.
  }
}

/**
 * Makes the scrollable list of the completion menu reachable by Tab, so that keys can scroll it. The menu closes when the focus
 * leaves it.
 */
function makeListReachable(view: EditorView): void {
  if (completionStatus(view.state) !== 'active') return;
  const list = view.dom.querySelector<HTMLElement>('.cm-tooltip-autocomplete > ul');
  if (!list || list.tabIndex === 0) return;
  list.tabIndex = 0;
  list.addEventListener('focusout', () => closeCompletion(view));
}

/** Returns the extensions that both the rich view and the source view use. */
function extensionsOf(
  options: TextOptions,
  { chooseFiles, toggleSource }: { chooseFiles(accept: string): void; toggleSource(): void },
): Extension[] {
  return [
    EditorState.lineSeparator.of('\n'),
    EditorView.clipboardInputFilter.of((pasted) => pasted.replace(/\r\n?/g, '\n')),
    keepLineEnds,
    caretPlaced,
    highlightSpecialChars(),
    history(),
    closeBrackets(),
    markdownSupport,
    codeFolding(),
    EditorState.allowMultipleSelections.of(true),
    drawSelection(),
    restingCaret,
    editorTheme,
    awaitedMenu((view) => insertNamed(view, { chooseFiles })),
    autocompletion({
      override: [slashMenu({ chooseFiles }), templateMenu(options), pageLinks(options), emojiMenu],
      icons: false,
      addToOptions: [menuIcons],
      interactionDelay: 0,
    }),
    placeholder('Start writing, or type / to insert something.'),
    findAndReplace,
    selectionMenu,
    altQuestions,
    dragHandle,
    keymap.of([...editorKeys(options, toggleSource), ...defaultKeymap, ...historyKeymap, ...foldKeymap]),
    EditorView.lineWrapping,
    lineDirections,
    EditorView.contentAttributes.of({ 'aria-label': 'Text, in Markdown', spellcheck: 'true' }),
    typeOverLines,
    keepClearOfBars,
    tooltips({
      tooltipSpace: () => ({ left: 0, top: 0, right: innerWidth, bottom: innerHeight - heightOf('.editor-do') }),
    }),
    EditorView.updateListener.of(({ view }) => makeListReachable(view)),
    EditorView.updateListener.of(({ docChanged, selectionSet, focusChanged }) => {
      if (docChanged) options.onChange();
      if (docChanged || selectionSet || focusChanged) options.onSelect();
    }),
    EditorView.domEventHandlers({
      paste: (event, it) => handlePaste(it, event, options),
      drop: (event, it) => handleDrop(it, event, options),
    }),
  ];
}
