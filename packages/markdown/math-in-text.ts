import type { Code, Construct, Effects, State, TokenizeContext } from 'micromark-util-types';
import { BACKSLASH, DOLLAR, isLineEnding, isSpace, isWordCharacter } from './character-codes.ts';

/**
 * A single dollar sign opens mathematics only if it is not preceded by a word or followed by a space. It closes
 * mathematics only if it is not preceded by a space or followed by a word. So `$5 and $10` are prices (the rule of
 * Pandoc and GitHub).
 */
export const mathText: Construct = {
  name: 'mathText',
  tokenize: tokenizeMathText,
  previous: mayFollow,
};

function mayFollow(previous: Code): boolean {
  return previous !== DOLLAR && !isWordCharacter(previous);
}

/**
 * The offsets after which a text has no closing sequence, so that a text of opening sequences is not scanned again for
 * each.
 */
const unclosed = new WeakMap<TokenizeContext, Set<number>>();

function tokenizeMathText(this: TokenizeContext, effects: Effects, ok: State, nok: State): State {
  const failed = unclosed.get(this) ?? new Set<number>();
  unclosed.set(this, failed);
  const { previous } = this;
  let size = 0;
  let seen = 0;
  let before: Code = null;
  let isInValue = false;
  return start;

  function start(code: Code): State | undefined {
    if (!mayFollow(previous)) return nok(code);
    effects.enter('mathText');
    effects.enter('mathTextMarker');
    return opening(code);
  }

  function opening(code: Code): State | undefined {
    if (code === DOLLAR && size < 3) {
      effects.consume(code);
      size += 1;
      return opening;
    }
    if (size > 2 || failed.has(size) || (size === 1 && isSpace(code))) return nok(code);
    effects.exit('mathTextMarker');
    return inside(code);
  }

  function inside(code: Code): State | undefined {
    if (code === null) {
      failed.add(size);
      return nok(code);
    }
    if (code === DOLLAR) return marker(code);
    if (isLineEnding(code)) {
      leaveValue();
      effects.enter('lineEnding');
      effects.consume(code);
      effects.exit('lineEnding');
      before = code;
      return inside;
    }
    enterValue();
    effects.consume(code);
    const isEscape = code === BACKSLASH && before !== BACKSLASH;
    before = code === BACKSLASH && !isEscape ? null : code;
    return isEscape ? escaped : inside;
  }

  function escaped(code: Code): State | undefined {
    if (code !== DOLLAR) return inside(code);
    effects.consume(code);
    before = code;
    return inside;
  }

  function marker(code: Code): State | undefined {
    leaveValue();
    effects.enter('mathTextMarker');
    seen = 0;
    return closing(code);
  }

  function closing(code: Code): State | undefined {
    if (code === DOLLAR) {
      effects.consume(code);
      seen += 1;
      return closing;
    }
    const token = effects.exit('mathTextMarker');
    if (seen === size && (size === 2 || (!isSpace(before) && !isWordCharacter(code)))) {
      effects.exit('mathText');
      return ok(code);
    }
    // Another single dollar sign inside makes both literal: `$5 to $10, or $x$`.
    if (size === 1) return nok(code);
    token.type = 'mathTextValue';
    before = DOLLAR;
    return inside(code);
  }

  function enterValue(): void {
    if (!isInValue) effects.enter('mathTextValue');
    isInValue = true;
  }

  function leaveValue(): void {
    if (isInValue) effects.exit('mathTextValue');
    isInValue = false;
  }
}
