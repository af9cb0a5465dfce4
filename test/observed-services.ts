import type { Services } from '../src/platform/http/services.ts';

/** Checked before a request is accepted; it does not count as a call. */
const PLAIN = new Set(['diskIsFull']);

/** Wraps the services of an endpoint: reports the name of each call (`blobs.parts.remove`) before the call runs. */
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
