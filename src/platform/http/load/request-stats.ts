import type { Endpoint } from '../endpoint.ts';
import { budgetOf } from '../handler/budget.ts';
import { tagOf } from '../openapi/tags.ts';

/** Statistics of the requests to a group of endpoints, by kind. */
interface RequestSpending {
  /** The tag of the endpoints in the API description, such as pages. */
  group: string;
  /** read and write have a time budget; a stream (upload, download, events) may take as long as it makes progress. */
  kind: 'read' | 'write' | 'stream';
  /** Number of responses by the first digit of the status. */
  answers: Record<string, number>;
  /** Total time from the first byte of a request to the last byte of its response. */
  seconds: number;
}

/** Counts requests; its size is bounded by the number of groups. */
export interface RequestStats {
  add(endpoint: Endpoint, status: number, ms: number): void;
  spending(): Iterable<Readonly<RequestSpending>>;
}

export function openRequestStats(): RequestStats {
  const byEndpoint = new Map<Endpoint, RequestSpending>();
  const byName = new Map<string, RequestSpending>();

  function spendingOf(endpoint: Endpoint): RequestSpending {
    const group = tagOf(endpoint);
    const kind = budgetOf(endpoint) === undefined ? 'stream' : endpoint.method === 'GET' ? 'read' : 'write';
    const name = `${group} ${kind}`;
    const spending = byName.get(name) ?? { group, kind, answers: {}, seconds: 0 };
    byName.set(name, spending);
    byEndpoint.set(endpoint, spending);
    return spending;
  }

  return {
    add(endpoint, status, ms) {
      const spending = byEndpoint.get(endpoint) ?? spendingOf(endpoint);
      const answer = `${Math.floor(status / 100)}xx`;
      spending.answers[answer] = (spending.answers[answer] ?? 0) + 1;
      spending.seconds += ms / 1_000;
    },
    spending: () => byName.values(),
  };
}
