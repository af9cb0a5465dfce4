/** What a path may show of its parameters: ids of this service, and numbers. */
const HARMLESS = /^(?:[a-z]{2,12}_[0-9a-z]{26}|\d{1,10})$/;

/**
 * The path of a call as the log keeps it: the route with the ids that were given. Anything else that a client wrote into the
 * path, such as the path of a page, is left as the name of its parameter, and the query is left out.
 */
export function loggedPath(route: string, params: Readonly<Record<string, unknown>>): string {
  return route.replace(/[:*]([a-z_]+)/g, (_, name: string) => {
    const value = params[name];
    return typeof value === 'string' && HARMLESS.test(value) ? value : `{${name}}`;
  });
}
