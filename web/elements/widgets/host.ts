import type { Method, Reply } from './api.ts';
import type { MessageKey } from './messages/messages.ts';
import type { Translation } from './translate.ts';

/** The interface of a widget for its sections. */
export interface Host {
  t(key: MessageKey, values?: Record<string, string | number>): string;
  translation(): Translation | undefined;
  service(): string;
  call<T>(method: Method, path: string, body?: unknown): Promise<T>;
  /** Like `call`, and also returns the query of the next page of a list. */
  send<T>(method: Method, path: string, body?: unknown): Promise<Reply<T>>;
  act(method: Method, path: string, body?: unknown, done?: MessageKey): Promise<unknown>;
  ask(text: string, action: string, confirmed: () => Promise<unknown>): void;
  fail(error: unknown): void;
  update(): void;
}
