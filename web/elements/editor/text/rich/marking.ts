import type { EditorState, Range } from '@codemirror/state';
import { Decoration } from '@codemirror/view';

/** What the marks of a view are made of, and whether the selection touches a range, whose marks are then shown. */
export interface Marking {
  state: EditorState;
  /** The address of a picture as a browser loads it. */
  resolvePicture(address: string): string;
  isTouched(from: number, to: number): boolean;
  add(...ranges: Range<Decoration>[]): void;
  /** Adds a class to each line of a range. */
  addLines(from: number, to: number, className: string): void;
}

export const HIDDEN = Decoration.replace({});
