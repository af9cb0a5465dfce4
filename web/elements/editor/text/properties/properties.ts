/** What reads and changes front matter: with a parser of YAML, it is loaded where a text has some. */
export { addItem, addProperty, removeItem, removeProperty, setValue } from './change-properties.ts';
export { readProperties } from './read-properties.ts';
