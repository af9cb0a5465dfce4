import { countCharacters, type Loss, type LossKind, lostText } from './losses.ts';

/** The losses of a document or one of its parts; those of a kind that are many and ordinary are one entry. */
export interface LossList {
  /** Adds an entry for this text, which the file has `count` times. */
  add(kind: LossKind, text: string, count?: number): void;
  /** Adds an entry for what is no text, or whose text is not in the file's count; with words for people. */
  addThing(kind: LossKind, excerpt: string): void;
  /** Adds to the entry of this kind; its excerpt is the first text. */
  sum(kind: LossKind, text: string, count?: number): void;
  losses: Loss[];
}

/** Entries beyond this number are added up by kind. */
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
