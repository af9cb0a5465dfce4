import { after } from 'node:test';
import { type BrowserContext, chromium } from 'playwright-core';
import { CHROMIUM } from './browser.ts';
import { signedInClient } from './signed-in.ts';
import type { World } from './world.ts';

/** A real browser in which somebody is signed in, until the tests of the file have ended. */
export async function openBrowserOf(world: World, user_id: string): Promise<BrowserContext> {
  const browser = await chromium.launch({ executablePath: CHROMIUM ?? '', args: ['--no-sandbox'] });
  after(() => browser.close());
  const context = await browser.newContext({ reducedMotion: 'reduce' });
  context.setDefaultTimeout(20_000);
  const { body } = await (await signedInClient(world, user_id)).post('/v1/auth/browser');
  await context.addCookies([{ name: 'ibid', value: body.browser_secret, url: world.address }]);
  return context;
}
