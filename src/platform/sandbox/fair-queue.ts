/** What waits, for an owner (a workspace): owners share what there is, and do not wait behind each other's work. */
export interface Queued {
  owner: string;
  /** Within one owner a lower number goes first; equal ones go in their order. */
  rank: number;
  /** Work of one context is cheaper in succession. */
  context: string;
}

interface Owner<T> {
  waiting: T[];
  running: number;
  /** The CPU time that its work has used, in milliseconds, since the queue last had nothing of it. */
  usedMs: number;
}

export interface FairQueue<T extends Queued> {
  add(entry: T): void;
  /** Whether it was still waiting. */
  remove(entry: T): boolean;
  /**
   * The next entry to run: of the owner who has used the least CPU time among those with less than `perOwner` entries
   * running; the one served longest ago if several have. `preferred`: an entry of this owner and context goes first.
   */
  take(preferred?: Pick<Queued, 'owner' | 'context'>): T | undefined;
  /** Must be called for each taken entry, with the CPU time that it used. */
  done(owner: string, usedMs: number): void;
  /** Removes and returns all that waits. */
  clear(): T[];
  readonly length: number;
}

/** A queue that is fair by owner in CPU time. Without I/O and clock; costs are linear in the number of owners. */
export function openFairQueue<T extends Queued>(perOwner: number): FairQueue<T> {
  /** Only owners with something waiting or running, the one served longest ago first. */
  const owners = new Map<string, Owner<T>>();
  let length = 0;

  /** A new owner starts level with the one who has used least: being idle earns no priority. */
  function ownerOf(name: string): Owner<T> {
    const known = owners.get(name);
    if (known) return known;
    const used = [...owners.values()].map(({ usedMs }) => usedMs);
    const owner = { waiting: [], running: 0, usedMs: used.length === 0 ? 0 : Math.min(...used) };
    owners.set(name, owner);
    return owner;
  }

  function dropIfIdle(name: string, owner: Owner<T>): void {
    if (owner.running === 0 && owner.waiting.length === 0) owners.delete(name);
  }

  const mayRun = (owner: Owner<T> | undefined) =>
    owner !== undefined && owner.waiting.length > 0 && owner.running < perOwner;

  function nextOwner(): string | undefined {
    let least: string | undefined;
    let usedMs = Number.POSITIVE_INFINITY;
    for (const [name, owner] of owners) {
      if (!mayRun(owner) || owner.usedMs >= usedMs) continue;
      least = name;
      usedMs = owner.usedMs;
    }
    return least;
  }

  return {
    get length() {
      return length;
    },
    add(entry) {
      const { waiting } = ownerOf(entry.owner);
      let at = waiting.length;
      while (at > 0 && (waiting[at - 1] as T).rank > entry.rank) at -= 1;
      waiting.splice(at, 0, entry);
      length += 1;
    },
    remove(entry) {
      const owner = owners.get(entry.owner);
      const at = owner?.waiting.indexOf(entry) ?? -1;
      if (!owner || at < 0) return false;
      owner.waiting.splice(at, 1);
      length -= 1;
      dropIfIdle(entry.owner, owner);
      return true;
    },
    take(preferred) {
      const same = preferred && owners.get(preferred.owner);
      const at = same && mayRun(same) ? same.waiting.findIndex(({ context }) => context === preferred.context) : -1;
      const name = at >= 0 ? preferred?.owner : nextOwner();
      const owner = name === undefined ? undefined : owners.get(name);
      const [entry] = owner?.waiting.splice(Math.max(at, 0), 1) ?? [];
      if (name === undefined || !owner || !entry) return undefined;
      owner.running += 1;
      length -= 1;
      owners.delete(name);
      owners.set(name, owner);
      return entry;
    },
    done(name, usedMs) {
      const owner = owners.get(name);
      if (!owner) return;
      owner.running -= 1;
      owner.usedMs += usedMs;
      dropIfIdle(name, owner);
    },
    clear() {
      const all = [...owners.values()].flatMap(({ waiting }) => waiting.splice(0));
      length = 0;
      return all;
    },
  };
}
