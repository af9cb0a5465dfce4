import type { Browser, BrowserContext, BrowserContextOptions } from 'playwright-core';
import { launchBrowser, PAGE_TIMEOUT_MS } from './browser.ts';
import { signedInClient } from './signed-in.ts';
import type { World } from './world.ts';

/** Opens a browser context signed in as this user. The browser closes after the tests of the file. */
export async function openBrowserFor(
  world: World,
  user_id: string,
  options: BrowserContextOptions = {},
): Promise<BrowserContext> {
  const context = await openContext(await launchBrowser(), options);
  const { body } = await (await signedInClient(world, user_id)).post('/v1/auth/browser');
  await context.addCookies([{ name: 'ibid', value: body.browser_secret, url: world.address }]);
  return context;
}

/** Opens a context whose timeouts suit a busy machine, with animations turned off. */
export async function openContext(browser: Browser, options: BrowserContextOptions = {}): Promise<BrowserContext> {
  const context = await browser.newContext({ reducedMotion: 'reduce', ...options });
  context.setDefaultTimeout(PAGE_TIMEOUT_MS);
  return context;
}
