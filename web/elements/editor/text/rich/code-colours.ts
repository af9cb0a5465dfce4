import { syntaxTree } from '@codemirror/language';
import { type Extension, type Range, RangeSet, StateEffect } from '@codemirror/state';
import { Decoration, type DecorationSet, type EditorView, ViewPlugin, type ViewUpdate } from '@codemirror/view';
import { loadCodeColours } from '../../../lazy-modules.ts';

/** Longer code is not highlighted on the page either. */
const CODE_MAX = 10_000;

/** Returns ranges of the code with the classes that the page gives them. */
type HighlightCode = (language: string, code: string) => { from: number; to: number; className: string }[];

let highlightCode: HighlightCode | undefined;
const loaded = StateEffect.define<null>();

function buildColours(view: EditorView, remembered: Map<string, ReturnType<HighlightCode>>): DecorationSet {
  const { state } = view;
  const found: Range<Decoration>[] = [];
  for (const { from, to } of view.visibleRanges) {
    syntaxTree(state).iterate({
      from,
      to,
      enter({ name, node }) {
        if (name === 'Paragraph') return false;
        if (name !== 'FencedCode') return undefined;
        const [info, text] = [node.getChild('CodeInfo'), node.getChild('CodeText')];
        if (!info || !text || text.to - text.from > CODE_MAX) return false;
        if (!highlightCode) {
          void load(view);
          return false;
        }
        const [language, code] = [state.sliceDoc(info.from, info.to), state.sliceDoc(text.from, text.to)];
        const key = `${language}\n${code}`;
        const runs = remembered.get(key) ?? highlightCode(language, code);
        remembered.set(key, runs);
        for (const { from: start, to: end, className } of runs)
          found.push(Decoration.mark({ class: className }).range(text.from + start, text.from + end));
        return false;
      },
    });
  }
  return RangeSet.of(found, true);
}

async function load(view: EditorView): Promise<void> {
  try {
    highlightCode = await loadCodeColours();
    view.dispatch({ effects: loaded.of(null) });
  } catch {
    // Show the code without colours.
  }
}

/** Colours visible code blocks, using the module and the classes of rendered pages. */
export const codeColours: Extension = ViewPlugin.fromClass(
  class {
    decorations: DecorationSet;
    #remembered = new Map<string, ReturnType<HighlightCode>>();
    constructor(view: EditorView) {
      this.decorations = buildColours(view, this.#remembered);
    }
    update({ view, docChanged, viewportChanged, transactions, startState, state }: ViewUpdate) {
      const isLoaded = transactions.some(({ effects }) => effects.some((effect) => effect.is(loaded)));
      const isParsed = syntaxTree(startState) !== syntaxTree(state);
      if (!docChanged && !viewportChanged && !isLoaded && !isParsed) return;
      if (this.#remembered.size > 200) this.#remembered.clear();
      this.decorations = buildColours(view, this.#remembered);
    }
  },
  { decorations: (plugin) => plugin.decorations },
);
