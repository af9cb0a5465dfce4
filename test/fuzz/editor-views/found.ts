import type { Step } from './steps.ts';

/** What the fuzzer found once, as small as it made it: each failed. */
export const FOUND: { text: string; steps: Step[] }[] = [
  // What seems a block of a formula is one within a paragraph, over several lines: the editor crashed. So does an address.
  { text: '# Head\n$$\nx^2\n$$\n', steps: [['type', 0, 0, 'x']] },
  { text: 'a [text](\nhttp://example.com\n"title") b\n', steps: [['type', 0, 0, 'x']] },
  // All is selected, and begins with a table.
  { text: '| A |\n| - |\n| 1 |\n# Head\n', steps: [['type', 0, 60, 'x']] },
  // A part of a table is selected.
  { text: '| A | B |\n| - | :-: |\n| 1 | 2 |\n| 4 |\n', steps: [['type', 34, 36, 'x']] },
  // What is left of lines that are joined has the sign of a special character, which was read back as text.
  { text: 'a\r**b**\n**b**\r dbc', steps: [['type', 10, 5, 'x']] },
  // The selected space is hidden with the mark before it.
  { text: 'words\n> ', steps: [['type', 7, 8, '*']] },
  // What an input method writes over marks was there twice in part; so was what it wrote below a table.
  { text: '1. one\n', steps: [['compose', 1, 4, '日本']] },
  { text: '| A |\n| - |\n| 1 |\n', steps: [['compose', 18, 18, '日本']] },
  { text: '| A |\n| - |\n| **x** \\| y |\n', steps: [['compose', 12, 24, '日本']] },
  // Where a line break within a paragraph is shown as a space, with what the next line begins with, was no place to type.
  { text: '1. one\n  further\n', steps: [['type', 9, 7, 'x']] },
  { text: '1. one\n x\n', steps: [['type', 7, 7, 'x']] },
  { text: '> - in it\nHead\n====\n> quote\n', steps: [['backspace', 8, 20, '']] },
];
