import { Inject, Injectable } from '@nestjs/common';
import { normalizeIp } from '@nestjs/throttler';
import { Clock } from '@svc/kernel';
import { LRUCache } from 'lru-cache';

/** A decline counts for this time. */
export const DECLINE_WINDOW_MS = 10 * 60_000;
/** More declines do not change a challenge. */
const MAX_DECLINES_OF_ADDRESS = 16;
/** Limit of the addresses in memory. The address without a decline for the longest time is removed first. */
const MAX_ADDRESSES = 10_000;

/**
 * Counts the declined payments of a payer's address in this process, within a sliding window. For IPv6 all addresses of
 * a /64 network count as one. The count only changes the work of a challenge, so it need not be exact: a replica does
 * not know the declines of the others, and a restart forgets them.
 */
@Injectable()
export class RecentDeclines {
  /** The times of the latest declines in milliseconds, ascending, by network. */
  private readonly timesByNetwork: LRUCache<string, readonly number[]>;

  constructor(@Inject(Clock) private readonly clock: Clock) {
    this.timesByNetwork = new LRUCache({ max: MAX_ADDRESSES });
  }

  add(ip: string): void {
    const network = normalizeIp(ip);
    const times = [...this.findTimes(network), this.clock.now().getTime()].slice(-MAX_DECLINES_OF_ADDRESS);
    this.timesByNetwork.set(network, times);
  }

  count(ip: string): number {
    return this.findTimes(normalizeIp(ip)).length;
  }

  /** Number of addresses in memory. */
  get size(): number {
    return this.timesByNetwork.size;
  }

  private findTimes(network: string): readonly number[] {
    const windowStart = this.clock.later(-DECLINE_WINDOW_MS).getTime();
    // A look-up does not count as a use, so that opening pages keeps no address in memory.
    return (this.timesByNetwork.peek(network) ?? []).filter((time) => time > windowStart);
  }
}
