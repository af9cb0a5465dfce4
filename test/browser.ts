import { existsSync } from 'node:fs';
import { type Browser, chromium, firefox } from 'playwright-core';
import { cleanUp } from './clean-up.ts';
import { skipUnless } from './needs.ts';

/** The path of an installed Chromium, which playwright-core does not ship; undefined if none is installed. */
export const CHROMIUM: string | undefined = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
].find((path) => existsSync(path));
const FIREFOX: string | undefined = ['/usr/bin/firefox-esr', '/usr/bin/firefox'].find((path) => existsSync(path));

export const skip: string | false = skipUnless(
  CHROMIUM !== undefined,
  'Install Chromium (apt-get install chromium): tests of web pages and of attacks need it at /usr/bin.',
);

export const skipFirefox: string | false = skipUnless(
  FIREFOX !== undefined,
  'Install Firefox (apt-get install firefox-esr): the journeys in the web application run in it too, from /usr/bin.',
);

/** Timeout of actions in a page, long enough for a busy machine. */
export const PAGE_TIMEOUT_MS = 120_000;

const launched = new Map<() => Promise<Browser>, Promise<Browser>>();
cleanUp(async () => {
  for (const browser of launched.values()) await (await browser).close();
});

/**
 * Returns a browser that stays open until the tests of the file have ended. All tests of the file share it: contexts
 * isolate them, and starting a browser takes as long as a test.
 */
export function launchBrowser(launch: () => Promise<Browser> = launchChromium): Promise<Browser> {
  const browser = launched.get(launch) ?? launch();
  launched.set(launch, browser);
  return browser;
}

function launchChromium(): Promise<Browser> {
  return chromium.launch({ executablePath: CHROMIUM ?? '', args: ['--no-sandbox', '--disable-gpu'] });
}

/**
 * Launches the distribution's build of Firefox over WebDriver BiDi. It lacks `page.emulateMedia`, `tap`, drag and drop
 * between elements, uploads of folders, and images in the clipboard. Elements of an unfocused page get no focus events:
 * use one page, or bring it to the front.
 */
export async function launchFirefox(): Promise<Browser> {
  const browser = await firefox.launch({
    channel: 'moz-firefox',
    executablePath: FIREFOX ?? '',
    // Without a screen, Firefox would otherwise report no pointer.
    firefoxUserPrefs: {
      'ui.prefersReducedMotion': 1,
      'ui.primaryPointerCapabilities': 6,
      'ui.allPointerCapabilities': 6,
    },
  });
  withoutMediaFeatures(browser);
  return browser;
}

/**
 * Ignores a command that playwright-core sends first in every context: Firefox 153, the ESR, does not know it, and the
 * context would fail.
 */
function withoutMediaFeatures(browser: Browser): void {
  const { _connection } = browser as unknown as {
    _connection: {
      toImpl(it: Browser): { _browserSession: { send(method: string, params: object): Promise<object> } };
    };
  };
  const session = _connection.toImpl(browser)._browserSession;
  const send = session.send.bind(session);
  session.send = async (method, params) =>
    method === 'emulation.setMediaFeaturesOverride' ? {} : send(method, params);
}
