import type { Completion, CompletionContext, CompletionResult } from '@codemirror/autocomplete';
import { useOf } from '../../emoji-use.ts';
import { loadEmojiNames } from '../../lazy-modules.ts';

/** A colon and the beginning of a name. One letter is rarely meant as a name, and a time of day never. */
const BEGUN = /(?<=^|[\s(>*_~=]):[a-z+-][a-z0-9_+-]+/;

/** Less than CodeMirror's penalty for a name that contains the typed text but does not begin with it. */
const MOST_BOOST = 70;

let options: Promise<Completion[]> | undefined;

/** Completes `:name` with emoji, using the same names as the service. */
export async function emojiMenu(context: CompletionContext): Promise<CompletionResult | null> {
  const typed = context.matchBefore(BEGUN);
  if (!typed) return null;
  options ??= loadOptions();
  return {
    from: typed.from,
    options: await options,
    validFor: /^:[a-z0-9_+-]*$/,
    getMatch: (_, matched = []) => matched,
  };
}

async function loadOptions(): Promise<Completion[]> {
  try {
    const names = await loadEmojiNames();
    return Object.entries(names).map(([name, emoji]) => ({
      // The label omits the closing colon, so that a completely typed name sorts before longer names with the same
      // beginning.
      label: `:${name}`,
      displayLabel: `:${name}:`,
      detail: emoji,
      apply: emoji,
      boost: Math.max(0, MOST_BOOST - useOf(name)),
    }));
  } catch {
    // The names could not be loaded. Retry at the next colon.
    options = undefined;
    return [];
  }
}
