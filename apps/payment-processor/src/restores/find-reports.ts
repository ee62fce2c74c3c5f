import { Inject, Injectable } from '@nestjs/common';
import { ListReportedPaymentsV1, ListRetrievalV1, MAX_REPORTED_PAYMENTS, type ReportedPayment } from '@svc/contracts';
import { Commands } from '@svc/messaging';
import type { ForgottenMovement } from './forgotten-charges/forgotten-movement.js';

const RESPONSE_TIMEOUT_MS = 20_000;
/** A payment is charged within this time of its acceptance: a verification lasts a quarter of an hour. */
const SEARCH_MS = 3_600_000;
/** `status` of a successful payment for merchants. */
const SUCCEEDED = 1;

/** Asks other services which of the forgotten payments they have received as successes before the restore. */
@Injectable()
export class FindReports {
  constructor(@Inject(Commands) private readonly commands: Commands) {}

  /** The copies of payments on pages, by payment reference. */
  async findOfPages(paymentReferences: readonly string[]): Promise<ReadonlyMap<string, ReportedPayment>> {
    const reports = new Map<string, ReportedPayment>();
    for (let first = 0; first < paymentReferences.length; first += MAX_REPORTED_PAYMENTS) {
      const request = { paymentReferences: paymentReferences.slice(first, first + MAX_REPORTED_PAYMENTS) };
      const { payments } = await this.commands.request(ListReportedPaymentsV1, request, RESPONSE_TIMEOUT_MS);
      for (const payment of payments) reports.set(payment.paymentReference, payment);
    }
    return reports;
  }

  /**
   * Whether the merchant can read the payment as a success, of a page or of a partner. The rows of the book are ordered by
   * reference, so the page after the first characters of the reference begins with its row.
   */
  async isReportedToMerchant({ line, route, merchantId }: ForgottenMovement): Promise<boolean> {
    const movedAt = new Date(line.movedUTCDate).getTime();
    const range = {
      from: new Date(movedAt - SEARCH_MS).toISOString(),
      until: new Date(movedAt + SEARCH_MS).toISOString(),
    };
    const owner = { merchantId, mode: route.account.mode };
    const after = line.paymentReference.slice(0, -1);
    const request = { book: 'retrieval', ...range, ...owner, after };
    const { lines } = await this.commands.request(ListRetrievalV1, request, RESPONSE_TIMEOUT_MS);
    return lines.some(({ key, line: fields }) => key === line.paymentReference && fields?.['status'] === SUCCEEDED);
  }
}
