import { search, searchKeymap } from '@codemirror/search';
import { EditorState } from '@codemirror/state';
import { EditorView, keymap } from '@codemirror/view';

/** Finds and replaces text. The browser's own search finds only rendered text, which is a part of a long document. */
export const findAndReplace = [
  search({ top: true }),
  EditorState.phrases.of({
    all: 'Select all',
    'by word': 'Whole words',
    'match case': 'Match case',
    next: 'Next',
    previous: 'Previous',
    regexp: 'Regular expression',
    replace: 'Replace',
    'replace all': 'Replace all',
  }),
  keymap.of(searchKeymap),
  EditorView.theme({
    '.cm-panels': { backgroundColor: 'var(--paper-2)', color: 'var(--ink)', zIndex: '4' },
    '.cm-panels-top': { borderBottom: '1px solid var(--line)', top: 'calc(var(--top) + var(--tools))' },
    '.cm-panel.cm-search': { padding: '0.6rem 2.2rem 0.6rem 0.6rem', fontFamily: 'var(--sans)' },
    '.cm-panel.cm-search label': { display: 'inline-flex', gap: '0.3rem', alignItems: 'center', fontSize: '0.85rem' },
    '.cm-textfield': {
      backgroundColor: 'var(--paper)',
      border: '1px solid var(--line-strong)',
      borderRadius: '6px',
      fontSize: '0.9rem',
      padding: '0.25rem 0.5rem',
      color: 'var(--ink)',
    },
    '.cm-button': {
      backgroundImage: 'none',
      backgroundColor: 'var(--paper)',
      border: '1px solid var(--line-strong)',
      borderRadius: '6px',
      padding: '0.25rem 0.6rem',
      fontSize: '0.85rem',
      color: 'var(--ink)',
    },
    '.cm-panel.cm-search [name=close]': {
      fontSize: '1.2rem',
      insetInlineEnd: '0.6rem',
      top: '0.4rem',
      color: 'var(--ink)',
    },
    '.cm-searchMatch': { backgroundColor: 'var(--mark)' },
    '.cm-searchMatch-selected': { outline: '2px solid var(--accent)' },
  }),
];
