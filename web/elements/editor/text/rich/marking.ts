import type { EditorState, Range } from '@codemirror/state';
import { Decoration } from '@codemirror/view';

/**
 * The builder of a view's decorations. `isTouched`: whether the selection touches a range, whose marks are then shown.
 */
export interface Marking {
  state: EditorState;
  /** Returns the address from which a browser loads a picture. */
  resolvePicture(address: string): string;
  isTouched(from: number, to: number): boolean;
  add(...ranges: Range<Decoration>[]): void;
  addLines(from: number, to: number, className: string): void;
}

export const HIDDEN = Decoration.replace({});
