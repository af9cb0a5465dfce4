import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { EditorView } from '@codemirror/view';
import { tags } from '@lezer/highlight';

/** Highlights Markdown much like its rendering, in the colours of the page. */
const HIGHLIGHTING = HighlightStyle.define([
  { tag: tags.heading, fontWeight: '700', color: 'var(--ink)' },
  { tag: tags.heading1, fontSize: '1.3em' },
  { tag: tags.heading2, fontSize: '1.15em' },
  { tag: tags.strong, fontWeight: '700' },
  { tag: tags.emphasis, fontStyle: 'italic' },
  { tag: tags.strikethrough, textDecoration: 'line-through' },
  { tag: [tags.link, tags.url], color: 'var(--accent)' },
  { tag: [tags.monospace, tags.string], color: 'var(--code-string)' },
  { tag: [tags.processingInstruction, tags.meta, tags.quote, tags.contentSeparator], color: 'var(--ink-2)' },
  { tag: tags.keyword, color: 'var(--code-keyword)' },
  { tag: tags.comment, color: 'var(--code-comment)' },
]);

const THEME = EditorView.theme({
  '&': {
    color: 'var(--ink)',
    backgroundColor: 'var(--paper)',
  },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': {
    // The page scrolls, not the editor in it. After a change of the width, the caret's old position must not widen the
    // page.
    overflow: 'clip visible',
  },
  // Content that is too wide, such as a table, scrolls on its own instead of widening all lines. The height is at least
  // the height of the text field that the editor replaces: both push the content below them out of the window, so that
  // nothing visible moves.
  '.cm-content': {
    padding: '0.9rem 0.4rem',
    caretColor: 'var(--ink)',
    minWidth: '0',
    maxWidth: '100%',
    minHeight: 'max(26rem, 100vh - 15rem)',
  },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  // CodeMirror's own dark selection is as light as the letters on it. The selector is as specific as the rule that it
  // replaces.
  '.cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground': {
    backgroundColor: 'color-mix(in srgb, var(--accent) 28%, transparent)',
  },
  '.cm-placeholder': { color: 'var(--ink-2)' },
  '.cm-tooltip': {
    backgroundColor: 'var(--paper)',
    color: 'var(--ink)',
    border: '1px solid var(--line)',
    borderRadius: '8px',
    boxShadow: 'var(--shadow)',
    maxWidth: 'calc(100vw - 2.5rem)',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': {
    fontFamily: 'var(--sans)',
    maxHeight: '18rem',
    background: 'var(--shaded), var(--paper)',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li': {
    display: 'flex',
    gap: '0.6rem',
    alignItems: 'center',
    padding: '0.3rem 0.7rem',
    lineHeight: '1.5',
  },
  '.cm-tooltip-autocomplete .icon': { flex: 'none', color: 'var(--ink-2)' },
  // Aligns the details of entries with short names.
  '.cm-tooltip-autocomplete .icon + .cm-completionLabel': { minWidth: '6rem' },
  '.cm-tooltip-autocomplete > ul > li[aria-selected]': { backgroundColor: 'var(--accent-soft)', color: 'var(--ink)' },
  '.cm-completionMatchedText': { textDecoration: 'none', fontWeight: '700' },
  '.cm-completionDetail': {
    margin: '0',
    overflow: 'hidden',
    textOverflow: 'ellipsis',
    color: 'var(--ink-2)',
    fontStyle: 'normal',
  },
});

export const sourceTheme = [
  syntaxHighlighting(HIGHLIGHTING),
  EditorView.theme({ '.cm-scroller': { fontFamily: 'var(--mono)', fontSize: '0.95rem', lineHeight: '1.6' } }),
];

export const editorTheme = THEME;
