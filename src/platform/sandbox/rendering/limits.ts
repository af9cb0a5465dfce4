import { rateLimited } from '../../core/errors.ts';

/** Who asks for a page to be rendered and waits for it. */
export interface Requester {
  kind: 'save' | 'preview';
  workspace_id: string;
  user_id: string;
}

interface Share {
  /** Requests that wait or run. */
  requests: number;
  /** The UTF-8 length of their texts. */
  bytes: number;
  /** CPU time that may be used at once, and how much of it comes back in a second. */
  cpuMs: number;
  cpuMsPerSecond: number;
}

/**
 * Far more than a team that edits uses: a page of 4 KB takes 5 ms, one of 100 KB takes 150 ms. Saves may use twice as
 * much as previews, so that previews never take the place of a save.
 */
export const RENDERING_SHARES: Record<'workspace' | 'person' | 'service', Share> = {
  workspace: { requests: 300, bytes: 16 * 2 ** 20, cpuMs: 60_000, cpuMsPerSecond: 750 },
  person: { requests: 150, bytes: 8 * 2 ** 20, cpuMs: 30_000, cpuMsPerSecond: 400 },
  service: { requests: 2_000, bytes: 128 * 2 ** 20, cpuMs: Number.POSITIVE_INFINITY, cpuMsPerSecond: 0 },
};

const SAVES_MAY_USE = 2;

/** The Retry-After of a full queue. */
const FULL_SECONDS = 1;

/** What one workspace, one person or all of them use. */
interface Use {
  requests: number;
  bytes: number;
  /** CPU time that was used and has not come back yet, at the time `at` in milliseconds. */
  cpuMs: number;
  at: number;
}

/** A request that is counted. */
interface Entry {
  /** Errors: 429 if those before it have used the CPU time meanwhile. */
  assertTimeLeft(): void;
  /** Must be called once, with the CPU time that it took. */
  leave(usedMs: number): void;
}

export interface RenderingLimits {
  /**
   * Counts a request with a text of this many bytes. Errors: 429 with the seconds to wait if the workspace, the person or the
   * service has too many requests or bytes waiting, or has used its CPU time.
   */
  enter(requester: Requester, bytes: number): Entry;
  /** How many workspaces and people are remembered. */
  size(): number;
}

/** Counts in this process. What is idle again is forgotten. */
export function openRenderingLimits(
  shares = RENDERING_SHARES,
  now: () => number = () => performance.now(),
): RenderingLimits {
  const uses = new Map<string, { use: Use; share: Share }>();
  let sweepAt = 1_000;

  function useOf(name: string, share: Share): Use {
    const known = uses.get(name) ?? { use: { requests: 0, bytes: 0, cpuMs: 0, at: now() }, share };
    uses.set(name, known);
    recover(known.use, share);
    return known.use;
  }

  function recover(use: Use, share: Share): void {
    const seconds = (now() - use.at) / 1_000;
    use.cpuMs = Math.max(0, use.cpuMs - seconds * share.cpuMsPerSecond);
    use.at = now();
  }

  function sweep(): void {
    for (const [name, { use, share }] of uses) {
      recover(use, share);
      if (use.requests === 0 && use.cpuMs === 0) uses.delete(name);
    }
    sweepAt = 2 * uses.size + 1_000;
  }

  return {
    size: () => uses.size,
    enter({ kind, workspace_id, user_id }, bytes) {
      if (uses.size >= sweepAt) sweep();
      const factor = kind === 'save' ? SAVES_MAY_USE : 1;
      const counted = [
        { share: shares.person, use: useOf(`person ${user_id}`, shares.person) },
        { share: shares.workspace, use: useOf(`workspace ${workspace_id}`, shares.workspace) },
        { share: shares.service, use: useOf('service', shares.service) },
      ];
      const refuseAfter = (seconds: number) => {
        if (seconds > 0) throw rateLimited(seconds, kind === 'save' ? 'texts to save' : 'previews');
      };
      for (const { share, use } of counted) {
        refuseAfter(secondsOfCpuTime(share, use, factor));
        if (isFull(share, use, bytes, factor)) refuseAfter(FULL_SECONDS);
      }
      for (const { use } of counted) {
        use.requests += 1;
        use.bytes += bytes;
      }
      return {
        assertTimeLeft() {
          for (const { share, use } of counted) {
            recover(use, share);
            refuseAfter(secondsOfCpuTime(share, use, factor));
          }
        },
        leave(usedMs) {
          for (const { share, use } of counted) {
            use.requests -= 1;
            use.bytes -= bytes;
            recover(use, share);
            if (share.cpuMsPerSecond > 0) use.cpuMs += usedMs;
          }
        },
      };
    },
  };
}

/** Seconds until there is CPU time again; 0 where there is. */
function secondsOfCpuTime(share: Share, use: Use, factor: number): number {
  const excessMs = use.cpuMs - factor * share.cpuMs;
  return excessMs > 0 ? Math.max(1, Math.ceil(excessMs / share.cpuMsPerSecond)) : 0;
}

/** One request always has room, however long its text is. */
function isFull(share: Share, use: Use, bytes: number, factor: number): boolean {
  if (use.requests === 0) return false;
  return use.requests >= factor * share.requests || use.bytes + bytes > factor * share.bytes;
}
