import { countCharacters, type Loss, type LossKind, lostText } from './losses.ts';

/** Collects the losses of a document or a part of it. Frequent, ordinary losses of a kind share an entry. */
export interface LossList {
  /** Adds an entry for a text that occurs `count` times in the file. */
  add(kind: LossKind, text: string, count?: number): void;
  /**
   * Adds an entry for content that is not text, or that the file's character count does not include. `excerpt`: words
   * for the user.
   */
  addThing(kind: LossKind, excerpt: string): void;
  /** Adds to the shared entry of this kind, whose excerpt is the first text. */
  sum(kind: LossKind, text: string, count?: number): void;
  losses: Loss[];
}

/** The limit of separate entries; further losses are added to the shared entry of their kind. */
const ENTRIES_MAX = 200;

export function lossList(place = '', losses: Loss[] = []): LossList {
  const sums = new Map<LossKind, Loss>();
  const list: LossList = {
    losses,
    add(kind, text, count = 1) {
      const loss = lostText(kind, text, place);
      if (losses.length >= ENTRIES_MAX) for (let i = 0; i < count; i += 1) list.sum(kind, text);
      else losses.push({ ...loss, count, characters: count * loss.characters });
    },
    addThing(kind, excerpt) {
      if (losses.length >= ENTRIES_MAX) list.sum(kind, '');
      else losses.push({ ...lostText(kind, '', place), excerpt });
    },
    sum(kind, text, count = 1) {
      const sum = sums.get(kind);
      if (!sum) {
        const first = { ...lostText(kind, text, place), count };
        sums.set(kind, first);
        losses.push(first);
        return;
      }
      sum.count += count;
      sum.characters += countCharacters(text);
      if (sum.excerpt.trim() === '') sum.excerpt = text;
    },
  };
  return list;
}
