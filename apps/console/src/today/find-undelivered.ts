import { Inject, Injectable } from '@nestjs/common';
import { CountUndeliveredV1, sitesWithRight, type UndeliveredCount } from '@svc/contracts';
import { DomainError } from '@svc/kernel';
import { Commands } from '@svc/messaging';
import type { MerchantViewer } from '../viewer/viewer.js';

/** Days of payments whose webhooks are counted. */
export const UNDELIVERED_DAYS = 7;
const DAY_MS = 86_400_000;
/** The page of today does not wait longer for another service. */
const TIMEOUT_MS = 2_000;

/** Counts the webhooks that were given up, of all sites whose deliveries the person may see. webhook-dispatcher owns them. */
@Injectable()
export class FindUndelivered {
  constructor(@Inject(Commands) private readonly commands: Commands) {}

  /** @returns nothing while webhook-dispatcher does not respond: the page has more than this */
  async execute({ session, merchant, mode }: MerchantViewer, now: Date): Promise<readonly UndeliveredCount[]> {
    const { merchantId, sites } = merchant;
    const readable = sitesWithRight(session.roles, 'deliveries.read', merchantId);
    const siteIds = readable === 'all' ? sites.map(({ siteId }) => siteId) : readable;
    if (siteIds.length === 0) return [];
    const from = new Date(now.getTime() - UNDELIVERED_DAYS * DAY_MS).toISOString();
    try {
      const request = { merchantId, mode, siteIds, from };
      return (await this.commands.request(CountUndeliveredV1, request, TIMEOUT_MS)).counts;
    } catch (error) {
      if (error instanceof DomainError && error.entry.httpStatus >= 500) return [];
      throw error;
    }
  }
}
