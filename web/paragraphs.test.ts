import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ensureSyntaxTree, syntaxTree } from '@codemirror/language';
import { EditorState, RangeSet, type StateCommand } from '@codemirror/state';
import { Decoration, EditorView } from '@codemirror/view';
import { markdownSupport } from './elements/editor/text/language.ts';
import { breakLine, joinParagraphs, newParagraph } from './elements/editor/text/rich/paragraph-keys.ts';
import { joinedLines } from './elements/editor/text/rich/soft-breaks.ts';
import { findAgain, treeAfter } from './elements/editor/text/rich/stale-range.ts';

function stateOf(doc: string, anchor = 0): EditorState {
  const state = EditorState.create({ doc, selection: { anchor }, extensions: [markdownSupport, joinedLines] });
  ensureSyntaxTree(state, doc.length, 5_000);
  return state.update({}).state;
}

/** Returns the text with joined lines, each break as the space that the editor shows. */
function shownOf(state: EditorState): string {
  let shown = '';
  let end = 0;
  for (const found of state.facet(EditorView.decorations)) {
    assert.ok(typeof found !== 'function', 'such changes of lines are of the state');
    found.between(0, state.doc.length, (from, to) => {
      shown += `${state.sliceDoc(end, from)} `;
      end = to;
    });
  }
  return shown + state.sliceDoc(end);
}

test('lines of a paragraph are shown as one line, as in the page, and constructs that need their lines keep them', () => {
  const cases: [text: string, shown: string][] = [
    ['one\ntwo\nthree\n\nfour', 'one two three\n\nfour'],
    ['one  \ntwo\\\nthree\nfour', 'one  \ntwo\\\nthree four'],
    ['- one\n  two\n- three\nfour', '- one two\n- three four'],
    ['- [ ] one\n      two', '- [ ] one two'],
    ['> one\n> two\n>\n> three', '> one two\n>\n> three'],
    ['> [!NOTE] Title\n> one\n> two', '> [!NOTE] Title\n> one two'],
    ['```\none\ntwo\n```', '```\none\ntwo\n```'],
    ['| A |\n| - |\n| 1 |', '| A |\n| - |\n| 1 |'],
    [':::note\none\ntwo\n:::', ':::note\none two\n:::'],
    ['Term\n: what it means\ngoes on', 'Term\n: what it means\ngoes on'],
    ['of **bold\nwords** and\n`code`', 'of **bold words** and `code`'],
    ['# Head\ntext\nmore', '# Head\ntext more'],
  ];
  for (const [text, shown] of cases) assert.equal(shownOf(stateOf(text)), shown, JSON.stringify(text));
});

test('after an edit the same lines are joined as in a newly opened text', () => {
  const pieces = ['one\ntwo', '\n\n', '- a\n  b', '> c\n> d', '```\n', '# h\n', '\\\n', 'x\n'];
  for (let seed = 0; seed < 200; seed += 1) {
    let number = seed;
    const next = (below: number) => {
      number = (number * 1_103_515_245 + 12_345) % 2 ** 31;
      return Math.floor((number / 2 ** 31) * below);
    };
    let state = stateOf(Array.from({ length: 4 }, () => pieces[next(pieces.length)]).join(''));
    for (let step = 0; step < 6; step += 1) {
      const from = next(state.doc.length + 1);
      const to = Math.min(state.doc.length, from + next(4));
      state = state.update({ changes: { from, to, insert: pieces[next(pieces.length)] } }).state;
      ensureSyntaxTree(state, state.doc.length, 5_000);
      state = state.update({}).state;
      const doc = state.doc.toString();
      assert.equal(shownOf(state), shownOf(stateOf(doc)), `seed ${seed}: ${JSON.stringify(doc)}`);
    }
  }
});

test('parsing a text again with the same result leaves the decorations unchanged', () => {
  const state = stateOf('one\ntwo');
  const find = () => [Decoration.mark({ class: 'found' }).range(0, 3)];
  const found = RangeSet.of(find());
  const before = syntaxTree(stateOf('one\ntwo'));
  assert.notEqual(before, syntaxTree(state));
  assert.equal(findAgain(found, state.update({}), { before, tree: syntaxTree(state) }, find), found);
});

test('the block of an edit is parsed even on a slow machine, so that a table keeps its cells while they are edited', (t) => {
  const text = '# Loom\n\nIt **weaves** [[Notes]].\n\n- [ ] a task\n- [x] done\n\n|A|B|\n|-|:-:|\n|1|2|\n\nThe end.';
  const state = stateOf(text);
  let now = Date.now();
  // Each look at the clock finds more time passed than CodeMirror gives the parser.
  t.mock.method(Date, 'now', () => (now += 40));
  const from = text.indexOf('2|') + 1;
  const edit = state.update({ changes: { from, insert: '3' }, userEvent: 'input.type' });
  const tree = treeAfter(edit, syntaxTree(state));
  assert.equal(tree.resolveInner(from, -1).parent?.parent?.name, 'Table');
});

/**
 * Returns the text after a command at `^`, with `^` at the new caret; undefined if the command does not apply there.
 */
function after(command: StateCommand, text: string): string | undefined {
  const at = text.indexOf('^');
  let state = stateOf(text.replace('^', ''), at);
  const isDone = command({ state, dispatch: (transaction) => (state = transaction.state) });
  const { head } = state.selection.main;
  return isDone ? `${state.sliceDoc(0, head)}^${state.sliceDoc(head)}` : undefined;
}

test('Enter begins a new paragraph of the page, and Shift+Enter a new line in it', () => {
  const cases: [before: string, expected: string | undefined][] = [
    ['one^', 'one\n\n^'],
    ['one ^two', 'one \n\n^two'],
    ['^one', '\n\n^one'],
    ['one^\n\ntwo', 'one\n\n^\n\ntwo'],
    ['one^\ntwo', 'one\n\n^two'],
    ['one\n^two', 'one\n\n^two'],
    ['# Head^', '# Head\n\n^'],
    ['one^\n# Head', 'one\n\n^\n# Head'],
    ['one\n\n^', undefined],
    ['- one^', undefined],
    ['> one^', undefined],
    ['```\none^\n```', undefined],
  ];
  for (const [before, expected] of cases) assert.equal(after(newParagraph, before), expected, JSON.stringify(before));
  assert.equal(after(breakLine, 'one^ two'), 'one\\\n^ two');
  assert.equal(after(breakLine, '# Head^'), undefined);
});

test('Backspace undoes Enter', () => {
  for (const text of ['one^', 'one ^two', 'one^\n\ntwo', 'one\ntwo^ three']) {
    const entered = after(newParagraph, text);
    assert.equal(after(joinParagraphs, entered ?? ''), text);
  }
  for (const text of ['one\n^two', '# Head\n\n^two', 'one\n\n^# Head', '- one\n\n^two', 'one\n\ntw^o', '^one'])
    assert.equal(after(joinParagraphs, text), undefined, text);
});
