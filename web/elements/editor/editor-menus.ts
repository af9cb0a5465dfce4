import type { Completion, CompletionContext, CompletionResult } from '@codemirror/autocomplete';
import { snippet } from '@codemirror/autocomplete';
import { callApi } from '../call-api.ts';

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

/** Completes `[[` with the pages of the wiki whose titles match. */
export function pageLinks(api: string) {
  return async (context: CompletionContext): Promise<CompletionResult | null> => {
    const typed = context.matchBefore(/\[\[[^\]\n]{2,100}/);
    if (!typed) return null;
    const words = typed.text.slice(2);
    // The last word may be incomplete; the search matches prefixes.
    const pages = await callApi<{ title: string; path: string }[]>(
      'GET',
      `${api}/pages/search?query=${encodeURIComponent(words)}&limit=8`,
    ).catch(() => {
      // Completion is optional: the title can be typed, and the preview shows what is wrong with the service.
      return [];
    });
    if (context.aborted || pages.length === 0) return null;
    const options = pages.map(({ title, path }) => ({ label: title, detail: path, apply: `${title}]]` }));
    return { from: typed.from + 2, options, filter: false };
  };
}
