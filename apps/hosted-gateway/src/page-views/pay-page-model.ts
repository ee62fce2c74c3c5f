/**
 * The models from which the views render the payment page. decide-page.ts creates them. Each state has its own type, so
 * that a receipt without a reference, or a form without a key, does not compile.
 */
import type { LanguageTag } from '../languages/languages.js';
import type { PageAsset } from '../page-assets.js';
import type { OrderBasket } from './basket/order-basket.js';
import type { PageLook } from './merchant-look/page-look.js';
import type { ReceiptMailForm } from './receipt-mail/receipt-mail-form.js';

/** The public key of payment-processor for card data (P8). Contains only the public members. */
interface EncryptionKey {
  kty: string;
  crv: string;
  x: string;
  y: string;
  kid: string;
}

/** The order. Every page of a session or invoice shows it. */
export interface OrderDetails {
  sessionId: string;
  /** Base path for the calls of the script, on this origin. */
  callsPath: string;
  /** Grows with every change of the session, so that the script also notices changes within one state. */
  sessionVersion?: number | string | undefined;
  merchantName: string;
  siteName?: string | undefined;
  /** Absent if the till sent no reference with its invoice. */
  merchantOrderId?: string | undefined;
  /**
   * Present for an invoice: the page has no link to a store, and several people may try to pay. `request`: a person of the
   * merchant sent the link to the payer.
   */
  invoiceOrigin?: 'till' | 'request';
  /** Integer cents. */
  amountCents: number;
  currencyISOCode: string;
  /** The merchant's description of the order, in the merchant's sequence. */
  customFields: readonly { key: string; value: string }[];
  /** The basket of a session or of a till's invoice. Absent if the merchant sent no line items. */
  basket?: OrderBasket;
  /**
   * URL of the link back to the store: `cancelUrl`, or `returnUrl` after a success, with parameters that identify the
   * order and the payment (H6). Absent on a device that scanned the code, because the shop is open on another device.
   */
  backToStoreUrl?: string;
  /** Charges that were refunded because they succeeded too late or twice. */
  reversedCharges?: readonly ReversedCharge[];
  /** True in test mode: the page shows that no money moves. */
  isTest?: boolean;
  /** BCP 47 locale of the session, used until the payer chooses a language. */
  locale?: string | undefined;
  /** Absent if the merchant has the look of the platform. */
  look?: PageLook | undefined;
}

/** Card and time of a charge. */
export interface ChargeDetails {
  /** Masked card number: `**** 4242`. Absent if the payment was not made by card. */
  cardLabel?: string;
  /** ISO 8601 UTC. */
  at: string;
  /** IANA name of the merchant's time zone at that time, in which the page shows it (M7). */
  timeZone: string;
}

/** A charge that was refunded; `at` is the time of the refund. */
export interface ReversedCharge extends ChargeDetails {
  /** Integer cents. */
  amountCents: number;
  currencyISOCode: string;
}

/** Options that the merchant offers to the payer of an invoice. */
export interface PaymentChoice {
  /** Limits of the amount in integer cents; undefined if the amount cannot be changed. */
  amountCents: { min: number; max: number } | undefined;
  /** Maximum of the tip in integer cents; undefined if the merchant takes no tips. */
  tipMaxCents: number | undefined;
}

/** The card form: before the first payment (`open`) or after a failed payment (`declined`). */
export interface PayablePage extends OrderDetails {
  state: 'open' | 'declined';
  /** Number of the next payment, from 1. */
  paymentNumber: number;
  /**
   * Number of payments left, including the next one. Undefined for an invoice, whose payments other payers may use at
   * the same time.
   */
  paymentsLeft: number | undefined;
  /** Expiry of the session, and of the card data that the page encrypts (ISO 8601 UTC). */
  expiresAt: string;
  /** IANA name of the merchant's time zone at the expiry. */
  timeZone: string;
  /** The payer can extend the session in its last minutes. */
  canExtend?: boolean | undefined;
  encryptionKey: EncryptionKey;
  /** Time of rendering (ISO 8601 UTC). The script uses it to correct a wrong device clock. */
  renderedAt: string;
  /** Reason of the last failure (P4). Present in state `declined`, if known. */
  decline?: DeclineDetails | undefined;
  /** Present only for an invoice. */
  choice?: PaymentChoice;
  /** The challenge that the browser must solve before the page shows the form. Absent if the site is not under attack. */
  challenge?: string;
  /** URL that the QR code beside the form contains (D5). Absent on a device that scanned the code. */
  code?: string;
  /** True for a page of an invented order, which has no script: the person only looks at it. */
  isPreview?: boolean;
}

