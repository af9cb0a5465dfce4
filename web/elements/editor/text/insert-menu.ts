import {
  type Completion,
  type CompletionContext,
  type CompletionResult,
  startCompletion,
} from '@codemirror/autocomplete';
import type { EditorView } from '@codemirror/view';
import type { ToolIcon } from '../tool-icons.ts';
import { insertBlock, TABLE } from './commands.ts';
import { askForEmbed } from './embed-question.ts';
import { openProperties } from './properties/properties-view.ts';

/** Actions of the menu other than inserting text. */
export interface InsertActions {
  /** Lets the user choose files, then attaches and links them. */
  chooseFiles(accept: string): void;
}

interface Entry {
  name: string;
  detail: string;
  icon: ToolIcon;
  /** A block on its own lines; the cursor moves to U+0000. */
  block?: string;
  text?(): string;
  run?(actions: InsertActions, view: EditorView): void;
}

const ENTRIES: readonly Entry[] = [
  { name: 'heading', detail: 'a section of the page', icon: 'heading', block: '## \0' },
  { name: 'subheading', detail: 'a section within a section', icon: 'subheading', block: '### \0' },
  { name: 'list', detail: 'a list with bullets', icon: 'list', block: '- \0' },
  { name: 'numbers', detail: 'a list with numbers', icon: 'numbers', block: '1. \0' },
  { name: 'tasks', detail: 'a checklist', icon: 'tasks', block: '- [ ] \0' },
  { name: 'table', detail: 'rows and columns', icon: 'table', block: TABLE },
  { name: 'callout', detail: 'a note that stands out', icon: 'callout', block: '> [!NOTE]\n> \0' },
  { name: 'warning', detail: 'a callout for a warning', icon: 'warning', block: '> [!WARNING]\n> \0' },
  { name: 'quote', detail: 'someone else’s words', icon: 'quote', block: '> \0' },
  { name: 'code', detail: 'a block of code', icon: 'code', block: '```\0\n\n```' },
  { name: 'picture', detail: 'from a file', icon: 'picture', run: (actions) => actions.chooseFiles('image/*') },
  { name: 'file', detail: 'an attachment', icon: 'file', run: (actions) => actions.chooseFiles('') },
  { name: 'link', detail: 'to a page of this wiki', icon: 'link', text: () => '[[' },
  { name: 'embed', detail: 'a video, a design, a document', icon: 'play', run: (_actions, view) => askForEmbed(view) },
  { name: 'formula', detail: 'math in TeX', icon: 'formula', block: '$$\n\0\n$$' },
  {
    name: 'diagram',
    detail: 'a Mermaid diagram',
    icon: 'diagram',
    block: '```mermaid\nflowchart LR\n  \0A --> B\n```',
  },
  { name: 'date', detail: 'today’s date', icon: 'date', text: () => new Date().toLocaleDateString('sv') },
  {
    name: 'properties',
    detail: 'tags and other fields of the page',
    icon: 'properties',
    run: (_actions, view) => void openProperties(view),
  },
  { name: 'divider', detail: 'a line across the page', icon: 'divider', block: '---\n\0' },
];

/** Completes a slash at the beginning of a line or after a space with elements to insert. */
export function slashMenu(actions: InsertActions) {
  const options: Completion[] = ENTRIES.map((entry, i) => ({
    label: `/${entry.name}`,
    displayLabel: entry.name.charAt(0).toUpperCase() + entry.name.slice(1),
    detail: entry.detail,
    type: entry.icon,
    // Keeps the order of the list until something is typed.
    boost: -i,
    apply: (view, _completion, from, to) => apply(view, entry, from, to, actions),
  }));
  return (context: CompletionContext): CompletionResult | null => {
    const typed = context.matchBefore(/(?<=^|\s)\/\w*/);
    return typed && { from: typed.from, options, validFor: /^\/\w*$/, getMatch: matchBehindSlash };
  };
}

/** Converts matched positions of `/name` to positions of the displayed name, which has no slash. */
export const matchBehindSlash = (_completion: Completion, matched: readonly number[] = []) =>
  matched.map((at) => Math.max(0, at - 1));

/**
 * Inserts the first element of the menu whose name begins with the text typed after a slash. Returns whether such an
 * element exists.
 */
export function insertNamed(view: EditorView, actions: InsertActions): boolean {
  const to = view.state.selection.main.head;
  const line = view.state.doc.lineAt(to);
  const [, name = ''] = /(?:^|\s)\/(\w+)$/.exec(line.text.slice(0, to - line.from)) ?? [];
  if (name === '') return false;
  const entry = ENTRIES.find((each) => each.name === name) ?? ENTRIES.find((each) => each.name.startsWith(name));
  if (entry) apply(view, entry, to - name.length - 1, to, actions);
  return entry !== undefined;
}

function apply(view: EditorView, entry: Entry, from: number, to: number, actions: InsertActions): void {
  view.dispatch({ selection: { anchor: to } });
  if (entry.block !== undefined) return insertBlock(view, entry.block, from);
  const insert = entry.text?.() ?? '';
  view.dispatch({ changes: { from, to, insert }, selection: { anchor: from + insert.length }, userEvent: 'input' });
  entry.run?.(actions, view);
  if (insert.endsWith('[[')) startCompletion(view);
}
