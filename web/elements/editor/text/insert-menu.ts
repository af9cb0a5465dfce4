import type { Completion, CompletionContext, CompletionResult } from '@codemirror/autocomplete';
import { snippet } from '@codemirror/autocomplete';

const entry = (label: string, detail: string, template: string): Completion => ({
  label: `/${label}`,
  detail,
  apply: snippet(template),
});

const MENU: readonly Completion[] = [
  entry('heading', 'a section of the page', '## #{}'),
  entry('subheading', 'a section of a section', '### #{}'),
  entry('list', 'with bullets', '- #{}'),
  entry('numbers', 'a list with numbers', '1. #{}'),
  entry('tasks', 'a list to tick off', '- [ ] #{}'),
  entry('quote', 'the words of someone else', '> #{}'),
  entry('code', 'a block of code', '```#{language}\n#{}\n```'),
  entry('table', 'rows and columns', '| #{Name} | #{Value} |\n| --- | --- |\n| #{} |  |'),
  entry('link', 'to a page of this wiki', '[[#{}]]'),
  entry('formula', 'mathematics in TeX', '$$$$\n#{}\n$$$$'),
  entry('diagram', 'in Mermaid', '```mermaid\n#{flowchart LR}\n```'),
  entry('line', 'across the page', '---\n#{}'),
];

/** Completes a slash at the beginning of a line with elements to insert. */
export function slashMenu(context: CompletionContext): CompletionResult | null {
  const typed = context.matchBefore(/^\/\w*/);
  return typed && { from: typed.from, options: MENU as Completion[], validFor: /^\/\w*$/ };
}
