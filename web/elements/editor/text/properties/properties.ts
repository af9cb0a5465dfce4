/** Reads and changes front matter. Includes a YAML parser, so it loads only if a text has front matter. */
export { addItem, addProperty, removeItem, removeProperty, setValue } from './change-properties.ts';
export { readProperties } from './read-properties.ts';
