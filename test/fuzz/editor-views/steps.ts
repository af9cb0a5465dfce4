import fc from 'fast-check';

/** A step: its name, the selection to make before it, and the text to type or paste. */
export type Step = [name: string, at: number, end: number, text: string];

const mod = (key: string, keyCode: number) => ({ key, keyCode, ctrlKey: true });

/** The keys of steps, as a browser reports them. */
export const KEYS: Record<string, { key: string; keyCode: number; [modifier: string]: unknown }> = {
  enter: { key: 'Enter', keyCode: 13 },
  backspace: { key: 'Backspace', keyCode: 8 },
  delete: { key: 'Delete', keyCode: 46 },
  'delete a word': mod('Backspace', 8),
  'cell on': { key: 'Tab', keyCode: 9 },
  escape: { key: 'Escape', keyCode: 27 },
  bold: mod('b', 66),
  italic: mod('i', 73),
  strike: { ...mod('X', 88), shiftKey: true },
  highlight: { ...mod('H', 72), shiftKey: true },
  link: mod('k', 75),
  list: { ...mod('*', 56), shiftKey: true },
  numbers: { ...mod('&', 55), shiftKey: true },
  tasks: { ...mod('(', 57), shiftKey: true },
  heading: { ...mod('2', 50), altKey: true },
  tick: mod('Enter', 13),
  'block up': { key: 'ArrowUp', keyCode: 38, altKey: true, shiftKey: true },
  'block down': { key: 'ArrowDown', keyCode: 40, altKey: true, shiftKey: true },
  'line up': { key: 'ArrowUp', keyCode: 38, altKey: true },
  'delete a line': { ...mod('K', 75), shiftKey: true },
  undo: mod('z', 90),
  redo: mod('y', 89),
  source: mod('e', 69),
};

const PIECES = [
  '# Head',
  'Head\n====',
  'words **bold** and *more* ==light== ~~gone~~',
  '- item',
  '  - [ ] task',
  '- [x] done',
  '  further',
  '1. one',
  '2. two',
  '> quote',
  '> [!NOTE] Mind',
  '> - in it',
  '```js\nconst x = 1;\n```',
  '```',
  '| A | B |\n| - | :-: |\n| 1 | 2<br/>3 |\n| 4 |',
  '| A |\n| - |\n| **x** \\| y |',
  '$$\nx^2\n$$',
  '$$',
  'of $x$ and `code` \\* [text](http://example.com "t") <b>b</b>',
  '```mermaid\nflowchart LR\n```',
  '---',
  'ציון 日本 😀 e\u0301',
  '[[Page|text]] ![p](x.png) ![[q.png]]',
  '[ref]: http://example.com',
  '[text](\nhttp://example.com\n"title") ![p\nq](x.png)',
  'a\rb\u2028c\td\u00a0',
  '',
];
const BREAKS = ['\n', '\n', '\n\n', '\n\n', '\r\n', '\r\n\r\n', '\r'];
const TYPED = ['x', 'x', '日', ' ', '*', '`', '|', '(', '"', '\\', '#', '- ', '> ', '$', '|\n', 'two words'];
const PASTED = ['one\r\ntwo\r\n', '| A |\n| - |\n| 1 |\n', 'x', '- a\n- b'];

const texts = fc
  .array(fc.tuple(fc.constantFrom(...PIECES), fc.constantFrom(...BREAKS)), { maxLength: 8 })
  .map((lines) => lines.map(([line, end]) => line + end).join(''));

/** Mostly a caret or a few characters, and sometimes much more. */
const places = fc
  .tuple(fc.nat(300), fc.constantFrom(0, 0, 0, 0, 1, 3, -2, 12, 60, -300))
  .map(([at, length]) => [at, Math.max(0, at + length)] as const);

const actions = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(...TYPED).map((text) => ['type', text] as const) },
  { weight: 1, arbitrary: fc.constantFrom(...PASTED).map((text) => ['paste', text] as const) },
  { weight: 12, arbitrary: fc.constantFrom('cut', 'block', ...Object.keys(KEYS)).map((name) => [name, ''] as const) },
);

/** Generates a text with everything that the editor renders and all kinds of line breaks, and steps in it. */
export const sequences = fc.record({
  text: texts,
  steps: fc.array(
    fc.tuple(actions, places).map(([[name, text], [at, end]]): Step => [name, at, end, text]),
    { minLength: 1, maxLength: 5 },
  ),
});
