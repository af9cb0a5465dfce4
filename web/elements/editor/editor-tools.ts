import { openSearchPanel } from '@codemirror/search';
import type { Preview } from './preview.ts';
import { insertBlock, insertLink, TABLE, togglePrefix } from './text/commands.ts';
import { showKeys } from './text/keys.ts';
import type { TextView } from './text/text-view.ts';
import { hasMark, toggleMark } from './text/toggle-marks.ts';
import { type Tool, Toolbar } from './toolbar.ts';

/** The toolbar of the text. */
export function editorTools(text: TextView, preview: Preview): Toolbar {
  const { view } = text;
  const mark = (name: string, sign: Tool['sign'], written: string, keys?: string) => ({
    name,
    sign,
    ...(keys && { keys }),
    run: () => {
      toggleMark(view, written);
      view.focus();
    },
    isOn: () => hasMark(view.state, written),
  });
  const prefix = (name: string, sign: Tool['sign'], written: string) => ({
    name,
    sign,
    run: () => {
      togglePrefix(view, written);
      view.focus();
    },
  });
  const block = (name: string, sign: Tool['sign'], template: string) => ({
    name,
    sign,
    run: () => insertBlock(view, template),
  });
  return new Toolbar('Formatting', [
    [prefix('Heading', 'H2', '## '), prefix('Subheading', 'H3', '### ')],
    [
      mark('Bold', 'B', '**', 'Ctrl+B'),
      mark('Italic', 'I', '*', 'Ctrl+I'),
      mark('Strike through', 'S', '~~', 'Ctrl+Shift+X'),
      mark('Highlight', { icon: 'highlight' }, '=='),
      mark('Code', '<>', '`'),
      { name: 'Link', sign: { icon: 'link' }, keys: 'Ctrl+K', run: () => insertLink(view) },
    ],
    [
      prefix('List', { icon: 'list' }, '- '),
      prefix('Numbered list', { icon: 'numbers' }, '1. '),
      prefix('Tasks', { icon: 'tasks' }, '- [ ] '),
    ],
    [
      prefix('Quote', { icon: 'quote' }, '> '),
      block('Callout', { icon: 'callout' }, '> [!NOTE]\n> \0'),
      block('Code block', '{ }', '```\0\n\n```'),
      block('Table', { icon: 'table' }, TABLE),
      { name: 'Picture', sign: { icon: 'picture' }, run: () => text.chooseFiles('image/*') },
    ],
    [
      { name: 'Find and replace', sign: { icon: 'find' }, keys: 'Ctrl+F', run: () => openSearchPanel(view) },
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
        sign: { icon: 'preview' },
        run: () => {
          preview.isShown = !preview.isShown;
        },
        isOn: () => preview.isShown,
      },
      { name: 'Keys', sign: '?', keys: 'Ctrl+/', run: () => showKeys() },
    ],
  ]);
}
