import type { Method, Reply } from './api.ts';
import type { MessageKey } from './messages/messages.ts';
import type { Translation } from './translate.ts';

/** What a section of a widget gets from the element that it is in. */
export interface Host {
  t(key: MessageKey, values?: Record<string, string | number>): string;
  translation(): Translation | undefined;
  /** The address of the service. */
  service(): string;
  call<T>(method: Method, path: string, body?: unknown): Promise<T>;
  /** The same with where a list goes on. */
  send<T>(method: Method, path: string, body?: unknown): Promise<Reply<T>>;
  act(method: Method, path: string, body?: unknown, done?: MessageKey): Promise<unknown>;
  ask(text: string, action: string, confirmed: () => Promise<unknown>): void;
  fail(error: unknown): void;
  update(): void;
}
