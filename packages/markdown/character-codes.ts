import type { Code } from 'micromark-util-types';

/** Character codes of micromark: negative codes are its own, for tabs and line endings. */
export const DOLLAR = 36;
export const BACKSLASH = 92;

export const isLineEnding = (code: Code) => code !== null && code < -2;
export const isBlank = (code: Code) => code === -2 || code === -1 || code === 32;
export const isSpace = (code: Code) => code === null || isLineEnding(code) || isBlank(code);
export const isWordCharacter = (code: Code) => code !== null && code > 0 && /\w/.test(String.fromCharCode(code));
