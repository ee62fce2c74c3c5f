import type { ApiRequest } from '../main-api.js';
import type { Invoice, Partner, TwoPartners } from '../two-partners.js';

/**
 * The credentials that an endpoint requires. `partner`: a key and a token of the same organisation and mode. `partner
 * key`: a partner's key; the token is ignored. `merchant key`: a merchant's key; the token is ignored. `none`: no
 * credentials.
 */
export type RequiredCredentials = 'partner' | 'partner key' | 'merchant key' | 'none';

/** A payment, with the reference of its invoice and the request that created it, except the customer and the card. */
export interface TestPayment {
  readonly paymentReference: string;
  readonly externalReference: string;
  readonly request: { readonly invoiceReference: string };
}

/** The objects that exist before the test calls the endpoints. */
export interface TestData {
  readonly partners: TwoPartners;
  readonly payments: ReadonlyMap<Partner, TestPayment>;
  readonly invoices: Readonly<Record<'test' | 'live', Invoice>>;
  readonly cards: ReadonlyMap<Partner, string>;
}

export interface PermissionRow {
  /** Method and path as the controller declares them. */
  readonly endpoint: string;
  /** Description of the object that is requested. */
  readonly object: string;
  readonly requires: RequiredCredentials;
  /**
   * The expected status for each column, separated by blanks. `404/21` means 404 with the errorReference 21
   * instead of 40. `200:2` means 200 with a list of two payments.
   */
  readonly statuses: string;
  /** The expected status for all other callers. */
  readonly statusForOthers: '401' | '200' | '404';
  /**
   * Creates the request of a caller. For an authorised caller it may first create an object that the request changes.
   * `caller` is undefined for an unauthorised caller.
   */
  readonly newRequest: (data: TestData, caller: string | undefined) => ApiRequest | Promise<ApiRequest>;
}

export type NewRequest = PermissionRow['newRequest'];
