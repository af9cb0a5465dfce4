import type { en } from './en.ts';

export type MessageKey = keyof typeof en;
/** A catalogue of messages; values of `{name}` are filled in. */
export type Messages = Record<MessageKey, string>;
