import type { Services } from '../src/http/services.ts';

/** Looked at before a request is let in; it calls nothing. */
const PLAIN = new Set(['diskIsFull']);

/** The services of an endpoint, each call of which is told by name (`blobs.parts.remove`) before it is made. */
export function observedServices(services: Services, onCall: (name: string) => void): Services {
  return observed(services, '', onCall);
}

function observed<T extends object>(target: T, prefix: string, onCall: (name: string) => void): T {
  return new Proxy(target, {
    get(from, property) {
      const value: unknown = Reflect.get(from, property);
      const name = prefix + String(property);
      if (typeof value === 'function') {
        return (...args: unknown[]) => {
          if (!PLAIN.has(name)) onCall(name);
          return value.apply(from, args);
        };
      }
      return typeof value === 'object' && value !== null && !Array.isArray(value)
        ? observed(value, `${name}.`, onCall)
        : value;
    },
  });
}
