import type { Completion, CompletionContext, CompletionResult } from '@codemirror/autocomplete';
import type { EditorView } from '@codemirror/view';
import { fillTemplate, type TemplateValues } from '../../../../src/wiki/templates/fill-template.ts';
import type { FullTemplate, Template } from '../../../../src/wiki/templates/schema.ts';
import { callApi, errorMessage } from '../../call-api.ts';
import { insertBlock } from './commands.ts';
import { matchBehindSlash } from './insert-menu.ts';

/** The data about the edited page that inserting a template needs. */
export interface TemplateContext {
  api: string;
  /** The path of the page, which its links are relative to. */
  pagePath(): string;
  values(): TemplateValues;
  showStatus(words: string): void;
}

const LIST_MS = 5_000;

/** Completes a slash with the templates of the wiki, listed below the elements to insert. */
export function templateMenu(context: TemplateContext) {
  let list: Promise<Completion[]> | undefined;
  let loadedAt = 0;
  return async (typed: CompletionContext): Promise<CompletionResult | null> => {
    const match = typed.matchBefore(/(?<=^|\s)\/[\p{L}\p{N}_]*/u);
    if (!match) return null;
    // A new template appears within seconds.
    if (!list || Date.now() - loadedAt > LIST_MS) [list, loadedAt] = [loadList(context), Date.now()];
    const options = await list;
    const validFor = /^\/[\p{L}\p{N}_]*$/u;
    return options.length === 0 ? null : { from: match.from, options, validFor, getMatch: matchBehindSlash };
  };
}

async function loadList(context: TemplateContext): Promise<Completion[]> {
  const all = await callApi<Template[]>('GET', `${context.api}/templates?limit=100`).catch(() => {
    // The menu has other entries, and templates can also be chosen when a page is created.
    return [];
  });
  return all.map(({ page_id, title }) => ({
    label: `/${title}`,
    displayLabel: title,
    detail: 'a template',
    type: 'page',
    boost: -50,
    apply: (view, _completion, from, to) => {
      view.dispatch({ changes: { from, to } });
      void insertTemplate(view, context, page_id, title);
    },
  }));
}

async function insertTemplate(view: EditorView, context: TemplateContext, page_id: string, title: string) {
  const { api, pagePath, values, showStatus } = context;
  try {
    const path = `${api}/templates/${page_id}?page_path=${encodeURIComponent(pagePath())}`;
    const { markdown } = await callApi<FullTemplate>('GET', path);
    const isEmpty = view.state.doc.toString().trim() === '';
    const text = isEmpty ? markdown : markdown.replace(/^\ufeff?---\r?\n.*?\n---[ \t]*(?:\r?\n)+/s, '');
    insertBlock(view, fillTemplate(text.replaceAll('\r\n', '\n').trimEnd(), values()));
  } catch (error) {
    showStatus(`Could not insert “${title}”: ${errorMessage(error)}`);
  }
}
