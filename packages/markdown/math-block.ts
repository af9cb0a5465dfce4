import type { Code, Construct, Effects, State, TokenizeContext } from 'micromark-util-types';
import { DOLLAR, isBlank, isLineEnding } from './character-codes.ts';

/**
 * A line of `$$` and the lines up to the next `$$`, which words may follow. An unclosed formula is text: it would
 * swallow the rest of the page.
 */
export const mathBlock: Construct = { name: 'mathFlow', tokenize: tokenizeMathFlow, concrete: true };

const nextLine: Construct = { tokenize: tokenizeNextLine, partial: true };
const fence: Construct = { tokenize: tokenizeFence, partial: true };
const ending: Construct = { tokenize: tokenizeEnding, partial: true };

function tokenizeMathFlow(this: TokenizeContext, effects: Effects, ok: State, nok: State): State {
  const { interrupt } = this;
  return start;

  function start(code: Code): State | undefined {
    effects.enter('mathFlow');
    return effects.attempt(fence, opened, nok)(code);
  }

  function opened(code: Code): State | undefined {
    return interrupt ? ok(code) : lineEnd(code);
  }

  function lineEnd(code: Code): State | undefined {
    return effects.attempt(nextLine, lineStart, end)(code);
  }

  function lineStart(code: Code): State | undefined {
    return effects.attempt(ending, end, content)(code);
  }

  function content(code: Code): State | undefined {
    if (code === null || isLineEnding(code)) return lineEnd(code);
    effects.enter('mathFlowValue');
    return value(code);
  }

  function value(code: Code): State | undefined {
    if (code === null || isLineEnding(code)) {
      effects.exit('mathFlowValue');
      return lineEnd(code);
    }
    effects.consume(code);
    return value;
  }

  function end(code: Code): State | undefined {
    effects.exit('mathFlow');
    return ok(code);
  }
}

/** A line ending, if the next line is in the same container and not lazy. */
function tokenizeNextLine(this: TokenizeContext, effects: Effects, ok: State, nok: State): State {
  return (code) => {
    if (code === null) return nok(code);
    effects.enter('lineEnding');
    effects.consume(code);
    effects.exit('lineEnding');
    return (next) => (this.parser.lazy[this.now().line] ? nok(next) : ok(next));
  };
}

/** `$$` alone on its line. */
function tokenizeFence(effects: Effects, ok: State, nok: State): State {
  return tokenizeMarks(effects, ok, nok, false);
}

/** `$$`, optionally followed by words. */
function tokenizeEnding(effects: Effects, ok: State, nok: State): State {
  return tokenizeMarks(effects, ok, nok, true);
}

function tokenizeMarks(effects: Effects, ok: State, nok: State, mayHaveWords: boolean): State {
  let size = 0;
  return (code) => {
    effects.enter('mathFlowFence');
    return before(code);
  };

  function before(code: Code): State | undefined {
    if (isBlank(code)) {
      effects.consume(code);
      return before;
    }
    return marker(code);
  }

  function marker(code: Code): State | undefined {
    if (code === DOLLAR) {
      effects.consume(code);
      size += 1;
      return marker;
    }
    return size === 2 ? after(code) : nok(code);
  }

  function after(code: Code): State | undefined {
    if (isBlank(code)) {
      effects.consume(code);
      return after;
    }
    const isEnd = code === null || isLineEnding(code);
    if (!isEnd && !mayHaveWords) return nok(code);
    effects.exit('mathFlowFence');
    if (isEnd) return ok(code);
    effects.enter('mathFlowBehind');
    return words(code);
  }

  function words(code: Code): State | undefined {
    if (code === DOLLAR) return nok(code);
    if (code === null || isLineEnding(code)) {
      effects.exit('mathFlowBehind');
      return ok(code);
    }
    effects.consume(code);
    return words;
  }
}
