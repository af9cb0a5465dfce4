import { importSibling } from '../../../lazy-modules.ts';
import type * as Properties from './properties.ts';

export type PropertiesModule = typeof Properties;

let loaded: PropertiesModule | undefined;

export const FRONT_MATTER_START = /^---[ \t]*\n/;

/** Returns the module that reads and changes front matter, or undefined before it has loaded. */
export function propertiesModule(): PropertiesModule | undefined {
  return loaded;
}

/** Loads the module. Throws TypeError if it cannot be loaded; front matter is then shown as source. */
export async function loadProperties(): Promise<void> {
  loaded ??= (await importSibling('properties.js')) as PropertiesModule;
}
