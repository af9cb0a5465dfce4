import type { Completion, CompletionContext, CompletionResult } from '@codemirror/autocomplete';
import { snippet } from '@codemirror/autocomplete';
import { callApi } from '../call-api.ts';

const entry = (label: string, detail: string, template: string): Completion => ({
  label: `/${label}`,
  detail,
  apply: snippet(template),
});

const MENU: readonly Completion[] = [
  entry('heading', 'a part of the page', '## #{}'),
  entry('subheading', 'a part of a part', '### #{}'),
  entry('list', 'with dots', '- #{}'),
  entry('numbers', 'a list with numbers', '1. #{}'),
  entry('tasks', 'a list to tick off', '- [ ] #{}'),
  entry('quote', 'what somebody said', '> #{}'),
  entry('code', 'a block of code', '```#{language}\n#{}\n```'),
  entry('table', 'rows and columns', '| #{Name} | #{Value} |\n| --- | --- |\n| #{} |  |'),
  entry('link', 'to a page of this wiki', '[[#{}]]'),
  entry('formula', 'mathematics in TeX', '$$$$\n#{}\n$$$$'),
  entry('diagram', 'in Mermaid', '```mermaid\n#{flowchart LR}\n```'),
  entry('line', 'across the page', '---\n#{}'),
];

/** What there is to insert, at the beginning of a line behind a slash. */
export function slashMenu(context: CompletionContext): CompletionResult | null {
  const typed = context.matchBefore(/^\/\w*/);
  return typed && { from: typed.from, options: MENU as Completion[], validFor: /^\/\w*$/ };
}

/** The pages whose names somebody may mean behind `[[`. */
export function pageLinks(api: string) {
  return async (context: CompletionContext): Promise<CompletionResult | null> => {
    const typed = context.matchBefore(/\[\[[^\]\n]{2,100}/);
    if (!typed) return null;
    const words = typed.text.slice(2);
    // A name that is still written ends in the middle of a word.
    const pages = await callApi<{ title: string; path: string }[]>(
      'GET',
      `${api}/pages/search?query=${encodeURIComponent(words)}&limit=8`,
    ).catch(() => {
      // Whoever writes goes on: a name can be written out, and the preview says what is the matter.
      return [];
    });
    if (context.aborted || pages.length === 0) return null;
    const options = pages.map(({ title, path }) => ({ label: title, detail: path, apply: `${title}]]` }));
    return { from: typed.from + 2, options, filter: false };
  };
}
