import type { Completion, CompletionContext, CompletionResult } from '@codemirror/autocomplete';
import { useOf } from '../../emoji-use.ts';
import { loadEmojiNames } from '../../lazy-modules.ts';

/** A colon and what a name begins with; one letter is seldom meant as that, and a time of day never. */
const BEGUN = /(?<=^|[\s(>*_~=]):[a-z+-][a-z0-9_+-]+/;

/** Less than what a name loses that only contains what was typed. */
const MOST_BOOST = 70;

let options: Promise<Completion[]> | undefined;

/** Completes `:name` with emoji, by the names that the service reads as well. */
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
      // Without the colon behind it: a name that is typed to its end comes before those that begin so.
      label: `:${name}`,
      displayLabel: `:${name}:`,
      detail: emoji,
      apply: emoji,
      boost: Math.max(0, MOST_BOOST - useOf(name)),
    }));
  } catch {
    // The names cannot be loaded just now: they are asked for again with the next colon.
    options = undefined;
    return [];
  }
}
