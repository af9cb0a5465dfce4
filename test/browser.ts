import { existsSync } from 'node:fs';

/** Where browsers are installed; playwright-core brings none. undefined where there is none. */
export const CHROMIUM: string | undefined = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
].find((path) => existsSync(path));
