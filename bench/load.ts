import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Round } from './http-load.ts';
import type { LoadAnswer, LoadOrder } from './load.process.ts';

/** The process that generates the load, separate from the service and from the measuring process. */
export interface Load {
  pid: number;
  order(order: LoadOrder): Promise<Round | undefined>;
  close(): void;
}

export function startLoad(): Load {
  const child = fork(fileURLToPath(new URL('./load.process.ts', import.meta.url)), { serialization: 'advanced' });
  const gone = once(child, 'exit').then(() => Promise.reject(new Error('the load process ended: see what it wrote')));
  // `close` ends the process too, usually with no order waiting: without this the rejection would be unhandled.
  gone.catch(() => undefined);
  return {
    pid: child.pid ?? 0,
    async order(order) {
      const answered = once(child, 'message');
      child.send(order);
      const [answer] = (await Promise.race([answered, gone])) as [LoadAnswer];
      if (!answer.ok) throw new Error(answer.message);
      return answer.round;
    },
    close: () => child.kill(),
  };
}
