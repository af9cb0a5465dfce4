/** A tree of calls: how much each function took by itself, in microseconds or bytes. */
export interface Call {
  name: string;
  /** The address of the script, "" for what is part of Node.js or V8. */
  url: string;
  /** From 0. */
  line: number;
  self: number;
  children: Call[];
}

/** A process of Node.js that was started with `--inspect`, over the Chrome DevTools protocol. */
export interface Inspected {
  /** What `work` spends CPU time on, and the profile as DevTools open it. */
  cpu(work: () => Promise<void>): Promise<{ calls: Call; profile: CpuProfile }>;
  /** What `work` allocates, including what is garbage at its end. */
  allocations(work: () => Promise<void>): Promise<Call>;
  close(): void;
}

interface CallFrame {
  functionName: string;
  url: string;
  lineNumber: number;
}

interface CpuProfile {
  nodes: { id: number; callFrame: CallFrame; children?: number[] }[];
  samples: number[];
  timeDeltas: number[];
}

interface AllocationNode {
  callFrame: CallFrame;
  selfSize: number;
  children: AllocationNode[];
}

const CPU_INTERVAL_US = 200;
const ALLOCATION_INTERVAL_BYTES = 16_384;

/** Connects to the inspector on a port of this machine. Errors: Error for a command that it refuses. */
export async function inspect(port: number): Promise<Inspected> {
  const [target] = (await (await fetch(`http://127.0.0.1:${port}/json/list`)).json()) as {
    webSocketDebuggerUrl: string;
  }[];
  const socket = new WebSocket(target?.webSocketDebuggerUrl ?? '');
  await new Promise((resolve, reject) => {
    socket.onopen = resolve;
    socket.onerror = () => reject(new Error(`the inspector on port ${port} does not answer`));
  });
  const waiting = new Map<number, PromiseWithResolvers<any>>();
  socket.onmessage = ({ data }) => {
    const { id, result, error } = JSON.parse(String(data));
    if (error) waiting.get(id)?.reject(new Error(`the inspector refuses: ${error.message}`));
    else waiting.get(id)?.resolve(result);
    waiting.delete(id);
  };
  let id = 0;
  const ask = (method: string, params: object = {}) => {
    const answer = Promise.withResolvers<any>();
    waiting.set((id += 1), answer);
    socket.send(JSON.stringify({ id, method, params }));
    return answer.promise;
  };
  return {
    async cpu(work) {
      await ask('Profiler.enable');
      await ask('Profiler.setSamplingInterval', { interval: CPU_INTERVAL_US });
      await ask('Profiler.start');
      await work();
      const { profile }: { profile: CpuProfile } = await ask('Profiler.stop');
      return { calls: callsOfSamples(profile), profile };
    },
    async allocations(work) {
      await ask('HeapProfiler.startSampling', {
        samplingInterval: ALLOCATION_INTERVAL_BYTES,
        includeObjectsCollectedByMajorGC: true,
        includeObjectsCollectedByMinorGC: true,
      });
      await work();
      const { profile } = await ask('HeapProfiler.stopSampling');
      return callsOfAllocations(profile.head);
    },
    close: () => socket.close(),
  };
}

function callsOfSamples({ nodes, samples, timeDeltas }: CpuProfile): Call {
  const calls = new Map(nodes.map(({ id, callFrame }) => [id, callOf(callFrame, 0)]));
  for (const { id, children = [] } of nodes) {
    calls.get(id)?.children.push(...children.flatMap((child) => calls.get(child) ?? []));
  }
  for (const [i, id] of samples.entries()) {
    const call = calls.get(id);
    if (call) call.self += timeDeltas[i] ?? 0;
  }
  const root = calls.get(nodes[0]?.id ?? 0);
  if (!root) throw new Error('the profile is empty: measure longer');
  // A process that waits spends nothing.
  root.children = root.children.filter(({ name }) => name !== '(idle)');
  return root;
}

function callsOfAllocations({ callFrame, selfSize, children }: AllocationNode): Call {
  return { ...callOf(callFrame, selfSize), children: children.map(callsOfAllocations) };
}

function callOf({ functionName, url, lineNumber }: CallFrame, self: number): Call {
  return { name: functionName || '(anonymous)', url, line: lineNumber, self, children: [] };
}
