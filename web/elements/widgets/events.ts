import type { Method } from './api.ts';

/** What the page is told after a change (`ibid:changed`). */
export interface WidgetChange {
  widget: string;
  method: Method;
  /** Below `/v1/widgets/{widget}`, such as `/members/mem_…`. */
  path: string;
}

/** What the page is told of a failure (`ibid:error`); status 0: the service could not be reached. */
export interface WidgetFailure {
  widget: string;
  status: number;
  code: string;
  message: string;
  request_id: string;
}
