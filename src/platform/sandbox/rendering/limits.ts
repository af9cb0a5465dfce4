import { rateLimited } from '../../core/errors.ts';

/** The request that a page is rendered for. */
export interface Requester {
  kind: 'save' | 'preview';
  workspace_id: string;
  user_id: string;
}

interface Share {
  /** Requests that wait or run. */
  requests: number;
  /** Total length of their texts in UTF-8. */
  bytes: number;
  /** CPU time that may be used at once, and the part of it that is regained per second. */
  cpuMs: number;
  cpuMsPerSecond: number;
}

/**
 * Far more than a team of editors uses: a page of 4 KB takes 5 ms, a page of 100 KB 150 ms. Saves may use twice as much
 * as previews, so that previews never block a save.
 */
export const RENDERING_SHARES: Record<'workspace' | 'person' | 'service', Share> = {
  workspace: { requests: 300, bytes: 16 * 2 ** 20, cpuMs: 60_000, cpuMsPerSecond: 750 },
  person: { requests: 150, bytes: 8 * 2 ** 20, cpuMs: 30_000, cpuMsPerSecond: 400 },
  service: { requests: 2_000, bytes: 128 * 2 ** 20, cpuMs: Number.POSITIVE_INFINITY, cpuMsPerSecond: 0 },
};

const SAVES_MAY_USE = 2;

/** The Retry-After of a full queue. */
const FULL_SECONDS = 1;

/** Current use of one workspace, of one person or of the service. */
interface Use {
  requests: number;
  bytes: number;
  /** Used CPU time that had not been regained at the time `at` (in milliseconds). */
  cpuMs: number;
  at: number;
}

interface Entry {
  /** Throws 429 if other requests have used up the CPU time since this one entered. */
  assertTimeLeft(): void;
  /** Must be called exactly once, with the CPU time that the request used. */
  leave(usedMs: number): void;
}

export interface RenderingLimits {
  /**
   * Counts a request with a text of this many bytes. Throws 429 with the seconds to wait if the workspace, the person
   * or the service has too many requests or bytes pending, or has used up its CPU time.
   */
  enter(requester: Requester, bytes: number): Entry;
  /** Number of workspaces and people in memory. */
  size(): number;
}

/** Counts in this process only. Idle workspaces and people are forgotten. */
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

/** Returns the seconds until CPU time is available; 0 if it is available now. */
function secondsOfCpuTime(share: Share, use: Use, factor: number): number {
  const excessMs = use.cpuMs - factor * share.cpuMs;
  return excessMs > 0 ? Math.max(1, Math.ceil(excessMs / share.cpuMsPerSecond)) : 0;
}

/** A single request always has room, regardless of the length of its text. */
function isFull(share: Share, use: Use, bytes: number, factor: number): boolean {
  if (use.requests === 0) return false;
  return use.requests >= factor * share.requests || use.bytes + bytes > factor * share.bytes;
}
