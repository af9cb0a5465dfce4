import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Api, openApi } from './api.ts';
import { makeKeyFor, type ServiceProcess, startServiceProcess } from './service-process.ts';

/** A new service in its own folder, and its only user. */
export interface Bench {
  dataDir: string;
  service: ServiceProcess;
  /** The API with a key of the user. */
  api: Api;
  /** The first wiki of the user's workspace. */
  wiki_id: string;
  newWiki(): Promise<string>;
  /** Stops the service and removes the folder. */
  stop(): Promise<void>;
}

export async function startBench(more: Record<string, string> = {}): Promise<Bench> {
  const folder = await mkdtemp(join(tmpdir(), 'ibid-bench-'));
  const dataDir = join(folder, 'data');
  let service: ServiceProcess | undefined;
  const stop = async () => {
    await service?.stop();
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    service = await startServiceProcess(dataDir, [], more);
    const api = openApi(service.address, await makeKeyFor(dataDir, 'bench@example.com'));
    const { workspace, overview } = await api.post('/v1/onboarding');
    const newWiki = async () =>
      (await api.post(`/v1/workspaces/${workspace.workspace_id}/wikis`, { title: 'Bench' })).wiki_id;
    return { dataDir, service, api, wiki_id: overview.wikis[0].wiki_id, newWiki, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
