import assert from 'node:assert/strict';
import { test } from 'node:test';
import { history, redo, undo, undoDepth } from '@codemirror/commands';
import { codeFolding } from '@codemirror/language';
import { EditorState, Transaction, type TransactionSpec } from '@codemirror/state';
import type { EditorView } from '@codemirror/view';
import fc from 'fast-check';
import { insertBlock, insertLink, togglePrefix } from '../web/elements/editor/text/commands.ts';
import { markdownSupport } from '../web/elements/editor/text/language.ts';
import { keepLineEnds, readText, writeText } from '../web/elements/editor/text/line-ends.ts';
import { moveBlock } from '../web/elements/editor/text/moving/move-block.ts';
import { toggleTask } from '../web/elements/editor/text/rich/widgets.ts';
import { toggleMark } from '../web/elements/editor/text/toggle-marks.ts';
import { extent } from './extent.ts';
import { MINUTES, runCases } from './fuzz/run-cases.ts';

/** Editor commands in any order on texts with all kinds of line breaks, without a browser. */
const CASES = MINUTES > 0 ? 50_000 : extent(2_000, 500);

const PIECES = [
  '# Head',
  'words **bold** and *more*',
  '- item',
  '  - [ ] task',
  '1. one',
  '> quote',
  '```js',
  '```',
  '| A | B |',
  '| - | - |',
  '| 1 | 2<br/>3 |',
  '$$',
  '---',
  'ציון 日本 😀',
  '[[Page|text]] ![p](x.png)',
  'a\rb\u2028c',
  '',
];
const BREAKS = ['\n', '\n', '\n\n', '\r\n', '\r\n\r\n', '\r'];

type Command = [name: string, at: number, end: number, text: string];

const texts = fc
  .array(fc.tuple(fc.constantFrom(...PIECES), fc.constantFrom(...BREAKS)), { maxLength: 12 })
  .map((lines) => lines.map(([line, end]) => line + end).join(''));
const commands = fc.array(
  fc.tuple(
    fc.constantFrom('type', 'delete', 'mark', 'prefix', 'block', 'link', 'up', 'down', 'task', 'undo', 'redo'),
    fc.nat(400),
    fc.nat(400),
    fc.constantFrom('x', '\n', '**', '日', ' ', '- ', '`'),
  ),
  { maxLength: 12 },
);

/** Returns the parts of an editor that commands use. Each change is checked against the bytes around it. */
function editorOf(text: string) {
  const { doc, effect } = readText(text);
  const editor = {
    state: EditorState.create({
      extensions: [EditorState.lineSeparator.of('\n'), keepLineEnds, history(), markdownSupport, codeFolding()],
    }),
    dispatch(...specs: (TransactionSpec | Transaction)[]) {
      const transaction = editor.state.update(...(specs as TransactionSpec[]));
      const before = writeText(editor.state);
      editor.state = transaction.state;
      if (!transaction.docChanged) return;
      const after = writeText(editor.state);
      const [head, tail] = untouched(transaction);
      assert.equal(after.slice(0, head), before.slice(0, head), 'what is before a change stays as it is written');
      assert.equal(after.slice(after.length - tail), before.slice(before.length - tail), 'and what is behind it');
    },
    focus() {},
  };
  const annotations = Transaction.addToHistory.of(false);
  editor.state = editor.state.update({ changes: { from: 0, insert: doc }, effects: effect, annotations }).state;
  return editor;
}

/**
 * Returns the number of characters before the first change and after the last one. At least that many bytes must be
 * unchanged.
 */
function untouched({ startState, changes }: Transaction): [number, number] {
  let first = startState.doc.length;
  let last = 0;
  changes.iterChangedRanges((from, to) => {
    first = Math.min(first, from);
    last = Math.max(last, to);
  });
  return [first, startState.doc.length - last];
}

function run(editor: ReturnType<typeof editorOf>, [name, at, end, text]: Command): void {
  const view = editor as unknown as EditorView;
  const { length } = editor.state.doc;
  const [anchor, head] = [Math.min(at, length), Math.min(end, length)];
  if (name !== 'undo' && name !== 'redo') editor.dispatch({ selection: { anchor, head } });
  const [from, to] = [Math.min(anchor, head), Math.max(anchor, head)];
  if (name === 'type') editor.dispatch({ changes: { from, insert: text }, userEvent: 'input.type' });
  else if (name === 'delete') editor.dispatch({ changes: { from, to: Math.min(to, from + 9) }, userEvent: 'delete' });
  else if (name === 'mark') toggleMark(view, '**');
  else if (name === 'prefix') togglePrefix(view, '- ');
  else if (name === 'block') insertBlock(view, '> \0');
  else if (name === 'link') insertLink(view);
  else if (name === 'up') moveBlock(-1)(view);
  else if (name === 'down') moveBlock(1)(view);
  else if (name === 'task') toggleTask(view, from);
  else if (name === 'undo') undo(view);
  else redo(view);
}

test('commands change only the bytes that they edit, and undoing all of them restores every byte', async (t) => {
  await runCases(t, {
    cases: CASES,
    arbitrary: fc.record({ text: texts, steps: commands }),
    check: async ({ text, steps }) => {
      const editor = editorOf(text);
      assert.equal(writeText(editor.state), text, 'a text that is looked at stays as it is');
      for (const step of steps) run(editor, step as Command);
      const [written, shown] = [writeText(editor.state), editor.state.doc.toString()];
      assert.equal(written.replaceAll('\r', ''), shown.replaceAll('\r', ''), 'what is shown is what is written');
      while (undoDepth(editor.state) > 0) undo(editor as unknown as EditorView);
      assert.equal(writeText(editor.state), text);
    },
  });
});
