import type { JobServices } from '../src/platform/jobs/define-job.ts';

/** Services of jobs in which `before` ends before a file is compiled, which is told its name; what it throws the compiling throws. */
export function beforeCompiling(before: (filename: string) => Promise<unknown>) {
  return (services: JobServices): JobServices => ({
    ...services,
    sandbox: {
      ...services.sandbox,
      async compileOrSplit(file, ...rest) {
        await before(file.filename);
        return services.sandbox.compileOrSplit(file, ...rest);
      },
    },
  });
}

/** What jobs use beside the database; the rest of JobServices are values and the log. */
const OUTSIDE = ['blobs', 'mail', 'payments', 'sandbox', 'reader'] as const;

/**
 * Services of jobs whose answers are held back until `hold` has ended, which is told the name of each call (`blobs.stream`).
 * What answers at once, as a list does, is not held back.
 */
export function heldServices(services: JobServices, hold: (name: string) => Promise<void>): JobServices {
  const held = OUTSIDE.map((name) => [name, heldObject(services[name], `${name}.`, hold)]);
  return { ...services, ...Object.fromEntries(held) };
}

function heldObject<T extends object>(target: T, prefix: string, hold: (name: string) => Promise<void>): T {
  return new Proxy(target, {
    get(from, property) {
      const value: unknown = Reflect.get(from, property);
      const name = prefix + String(property);
      if (typeof value === 'object' && value !== null) return heldObject(value, `${name}.`, hold);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]) => {
        const answer: unknown = value.apply(from, args);
        if (!(answer instanceof Promise)) return answer;
        // Its failure is thrown where it is waited for.
        answer.catch(() => undefined);
        return hold(name).then(async () => {
          const given: unknown = await answer;
          // A file that was received is made durable by calls of its own.
          return name === 'blobs.receive' ? heldObject(given as object, `${name}.`, hold) : given;
        });
      };
    },
  });
}
