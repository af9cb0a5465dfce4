import type { JobServices } from '../src/platform/jobs/define-job.ts';

/**
 * Returns job services that await `before(filename)` before they compile a file. An error of `before` fails the
 * compilation.
 */
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

/** Services of jobs outside the database. The rest of JobServices are values and the log. */
const OUTSIDE = ['blobs', 'mail', 'payments', 'sandbox', 'reader'] as const;

/**
 * Returns job services that hold back each answer until the promise of `hold` resolves; `hold` gets the name of the call
 * (`blobs.stream`). Synchronous answers are not held back.
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
        // A rejection is handled below, after `hold`; until then it must not count as unhandled.
        answer.catch(() => undefined);
        return hold(name).then(async () => {
          const given: unknown = await answer;
          // A received file has calls of its own that make it durable.
          return name === 'blobs.receive' ? heldObject(given as object, `${name}.`, hold) : given;
        });
      };
    },
  });
}
