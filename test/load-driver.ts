import { until } from './until.ts';
import type { Answer } from './world.ts';

/** A request that is sent repeatedly, to one process with one credential. */
export interface Probe {
  name: string;
  send(): Promise<Answer>;
}

/** A sent request and its result. `began` and `ended` are times of performance.now(). */
export interface Sent {
  probe: Probe;
  began: number;
  ended: number;
  status: number;
}

export interface Traffic {
  sent: Sent[];
  /** Sends each of the probes now, in addition to the steady rate. */
  sendAll(): void;
  /** Waits until nothing of what is waited for is missing in what was answered. */
  until(what: string, missing: () => string[]): Promise<void>;
  /** Sends no more, and waits for the answers that are on their way. */
  stop(): Promise<void>;
}

/** Limits the requests in progress on a machine that cannot answer at this rate. */
const UNDER_WAY_MAX = 64;

/** Sends the probes in turn at this total rate per second, without waiting for answers. */
export function startTraffic(probes: readonly Probe[], per_second: number): Traffic {
  const sent: Sent[] = [];
  const under_way = new Set<Promise<void>>();
  let failure: unknown;
  const began = performance.now();
  let due_count = 0;
  let sent_count = 0;

  function send(probe: Probe): void {
    const begin = performance.now();
    const done: Promise<void> = probe.send().then(
      ({ status }) => {
        sent.push({ probe, began: begin, ended: performance.now(), status });
      },
      (error: unknown) => {
        failure ??= error;
      },
    );
    const removed = done.then(() => void under_way.delete(removed));
    under_way.add(removed);
  }

  const timer = setInterval(() => {
    const due = ((performance.now() - began) / 1000) * per_second;
    for (; due_count < due; due_count += 1) {
      if (under_way.size < UNDER_WAY_MAX) send(probes[sent_count++ % probes.length] as Probe);
    }
  }, 1000 / per_second);

  return {
    sent,
    sendAll: () => probes.forEach(send),
    async until(what, missing) {
      const look = () => {
        if (failure) throw failure;
        return missing();
      };
      await until(what, look, (names) => names.length === 0);
    },
    async stop() {
      clearInterval(timer);
      await Promise.all(under_way);
      if (failure) throw failure;
    },
  };
}
