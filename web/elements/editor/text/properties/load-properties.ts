import { importSibling } from '../../../lazy-modules.ts';
import type * as Properties from './properties.ts';

export type PropertiesModule = typeof Properties;

let loaded: PropertiesModule | undefined;

/** How front matter begins. */
export const FRONT_MATTER_START = /^---[ \t]*\n/;

/** What reads and changes front matter, where it has been loaded. */
export function propertiesModule(): PropertiesModule | undefined {
  return loaded;
}

/** Loads it. Errors: TypeError where it cannot be loaded; front matter is then shown as it is written. */
export async function loadProperties(): Promise<void> {
  loaded ??= (await importSibling('properties.js')) as PropertiesModule;
}
