import { autocompletion, closeBrackets } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { markdown, markdownLanguage } from '@codemirror/lang-markdown';
import { EditorState, Transaction } from '@codemirror/state';
import { EditorView, highlightSpecialChars, keymap, placeholder } from '@codemirror/view';
import { type AttachmentTarget, handleDrop, handlePaste } from '../editor-paste.ts';
import { slashMenu } from './insert-menu.ts';
import { keepLineEnds, readText, writeText } from './line-ends.ts';
import { pageLinks } from './page-links.ts';
import { editorTheme } from './theme.ts';
import { toggleMark } from './toggle-marks.ts';

export interface TextOptions extends AttachmentTarget {
  /** The API path of the wiki. */
  api: string;
  onChange(): void;
  save(): void;
}

/** The text of a page in CodeMirror, byte for byte. */
export interface TextView {
  /** Where it is shown. */
  readonly host: HTMLElement;
  readonly view: EditorView;
  text: string;
}

export function createTextView(text: string, options: TextOptions): TextView {
  const host = document.createElement('div');
  host.className = 'text-view';
  // CodeMirror adopts its style sheets in a shadow tree; outside of one it would need inline styles, which the policy forbids.
  const shadow = host.attachShadow({ mode: 'open' });
  const view = new EditorView({
    root: shadow,
    parent: shadow,
    extensions: [
      EditorState.lineSeparator.of('\n'),
      EditorView.clipboardInputFilter.of((pasted) => pasted.replace(/\r\n?/g, '\n')),
      keepLineEnds,
      highlightSpecialChars(),
      history(),
      closeBrackets(),
      markdown({ base: markdownLanguage }),
      editorTheme,
      autocompletion({ override: [slashMenu, pageLinks(options)], icons: false, interactionDelay: 0 }),
      placeholder('Write in Markdown. A slash at the beginning of a line shows what there is.'),
      keymap.of([
        {
          key: 'Mod-s',
          run: () => {
            options.save();
            return true;
          },
        },
        { key: 'Mod-b', run: (it) => toggleMark(it, '**') },
        { key: 'Mod-i', run: (it) => toggleMark(it, '*') },
        ...defaultKeymap,
        ...historyKeymap,
      ]),
      EditorView.lineWrapping,
      EditorView.contentAttributes.of({ 'aria-label': 'Text, in Markdown', spellcheck: 'true' }),
      // The caret stays clear of the bar with the buttons, which covers the end of the window.
      EditorView.scrollMargins.of(() => ({ bottom: barHeight() + 24 })),
      EditorView.updateListener.of((update) => update.docChanged && options.onChange()),
      EditorView.domEventHandlers({
        paste: (event, it) => handlePaste(it, event, options),
        drop: (event, it) => handleDrop(it, event, options),
      }),
    ],
  });
  const replace = (written: string, isUndoable: boolean) => {
    const { doc, effect } = readText(written);
    return view.state.update({
      changes: { from: 0, to: view.state.doc.length, insert: doc },
      effects: effect,
      annotations: Transaction.addToHistory.of(isUndoable),
    });
  };
  view.setState(replace(text, false).state);
  return {
    host,
    view,
    get text() {
      return writeText(view.state);
    },
    set text(written) {
      view.dispatch(replace(written, true));
    },
  };
}

function barHeight(): number {
  return document.querySelector('.editor-do')?.clientHeight ?? 0;
}
