import { PATHS_MAX, type ReadOrder } from './read-order.ts';

/** `.order` of a wiki of Azure DevOps: a line for each page beside it, by its file name without the extension. */
export function nameList(text: string): ReadOrder {
  const names = text.split('\n', PATHS_MAX).map((line) => line.trim());
  // A name with a slash is in another folder, where the file says nothing.
  const paths = names.filter((name) => name !== '' && !/[/\\]/.test(name));
  return paths.length > 0 ? { paths } : 'broken';
}
