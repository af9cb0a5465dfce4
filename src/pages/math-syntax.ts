import type { Data } from 'mdast';
import type { CompileContext, Extension as FromMarkdown, Token } from 'mdast-util-from-markdown';
import type { Code, Construct, Effects, Extension, State, TokenizeContext } from 'micromark-util-types';

/** Mathematics in TeX: `$…$` and `$$…$$` inside a paragraph, or a block between lines of `$$`. */
export interface InlineMath {
  type: 'inlineMath';
  value: string;
  /** Written between `$$`: shown on lines of its own. */
  display: boolean;
  data?: Data;
}

export interface MathBlock {
  type: 'math';
  value: string;
  data?: Data;
}

declare module 'mdast' {
  interface PhrasingContentMap {
    inlineMath: InlineMath;
  }
  interface BlockContentMap {
    math: MathBlock;
  }
  interface RootContentMap {
    inlineMath: InlineMath;
    math: MathBlock;
  }
}

declare module 'mdast-util-from-markdown' {
  interface CompileData {
    /** Where the mathematics that is being read has come to. */
    mathLine?: number;
  }
}

declare module 'micromark-util-types' {
  interface TokenTypeMap {
    mathText: 'mathText';
    mathTextMarker: 'mathTextMarker';
    mathTextValue: 'mathTextValue';
    mathFlow: 'mathFlow';
    mathFlowFence: 'mathFlowFence';
    mathFlowValue: 'mathFlowValue';
  }
}

const DOLLAR = 36;
const BACKSLASH = 92;

const isLineEnding = (code: Code) => code !== null && code < -2;
const isBlank = (code: Code) => code === -2 || code === -1 || code === 32;
const isSpace = (code: Code) => code === null || isLineEnding(code) || isBlank(code);
const isWordCharacter = (code: Code) => code !== null && code > 0 && /\w/.test(String.fromCharCode(code));

/**
 * A single dollar sign opens mathematics only where no word ends and no space follows, and closes it only behind no space
 * and before no word: `$5 and $10` are prices (Pandoc's and GitHub's rule).
 */
const mathText: Construct = {
  name: 'mathText',
  tokenize: tokenizeMathText,
  previous: mayFollow,
};

function mayFollow(previous: Code): boolean {
  return previous !== DOLLAR && !isWordCharacter(previous);
}

/** From where on a text was seen to hold no closing marks, so that a text of opening ones is not read again for each. */
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
    // Another single one inside makes both of them dollar signs: `$5 to $10, or $x$`.
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

/** A line of `$$`, and what follows up to the next one; like a fence of code, it is ended by its container too. */
const mathFlow: Construct = { name: 'mathFlow', tokenize: tokenizeMathFlow, concrete: true };

const nextLine: Construct = { tokenize: tokenizeNextLine, partial: true };
const fence: Construct = { tokenize: tokenizeFence, partial: true };

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
    return effects.attempt(fence, end, content)(code);
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

/** The end of a line, if the next one is in the same container and not lazy. */
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
    if (code !== null && !isLineEnding(code)) return nok(code);
    effects.exit('mathFlowFence');
    return ok(code);
  }
}

export const mathSyntax: Extension = { text: { [DOLLAR]: mathText }, flow: { [DOLLAR]: mathFlow } };

export const mathFromMarkdown: FromMarkdown = {
  enter: {
    mathText(token) {
      this.enter({ type: 'inlineMath', value: '', display: false }, token);
    },
    mathFlow(token) {
      this.enter({ type: 'math', value: '' }, token);
    },
  },
  exit: {
    mathTextValue: addLine,
    mathFlowValue: addLine,
    mathText(token) {
      const node = this.stack[this.stack.length - 1] as InlineMath;
      node.display = this.sliceSerialize(token).startsWith('$$');
      node.value = node.value.trim();
      // $`…`$ is how GitHub has it where a dollar sign alone would be mistaken.
      if (!node.display && /^`[^`]+`$/.test(node.value)) node.value = node.value.slice(1, -1);
      delete this.data.mathLine;
      this.exit(token);
    },
    mathFlow(token) {
      delete this.data.mathLine;
      this.exit(token);
    },
  },
};

/** Line endings, and the marks of a quote behind them, are no part of a value, so they are put back here. */
function addLine(this: CompileContext, token: Token): undefined {
  const node = this.stack[this.stack.length - 1] as InlineMath | MathBlock;
  const { mathLine = token.start.line } = this.data;
  node.value += '\n'.repeat(token.start.line - mathLine) + this.sliceSerialize(token);
  this.data.mathLine = token.end.line;
}
