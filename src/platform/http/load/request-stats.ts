import type { Endpoint } from '../endpoint.ts';
import { budgetOf } from '../handler/budget.ts';
import { tagOf } from '../openapi/tags.ts';

/** What was spent on requests of a group of endpoints and a kind. */
interface RequestSpending {
  /** The group of the API's description, such as pages. */
  group: string;
  /** read and write have a budget of time; a stream goes on as long as it gets on: uploads, downloads, events. */
  kind: 'read' | 'write' | 'stream';
  /** The number of answers by the first digit of their status. */
  answers: Record<string, number>;
  /** From the first byte of the request to the last one of its answer. */
  seconds: number;
}

/** Counts requests; bounded by the number of groups. */
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
