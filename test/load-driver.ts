import { until } from './until.ts';
import type { Answer } from './world.ts';

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
  /** Sends each probe once now, in addition to the steady rate. */
  sendAll(): void;
  /** Waits until `missing` returns an empty list. */
  until(what: string, missing: () => string[]): Promise<void>;
  /** Stops sending and waits for the answers of requests in progress. */
  stop(): Promise<void>;
}

/** Limits the requests in progress on a machine too slow for this rate. */
const IN_FLIGHT_MAX = 64;

/** Sends the probes in rotation at this total rate per second, without waiting for answers. */
export function startTraffic(probes: readonly Probe[], perSecond: number): Traffic {
  const sent: Sent[] = [];
  const inFlight = new Set<Promise<void>>();
  let failure: unknown;
  const began = performance.now();
  let dueCount = 0;
  let sentCount = 0;

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
    const removed = done.then(() => void inFlight.delete(removed));
    inFlight.add(removed);
  }

  const timer = setInterval(() => {
    const due = ((performance.now() - began) / 1000) * perSecond;
    for (; dueCount < due; dueCount += 1) {
      if (inFlight.size < IN_FLIGHT_MAX) send(probes[sentCount++ % probes.length] as Probe);
    }
  }, 1000 / perSecond);

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
      await Promise.all(inFlight);
      if (failure) throw failure;
    },
  };
}
