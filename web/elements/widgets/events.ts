import type { Method } from './api.ts';

/** Detail of the event `ibid:changed`, dispatched to the page after a change. */
export interface WidgetChange {
  widget: string;
  method: Method;
  /** Below `/v1/widgets/{widget}`, such as `/members/mem_…`. */
  path: string;
}

/**
 * Detail of the event `ibid:error`, dispatched to the page after a failure. Status 0 means that the service was
 * unreachable.
 */
export interface WidgetFailure {
  widget: string;
  status: number;
  code: string;
  message: string;
  request_id: string;
}
