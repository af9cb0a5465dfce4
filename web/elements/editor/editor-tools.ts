import { openSearchPanel } from '@codemirror/search';
import type { Preview } from './preview.ts';
import { insertBlock, insertLink, TABLE, togglePrefix } from './text/commands.ts';
import { showKeys } from './text/keys.ts';
import type { TextView } from './text/text-view.ts';
import { hasMark, toggleMark } from './text/toggle-marks.ts';
import { Toolbar } from './toolbar.ts';

/** The toolbar of the text. */
export function editorTools(text: TextView, preview: Preview): Toolbar {
  const { view } = text;
  const mark = (name: string, sign: string, written: string, keys?: string) => ({
    name,
    sign,
    ...(keys && { keys }),
    run: () => {
      toggleMark(view, written);
      view.focus();
    },
    isOn: () => hasMark(view.state, written),
  });
  const prefix = (name: string, sign: string, written: string) => ({
    name,
    sign,
    run: () => {
      togglePrefix(view, written);
      view.focus();
    },
  });
  const block = (name: string, sign: string, template: string) => ({
    name,
    sign,
    run: () => insertBlock(view, template),
  });
  return new Toolbar('Formatting', [
    [prefix('Heading', 'H', '## '), prefix('Subheading', 'h', '### ')],
    [
      mark('Bold', 'B', '**', 'Ctrl+B'),
      mark('Italic', 'I', '*', 'Ctrl+I'),
      mark('Strike through', 'S', '~~', 'Ctrl+Shift+X'),
      mark('Highlight', '▮', '=='),
      mark('Code', '<>', '`'),
      { name: 'Link', sign: '🔗', keys: 'Ctrl+K', run: () => insertLink(view) },
    ],
    [prefix('List', '•', '- '), prefix('Numbered list', '1.', '1. '), prefix('Tasks', '☑', '- [ ] ')],
    [
      prefix('Quote', '❝', '> '),
      block('Callout', '❕', '> [!NOTE]\n> \0'),
      block('Code block', '{ }', '```\0\n\n```'),
      block('Table', '▦', TABLE),
      { name: 'Picture', sign: '🖼', run: () => text.chooseFiles('image/*') },
    ],
    [
      { name: 'Find and replace', sign: '🔍', keys: 'Ctrl+F', run: () => openSearchPanel(view) },
      {
        name: 'Markdown source',
        sign: 'M↓',
        keys: 'Ctrl+E',
        run: () => {
          text.isSource = !text.isSource;
          view.focus();
        },
        isOn: () => text.isSource,
      },
      {
        name: 'Preview',
        sign: '◫',
        run: () => {
          preview.isShown = !preview.isShown;
        },
        isOn: () => preview.isShown,
      },
      { name: 'Keys', sign: '?', keys: 'Ctrl+/', run: () => showKeys() },
    ],
  ]);
}
