import { PATHS_MAX, type ReadOrder } from './read-order.ts';

/**
 * Reads the `.order` of an Azure DevOps wiki: a line for each page in the same folder, with its file name without the
 * extension.
 */
export function nameList(text: string): ReadOrder {
  const names = text.split('\n', PATHS_MAX).map((line) => line.trim());
  // A name with a slash is in another folder, to which the file does not apply.
  const paths = names.filter((name) => name !== '' && !/[/\\]/.test(name));
  return paths.length > 0 ? { paths } : 'broken';
}
