import type { Mode } from '@svc/contracts';

/** The payments that a person may see: of one merchant in one mode, at all sites or at some. */
export interface PaymentScope {
  readonly merchantId: number;
  readonly mode: Mode;
  readonly sites: 'all' | readonly number[];
}
