import { randomUUID } from 'node:crypto';

/** A replica that answers a command, as a requester knows it. */
export interface Replica {
  readonly command: string;
  readonly id: string;
  /** Number of requests that it has not answered yet. */
  inFlight: number;
  /** Time of the first ping that it has not answered yet. */
  unansweredSince: number | undefined;
  /** Time of the first ping to it that the broker has not confirmed yet. */
  unconfirmedSince: number | undefined;
  /** Whether it answers no pings. It is used only if there is no other replica. */
  isSilent: boolean;
}

/** Protects the memory. Further replicas are ignored, unless they can replace a silent replica. */
const MAX_REPLICAS = 500;

/** The known replicas that answer one command, and the search for more of them. */
export class Replicas {
  /**
   * Correlation id of the pings. It proves that a response is from a service that may read the pings of this command,
   * because any service may send messages to the reply queue.
   */
  readonly pingId: string;
  searchedAt = -Infinity;
  search: PromiseWithResolvers<void> | undefined;
  private readonly byId = new Map<string, Replica>();
  /** Spreads the requests over replicas with equally many requests in flight. */
  private turn = 0;

  constructor(readonly command: string) {
    this.pingId = `${command} ${randomUUID()}`;
  }

  /** Call this after each sign of life. */
  markAlive(id: string): void {
    const known = this.byId.get(id);
    if (known) Object.assign(known, { unansweredSince: undefined, isSilent: false });
    else if (this.byId.size < MAX_REPLICAS || this.forgetSilent())
      this.byId.set(id, {
        command: this.command,
        id,
        inFlight: 0,
        unansweredSince: undefined,
        unconfirmedSince: undefined,
        isSilent: false,
      });
  }

  /** Forgets a replica that was lost together with the connection, so that its queue was never returned. */
  private forgetSilent(): boolean {
    const silent = [...this.byId.values()].find(({ isSilent, inFlight }) => isSilent && inFlight === 0);
    return silent !== undefined && this.byId.delete(silent.id);
  }

  /** Call this when the connection was lost. The replicas count as silent until they answer on the new connection. */
  markAllSilent(): void {
    this.searchedAt = -Infinity;
    for (const replica of this.byId.values())
      Object.assign(replica, { isSilent: true, unansweredSince: undefined, unconfirmedSince: undefined });
  }

  remove(id: string): void {
    this.byId.delete(id);
  }

  /** The replica for the next request: one that answers, with the fewest requests in flight. */
  choose(): Replica | undefined {
    const all = [...this.byId.values()];
    const first = this.turn++ % Math.max(1, all.length);
    return [...all.slice(first), ...all.slice(0, first)].reduce<Replica | undefined>(
      (best, next) => (best && rank(best) <= rank(next) ? best : next),
      undefined,
    );
  }

  endSearch(): void {
    this.search?.resolve();
    this.search = undefined;
  }
}

function rank({ isSilent, inFlight }: Replica): number {
  return isSilent ? Infinity : inFlight;
}

/** The command of a ping, from its correlation id. */
export const commandOfPing = (pingId: string): string => pingId.split(' ', 1)[0]!;