export interface DeclineDetails {
  errorReference: string;
  message: string;
  /** The payer gives this reference in questions to the store or to support. */
  paymentReference?: string;
}

/**
 * A payment is in progress. The script polls until it is final. The page has no link to the store, because the bank may
 * still approve the payment.
 */
export interface ProcessingPage extends Omit<OrderDetails, 'backToStoreUrl'> {
  state: 'processing';
  /** True if the payment takes longer than usual. */
  isLate: boolean;
}

/**
 * The payer must confirm the payment on the bank's page, or may use another card. Nothing is charged before the
 * confirmation. The page has no link to the store, because the payer may have confirmed the payment a moment ago. The
 * form for another card has this link.
 */
export interface VerificationPage extends Omit<OrderDetails, 'backToStoreUrl'> {
  state: 'verification';
  /** URL of the bank's page. */
  verificationUrl: string;
  /** Time until which the payer can confirm (ISO 8601 UTC). */
  until: string;
  /** IANA name of the merchant's time zone at that time. */
  untilTimeZone: string;
  /** Relative URL of this page with the form for another card. Absent if no other card can be used. */
  anotherCardUrl?: string;
  /** The payment to confirm. */
  charge: ChargeDetails;
}

/**
 * The receipt. In state `succeeded` the script redirects to the merchant. A page opened later is `already-paid` and
 * does not redirect.
 */
export interface PaidPage extends OrderDetails {
  state: 'succeeded' | 'already-paid';
  /** Absent if another payer paid the invoice, because the page must not show details of that payment. */
  paymentReference?: string;
  /** Present if the reference is present. */
  charge?: ChargeDetails;
  /** `returnUrl` with the same parameters as `backToStoreUrl`. Absent on a device that scanned the code. */
  returnUrl?: string;
  /** Present if the payer can send the receipt by e-mail. */
  receiptMail?: ReceiptMailForm;
}

/**
 * The session or invoice cannot be paid any more. `paused`: the invoice cannot be paid for some minutes with the static
 * code of its till, and the page reloads automatically.
 */
export interface ClosedPage extends OrderDetails {
  state: 'refused' | 'paused' | 'expired' | 'cancelled';
}

/** The page for the static code of a till that has no open invoice. It reloads automatically. */
export interface TillPage {
  state: 'till';
  merchantName: string;
  look?: PageLook | undefined;
}

/** Unknown session or code. */
export interface NotFoundPage {
  state: 'not-found';
  /** True if the payer scanned a code. The page suggests other steps to this payer than to a payer with a link. */
  isScanned?: boolean;
}

/** The gateway cannot read the state of the session. The page reloads automatically. */
interface UnavailablePage {
  state: 'unavailable';
}

export type SessionPage = PayablePage | ProcessingPage | VerificationPage | PaidPage | ClosedPage;
export type PayPageModel = SessionPage | TillPage | NotFoundPage | UnavailablePage;

/**
 * `manifest.json` of the page's build. Script and style are inlined in each page, so that the browser needs only one
 * request.
 */
export interface PageManifest {
  /** One script for each language, because a script contains the messages. */
  scripts: Readonly<Record<LanguageTag, PageAsset>>;
  style: PageAsset;
}

/** A part of a page that many pages share. */
export interface SharedPiece {
  readonly content: string;
}

/** A part of a page: text of this page, or a piece that many pages share. */
export type PagePiece = string | SharedPiece;
