import type { Completion, CompletionContext, CompletionResult } from '@codemirror/autocomplete';
import type { EditorView } from '@codemirror/view';
import { callApi, errorMessage } from '../../call-api.ts';

interface Suggestion {
  kind: 'page' | 'query';
  text: string;
  path: string;
}

/** The data about the edited page that completion needs. */
export interface LinkContext {
  api: string;
  showStatus(words: string): void;
}

/** Completes `[[` with pages whose titles contain the words, and offers to create a missing page. */
export function pageLinks({ api, showStatus }: LinkContext) {
  return async (context: CompletionContext): Promise<CompletionResult | null> => {
    const typed = context.matchBefore(/\[\[[^[\]|#\n]{1,200}/);
    if (!typed) return null;
    const words = typed.text.slice(2);
    const found = await callApi<Suggestion[]>('GET', `${api}/suggest?query=${encodeURIComponent(words)}&limit=8`).catch(
      () => {
        // Completion is optional: the title can be typed.
        return [];
      },
    );
    if (context.aborted) return null;
    const pages = found.filter(({ kind }) => kind === 'page');
    const title = words.trim();
    const options: Completion[] = pages.map(({ text, path }) => ({
      label: text,
      detail: path,
      type: 'page',
      apply: (view, _completion, from, to) => insertLink(view, from, to, text),
    }));
    if (title !== '' && !pages.some(({ text }) => text.toLowerCase() === title.toLowerCase())) {
      options.push({
        label: `Create “${title}”`,
        detail: 'a new draft page',
        type: 'plus',
        apply: (view, _completion, from, to) => {
          insertLink(view, from, to, title);
          void createPage(api, title, showStatus);
        },
      });
    }
    return { from: typed.from + 2, options, filter: false };
  };
}

/** Inserts a title after `[[` and reuses brackets that already close the link. */
function insertLink(view: EditorView, from: number, to: number, title: string): void {
  const closing = /^\]{0,2}/.exec(view.state.sliceDoc(to, to + 2))?.[0].length ?? 0;
  // A wiki link cannot contain these characters.
  const target = title.replace(/[[\]|#]/g, ' ');
  view.dispatch({
    changes: { from, to: to + closing, insert: `${target}]]` },
    selection: { anchor: from + target.length + 2 },
    userEvent: 'input.complete',
  });
}

async function createPage(api: string, title: string, showStatus: LinkContext['showStatus']): Promise<void> {
  try {
    await callApi('POST', `${api}/pages`, { title, markdown: '', status: 'draft' });
    showStatus(`“${title}” was created as a draft.`);
  } catch (error) {
    showStatus(`Could not create “${title}”: ${errorMessage(error)}`);
  }
}
