import type { Data } from 'mdast';
import type { CompileContext, Extension as FromMarkdown, Token } from 'mdast-util-from-markdown';
import type { Extension } from 'micromark-util-types';
import { BACKSLASH, DOLLAR } from './character-codes.ts';
import { mathInBackslashes } from './dialects/math-in-backslashes.ts';
import { mathBlock } from './math-block.ts';
import { mathText } from './math-in-text.ts';

/** Mathematics in TeX: `$…$` and `$$…$$` inside a paragraph, or a block between lines of `$$`. */
export interface InlineMath {
  type: 'inlineMath';
  value: string;
  /** Written between `$$`: displayed on lines of its own. */
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
    /** The current line of the mathematics that is being compiled. */
    mathLine?: number;
    /** The words after the end of the formula that is being compiled. */
    mathBehind?: Token;
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
    /** Words after the end of a formula. */
    mathFlowBehind: 'mathFlowBehind';
  }
}

export const mathSyntax: Extension = {
  text: { [DOLLAR]: mathText, [BACKSLASH]: mathInBackslashes },
  flow: { [DOLLAR]: mathBlock },
};

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
      node.display = /^(?:\$\$|\\\[)/.test(this.sliceSerialize(token));
      node.value = node.value.trim();
      // GitHub's alternative $`…`$, for text where a dollar sign alone would be ambiguous.
      if (!node.display && /^`[^`]+`$/.test(node.value)) node.value = node.value.slice(1, -1);
      delete this.data.mathLine;
      this.exit(token);
    },
    mathFlowBehind(token) {
      this.data.mathBehind = token;
    },
    mathFlow(token) {
      delete this.data.mathLine;
      this.exit(token);
      const { mathBehind } = this.data;
      if (!mathBehind) return;
      delete this.data.mathBehind;
      this.enter({ type: 'paragraph', children: [] }, mathBehind);
      this.enter({ type: 'text', value: this.sliceSerialize(mathBehind).trim() }, mathBehind);
      this.exit(mathBehind);
      this.exit(mathBehind);
    },
  },
};

/**
 * Adds a line of a value. Line endings and the block quote markers after them are not part of its tokens, so the line
 * endings are added here.
 */
function addLine(this: CompileContext, token: Token): undefined {
  const node = this.stack[this.stack.length - 1] as InlineMath | MathBlock;
  const { mathLine = token.start.line } = this.data;
  node.value += '\n'.repeat(token.start.line - mathLine) + this.sliceSerialize(token);
  this.data.mathLine = token.end.line;
}
