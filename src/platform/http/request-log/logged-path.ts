/** Parameter values that the log may contain: IDs of this service, and numbers. */
const HARMLESS = /^(?:[a-z]{2,12}_[0-9a-z]{26}|\d{1,10})$/;

/**
 * Returns the path of a call for the log: the route with the given IDs. Other client input in the path, such as the
 * path of a page, is replaced with the name of its parameter. The query is omitted.
 */
export function loggedPath(route: string, params: Readonly<Record<string, unknown>>): string {
  return route.replace(/[:*]([a-z_]+)/g, (_, name: string) => {
    const value = params[name];
    return typeof value === 'string' && HARMLESS.test(value) ? value : `{${name}}`;
  });
}
