import assert from 'node:assert/strict';
import { test } from 'node:test';
import { codeFolding, ensureSyntaxTree, foldEffect } from '@codemirror/language';
import { EditorState, type TransactionSpec } from '@codemirror/state';
import type { EditorView } from '@codemirror/view';
import { continueMarkup, markdownSupport } from './elements/editor/text/language.ts';
import { moveBlock, moveBlockTo } from './elements/editor/text/moving/move-block.ts';

/** The part of an editor that commands need: its state, without a window. */
function editorOf(doc: string) {
  const editor = {
    state: EditorState.create({ doc, extensions: [markdownSupport, codeFolding()] }),
    dispatch(spec: TransactionSpec) {
      editor.state = editor.state.update(spec).state;
    },
  };
  return editor;
}
const asView = (editor: ReturnType<typeof editorOf>) => editor as unknown as EditorView;

/** Returns the text after moving the block at the first `^`, with `^` at the new cursor. */
function moved(text: string, by: 1 | -1, times = 1): string {
  const editor = editorOf(text.replace('^', ''));
  editor.dispatch({ selection: { anchor: text.indexOf('^') } });
  for (let i = 0; i < times; i += 1) moveBlock(by)(asView(editor));
  const { doc, selection } = editor.state;
  return `${doc.sliceString(0, selection.main.head)}^${doc.sliceString(selection.main.head)}`;
}

test('a block moves past its neighbour together with the cursor, and back again', () => {
  const cases: [string, string][] = [
    ['o^ne\n\ntwo\n', 'two\n\no^ne\n'],
    ['one^\nmore\n\n\n```\ncode\n\ncode\n```\nend', '```\ncode\n\ncode\n```\n\n\none^\nmore\n\nend'],
    ['- a^\n- b\n  - c\n- d', '- b\n  - c\n- a^\n- d'],
    ['1. a^\n2. b\n3. c\n', '1. b\n2. a^\n3. c\n'],
    ['9. a^\n10. b\n', '10. b\n9. a^\n'],
    ['- a\n  - b^\n  - c\n- d', '- a\n  - c\n  - b^\n- d'],
    ['> - a^\n> - b\n', '> - b\n> - a^\n'],
    ['te^xt\n- a\n- b', '- a\n- b\n\nte^xt'],
    ['a^\n\n| A |\n| - |\n| 1 |\n', '| A |\n| - |\n| 1 |\n\na^\n'],
    ['# Hea^d\ntext\n', 'text\n# Hea^d\n'],
    ['# Head\n\nte^xt', '# Head\n\nte^xt'],
  ];
  for (const [before, after] of cases) assert.equal(moved(before, 1), after, JSON.stringify(before));
  assert.equal(moved('- b\n- a^\n- d', -1), '- a^\n- b\n- d');
  assert.equal(moved('one\n\ntwo^\n', -1), 'two^\n\none\n');
  assert.equal(moved('one^\n\ntwo\n\nthree', 1, 5), 'two\n\nthree\n\none^');
  assert.equal(moved('one^\n\ntwo', -1), 'one^\n\ntwo', 'the first one stays');
});

test('Enter continues a list, a task or a quote, and ends it in an empty line', () => {
  const cases: [string, string][] = [
    ['- a', '- a\n- '],
    ['- [x] a', '- [x] a\n- [ ] '],
    ['1. a', '1. a\n2. '],
    ['> a', '> a\n> '],
    ['text\n- a\n- ', 'text\n- a\n'],
  ];
  for (const [before, after] of cases) {
    const editor = editorOf(before);
    editor.dispatch({ selection: { anchor: before.length } });
    continueMarkup(asView(editor));
    assert.equal(editor.state.doc.toString(), after);
  }
});

test('a folded heading moves with the text that it hides, and past other folded headings', () => {
  const editor = editorOf('# A\n\na\n\n# B\n\nb\n\nb2\n\n# C\n\nc');
  const fold = (from: number, to: number) => editor.dispatch({ effects: foldEffect.of({ from, to }) });
  fold(3, 6);
  fold(11, 18);
  moveBlock(1)(asView(editor));
  assert.equal(editor.state.doc.toString(), '# B\n\nb\n\nb2\n\n# A\n\na\n\n# C\n\nc');
});

test('a block is dropped between any of its siblings', () => {
  const editor = editorOf('- a\n- b\n- c\n- d');
  moveBlockTo(asView(editor), 0, 3);
  assert.equal(editor.state.doc.toString(), '- b\n- c\n- a\n- d');
  moveBlockTo(asView(editor), 12, 0);
  assert.equal(editor.state.doc.toString(), '- d\n- b\n- c\n- a');
  moveBlockTo(asView(editor), 4, 1);
  moveBlockTo(asView(editor), 4, 2);
  assert.equal(editor.state.doc.toString(), '- d\n- b\n- c\n- a', 'where it is it stays');
});

test('a moved block stays the same kind of block, whatever its neighbours are', () => {
  const pieces = [
    'para',
    '# head',
    '- item\n- more',
    '> quote',
    '```\ncode\n```',
    '| A |\n| - |',
    '1. one',
    '$$\nx\n$$',
  ];
  for (const one of pieces)
    for (const other of pieces)
      for (const gap of ['\n', '\n\n']) {
        const editor = editorOf(`first\n\n${one}${gap}${other}\n\nlast`);
        const kinds = () => kindsOf(editor.state).sort();
        const before = kinds();
        if (gap === '\n' && before.length !== 4) continue;
        editor.dispatch({ selection: { anchor: editor.state.doc.line(3).from } });
        // Two lists separated by an empty line only would be a single list.
        moveBlock(1)(asView(editor));
        assert.deepEqual(kinds(), before, JSON.stringify([one, gap, other, editor.state.doc.toString()]));
      }
});

function kindsOf(state: EditorState): string[] {
  const kinds: string[] = [];
  for (let node = wholeTree(state).topNode.firstChild; node; node = node.nextSibling) kinds.push(node.name);
  return kinds;
}

/** Parses the whole text, even on a busy machine. */
function wholeTree(state: EditorState) {
  return ensureSyntaxTree(state, state.doc.length, 60_000) ?? assert.fail('the text was not parsed');
}
