import { existsSync } from 'node:fs';
import { type Browser, chromium, firefox } from 'playwright-core';
import { cleanUp } from './clean-up.ts';
import { skipUnless } from './needs.ts';

/** The path of an installed browser, which playwright-core does not bring; undefined where there is none. */
export const CHROMIUM: string | undefined = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
].find((path) => existsSync(path));
const FIREFOX: string | undefined = ['/usr/bin/firefox-esr', '/usr/bin/firefox'].find((path) => existsSync(path));

/** The option of each test that needs a real browser. */
export const skip: string | false = skipUnless(
  CHROMIUM !== undefined,
  'Install Chromium (apt-get install chromium): tests of web pages and of attacks need it at /usr/bin.',
);

/** The option of each test that needs Firefox. */
export const skipFirefox: string | false = skipUnless(
  FIREFOX !== undefined,
  'Install Firefox (apt-get install firefox-esr): the journeys in the web application run in it too, from /usr/bin.',
);

/** How long a page may take for what a test does in it: time enough for a busy machine. */
export const PAGE_TIMEOUT_MS = 120_000;

const launched = new Map<() => Promise<Browser>, Promise<Browser>>();
cleanUp(async () => {
  for (const browser of launched.values()) await (await browser).close();
});

/**
 * A real browser, until the tests of the file have ended; the same for all of them: they are apart by their contexts, and to start
 * one takes as long as a test.
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
 * Firefox as a distribution builds it, over WebDriver BiDi. It has no `page.emulateMedia` and no `tap`, drags nothing from one
 * element to another, takes no folder as a file, and an image does not come into its clipboard. What has no focus gets no
 * events of it: use one page, or bring it to the front.
 */
export async function launchFirefox(): Promise<Browser> {
  const browser = await firefox.launch({
    channel: 'moz-firefox',
    executablePath: FIREFOX ?? '',
    // Without a screen it would have no pointer either.
    firefoxUserPrefs: {
      'ui.prefersReducedMotion': 1,
      'ui.primaryPointerCapabilities': 6,
      'ui.allPointerCapabilities': 6,
    },
  });
  withoutMediaFeatures(browser);
  return browser;
}

/** playwright-core begins every context with a command that Firefox 153, the ESR, does not know yet, and fails. */
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
