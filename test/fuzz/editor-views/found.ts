import type { Step } from './steps.ts';

/** Sequences that once failed, as small as the fuzzer could make them. */
export const FOUND: { text: string; steps: Step[] }[] = [
  // A formula block or an address that is in fact inside a paragraph and spans lines: the editor crashed.
  { text: '# Head\n$$\nx^2\n$$\n', steps: [['type', 0, 0, 'x']] },
  { text: 'a [text](\nhttp://example.com\n"title") b\n', steps: [['type', 0, 0, 'x']] },
  // The selection covers the whole text, which begins with a table.
  { text: '| A |\n| - |\n| 1 |\n# Head\n', steps: [['type', 0, 60, 'x']] },
  // The selection covers a part of a table.
  { text: '| A | B |\n| - | :-: |\n| 1 | 2 |\n| 4 |\n', steps: [['type', 34, 36, 'x']] },
  // Joined lines keep the placeholder of a special character, which was read back as text.
  { text: 'a\r**b**\n**b**\r dbc', steps: [['type', 10, 5, 'x']] },
  // The selected space is hidden together with the mark before it.
  { text: 'words\n> ', steps: [['type', 7, 8, '*']] },
  // Text from an input method was partly duplicated if it replaced marks, or was written below a table.
  { text: '1. one\n', steps: [['compose', 1, 4, '日本']] },
  { text: '| A |\n| - |\n| 1 |\n', steps: [['compose', 18, 18, '日本']] },
  { text: '| A |\n| - |\n| **x** \\| y |\n', steps: [['compose', 12, 24, '日本']] },
  // A soft line break is shown as a space, together with the prefix of the next line. Typing there failed.
  { text: '1. one\n  further\n', steps: [['type', 9, 7, 'x']] },
  { text: '1. one\n x\n', steps: [['type', 7, 7, 'x']] },
  { text: '> - in it\nHead\n====\n> quote\n', steps: [['backspace', 8, 20, '']] },
];
