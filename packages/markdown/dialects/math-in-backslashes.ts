import type { Code, Construct, Effects, State, TokenizeContext } from 'micromark-util-types';
import { BACKSLASH, isLineEnding } from '../character-codes.ts';

const [ROUND, SQUARE] = [40, 91];
const CLOSING = new Map([
  [ROUND, 41],
  [SQUARE, 93],
]);

/** Only formulas match this. `\[1\]` and `\(not a link\)` are brackets that a program escaped. */
const IS_FORMULA = /\\[a-z]|[\^_=]|^[a-z]$|^\s*\n/i;

/** Longer formulas are treated as text. */
const VALUE_MAX = 5_000;

/** LaTeX formulas: `\(…\)` and `\[…\]`. */
export const mathInBackslashes: Construct = { name: 'mathBackslash', tokenize };

function tokenize(this: TokenizeContext, effects: Effects, ok: State, nok: State): State {
  const slice = this.sliceSerialize;
  let end: Code = null;
  let value = '';
  let isOpen = false;
  return (code) => {
    effects.enter('mathText');
    effects.enter('mathTextMarker');
    effects.consume(code);
    return opening;
  };

  function opening(code: Code): State | undefined {
    const closing = code === ROUND || code === SQUARE ? CLOSING.get(code) : undefined;
    if (closing === undefined) return nok(code);
    // A formula of a single letter is recognized in round brackets only.
    if (code === SQUARE) value = ' ';
    end = closing;
    effects.consume(code);
    effects.exit('mathTextMarker');
    return inside;
  }

  function inside(code: Code): State | undefined {
    if (code === null || value.length > VALUE_MAX) return nok(code);
    if (isLineEnding(code)) {
      leave();
      effects.enter('lineEnding');
      effects.consume(code);
      effects.exit('lineEnding');
      value += '\n';
      return inside;
    }
    if (code === BACKSLASH) {
      leave();
      effects.enter('mathTextMarker');
      effects.consume(code);
      return escaped;
    }
    enter();
    effects.consume(code);
    return inside;
  }

  function escaped(code: Code): State | undefined {
    if (code === end) {
      if (value.trim() === '' || !IS_FORMULA.test(value)) return nok(code);
      effects.consume(code);
      effects.exit('mathTextMarker');
      effects.exit('mathText');
      return ok;
    }
    effects.exit('mathTextMarker').type = 'mathTextValue';
    value += '\\';
    if (code === null || isLineEnding(code)) return inside(code);
    enter();
    effects.consume(code);
    return inside;
  }

  function enter(): void {
    if (!isOpen) effects.enter('mathTextValue');
    isOpen = true;
  }

  function leave(): void {
    if (isOpen) value += slice(effects.exit('mathTextValue'));
    isOpen = false;
  }
}
