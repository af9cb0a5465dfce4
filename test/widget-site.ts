import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { PACKAGE } from '../src/platform/core/package/package-files.ts';
import { cleanUp } from './clean-up.ts';
import { signedInClient } from './signed-in.ts';
import type { Owner, World } from './world.ts';

/**
 * Runs the unchanged example of the documentation in a process of its own: a site at another origin, with its own
 * content security policy, that shows the widgets of a new workspace.
 */
export async function openWidgetSite(world: World, email: string): Promise<{ owner: Owner; origin: string }> {
  const owner = await world.owner(email);
  const { tokens } = await signedInClient(world, owner.user_id);
  const server = fileURLToPath(new URL('docs/examples/widgets/server.js', PACKAGE));
  const env = {
    ...process.env,
    IBID_URL: world.address,
    IBID_WORKSPACE: owner.workspace_id,
    IBID_TOKEN: tokens.access_token,
    PORT: '0',
  };
  const site = spawn(process.execPath, [server], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  cleanUp(() => site.kill());
  const [origin] = await once(createInterface(site.stdout), 'line');
  await owner.patch(`/v1/workspaces/${owner.workspace_id}/widget-origins`, { widget_origins: [origin] });
  return { owner, origin: String(origin) };
}
