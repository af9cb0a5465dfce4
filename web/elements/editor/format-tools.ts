import type { EditorView } from '@codemirror/view';
import { insertLink, togglePrefix } from './text/commands.ts';
import { hasMark, toggleMark } from './text/toggle-marks.ts';
import type { Tool } from './toolbar.ts';

/** Returns the tools that change the selected words or their lines, for the toolbar and the selection menu. */
export function formatTools(view: EditorView): Record<'headings' | 'marks' | 'lists' | 'quotes', Tool[]> {
  const mark = (name: string, sign: Tool['sign'], written: string, keys?: string): Tool => ({
    name,
    sign,
    ...(keys && { keys }),
    run: () => {
      toggleMark(view, written);
      view.focus();
    },
    isOn: () => hasMark(view.state, written),
  });
  const prefix = (name: string, sign: Tool['sign'], written: string): Tool => ({
    name,
    sign,
    run: () => {
      togglePrefix(view, written);
      view.focus();
    },
  });
  return {
    headings: [prefix('Heading', 'H2', '## '), prefix('Subheading', 'H3', '### ')],
    marks: [
      mark('Bold', 'B', '**', 'Ctrl+B'),
      mark('Italic', 'I', '*', 'Ctrl+I'),
      mark('Strikethrough', 'S', '~~', 'Ctrl+Shift+X'),
      mark('Highlight', { icon: 'highlight' }, '=='),
      mark('Code', '<>', '`'),
      { name: 'Link', sign: { icon: 'link' }, keys: 'Ctrl+K', run: () => insertLink(view) },
    ],
    lists: [
      prefix('Bulleted list', { icon: 'list' }, '- '),
      prefix('Numbered list', { icon: 'numbers' }, '1. '),
      prefix('Task list', { icon: 'tasks' }, '- [ ] '),
    ],
    quotes: [prefix('Quote', { icon: 'quote' }, '> ')],
  };
}
