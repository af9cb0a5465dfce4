/** Lets work in a process run concurrently or exclusively. */
export interface SharedProcess {
  /**
   * Waits until the work may start. Returns a function to be called once when it has ended; undefined if `signal` is
   * aborted first. Work starts in order of arrival: exclusive work waits for running work, and later work waits for it.
   */
  enter(isAlone: boolean, signal: AbortSignal): Promise<(() => void) | undefined>;
}

interface Waiter {
  isAlone: boolean;
  start(): void;
}

export function openSharedProcess(): SharedProcess {
  const waiting: Waiter[] = [];
  let running = 0;
  let hasAlone = false;

  const mayStart = (isAlone: boolean) => !hasAlone && (!isAlone || running === 0);

  function begin(isAlone: boolean): () => void {
    running += 1;
    hasAlone = isAlone;
    return () => {
      running -= 1;
      hasAlone = false;
      startNext();
    };
  }

  function startNext(): void {
    for (let next = waiting[0]; next && mayStart(next.isAlone); next = waiting[0]) {
      waiting.shift();
      next.start();
    }
  }

  return {
    async enter(isAlone, signal) {
      if (signal.aborted) return undefined;
      if (waiting.length === 0 && mayStart(isAlone)) return begin(isAlone);
      return new Promise((resolve) => {
        const leave = () => {
          waiting.splice(waiting.indexOf(waiter), 1);
          resolve(undefined);
          // The next work may be able to start without this waiter.
          startNext();
        };
        const waiter: Waiter = {
          isAlone,
          start() {
            signal.removeEventListener('abort', leave);
            resolve(begin(isAlone));
          },
        };
        signal.addEventListener('abort', leave, { once: true });
        waiting.push(waiter);
      });
    },
  };
}
