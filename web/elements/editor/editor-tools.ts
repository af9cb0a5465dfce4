import { openSearchPanel } from '@codemirror/search';
import { isFocusMode, toggleFocusMode } from './focus-mode.ts';
import { formatTools } from './format-tools.ts';
import type { Preview } from './preview.ts';
import { insertBlock, TABLE } from './text/commands.ts';
import { showKeys } from './text/keys.ts';
import type { TextView } from './text/text-view.ts';
import { type Tool, Toolbar } from './toolbar.ts';

export function editorTools(text: TextView, preview: Preview): Toolbar {
  const { view } = text;
  const { headings, marks, lists, quotes } = formatTools(view);
  const block = (name: string, sign: Tool['sign'], template: string) => ({
    name,
    sign,
    run: () => insertBlock(view, template),
  });
  return new Toolbar('Formatting', [
    headings,
    marks,
    lists,
    [
      ...quotes,
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
      {
        name: 'Focus mode',
        sign: { icon: 'focus' },
        keys: 'Ctrl+Alt+F',
        run: () => {
          toggleFocusMode();
          view.focus();
        },
        isOn: isFocusMode,
      },
      { name: 'Keyboard shortcuts', sign: '?', keys: 'Ctrl+/', run: () => showKeys() },
    ],
  ]);
}
