/**
 * The content of the payment page. It is decided before rendering: views decide nothing and know no session.
 * Each state has its own type, so a receipt without a reference or a form without a key does not compile.
 */
import type { LanguageTag } from '../languages/languages.js';

/** payment-processor's public key for card data (P8). Only its public members are written into the page. */
export interface EncryptionKey {
  kty: string;
  crv: string;
  x: string;
  y: string;
  kid: string;
}

/** The order, which every page of a session or invoice shows. */
export interface OrderDetails {
  sessionId: string;
  /** Base path for the calls of the script, on this origin. */
  callsPath: string;
  /** Grows with every change of the session, so that the script also notices changes within one state. */
  sessionVersion?: number | string | undefined;
  merchantName: string;
  siteName?: string | undefined;
  /** Absent if a till's invoice has none. */
  merchantOrderId?: string | undefined;
  /** An invoice of a till: there is no store to return to, and several people may try to pay it. */
  isAtTill?: boolean;
  /** Integer cents. */
  amountCents: number;
  currencyISOCode: string;
  /** The merchant's description of the order, in the merchant's sequence. */
  customFields: readonly { key: string; value: string }[];
  /** Line items of a till's invoice, with line totals in integer cents; negative for a return. */
  lines?: readonly { label: string; quantity: number; amountCents: number }[];
  /**
   * `cancelUrl` with the parameters of H6; `returnUrl` once paid. Absent on a device that scanned the code: the shop is open
   * on another device.
   */
  backToStoreUrl?: string;
  /** Charges that were refunded because they came too late or twice: the page shows them to the payer. */
  reversedCharges?: readonly ReversedCharge[];
  /** Test mode: no money moves, and the page shows this. */
  isTest?: boolean;
  /** BCP 47 locale of the session, used until the payer chooses a language. */
  locale?: string | undefined;
}

/** Card and time of a charge. */
export interface ChargeDetails {
  /** Masked: `**** 4242`. Absent if it was not a card payment. */
  cardLabel?: string;
  /** ISO 8601 UTC. */
  at: string;
}

/** A charge that was refunded; `at` is the time of the refund. */
export interface ReversedCharge extends ChargeDetails {
  /** Integer cents. */
  amountCents: number;
  currencyISOCode: string;
}

/** Options that the merchant offers to the payer of an invoice. */
export interface PaymentChoice {
  /** Minimum amount in integer cents; undefined if the amount cannot be changed. */
  amountMinCents: number | undefined;
  hasTip: boolean;
}

/** The card form: before the first attempt (`open`) or after a failed one (`declined`). */
export interface PayablePage extends OrderDetails {
  state: 'open' | 'declined';
  /** Number of the next attempt, from 1. */
  try: number;
  /** Including the next attempt. */
  triesLeft: number;
  /** ISO 8601 UTC; expiry of the session, and of the card data encrypted for it. */
  expiresAt: string;
  /** The payer can extend the session in its last minutes. */
  canExtend?: boolean | undefined;
  encryptionKey: EncryptionKey;
  /** ISO 8601 UTC; time of rendering. The script corrects a wrong device clock with it. */
  renderedAt: string;
  /** Reason of the last failure (P4); with `declined`. */
  decline?: DeclineDetails | undefined;
  /** Only of an invoice. */
  choice?: PaymentChoice;
  /** Text of the QR code beside the form: a URL (D5). Absent on a device that scanned it. */
  code?: string;
}

export interface DeclineDetails {
  errorReference: string;
  message: string;
  /** For the payer's questions to the store or support. */
  paymentReference?: string;
}

/** A payment is in progress; the script polls until it is final. No link leads away, because the bank may still approve it. */
export interface ProcessingPage extends Omit<OrderDetails, 'backToStoreUrl'> {
  state: 'processing';
  /** The payment takes longer than usual. */
  isLate: boolean;
}

/**
 * The payer has to confirm the payment on the bank's page. Nothing is charged before, and the payer may use another card instead.
 * The form for another card has a link to the store. This page has none, because the payer may just have confirmed the payment,
 * so money may already have moved.
 */
export interface VerificationPage extends Omit<OrderDetails, 'backToStoreUrl'> {
  state: 'verification';
  /** The bank's own page. */
  verificationUrl: string;
  /** ISO 8601 UTC. */
  until: string;
  /** Relative URL of this page with the form for another card. Absent if no other card can be used. */
  anotherCardUrl?: string;
  /** The payment to confirm. */
  charge: ChargeDetails;
}

/** `succeeded` redirects to the merchant automatically; `already-paid`, when the page is opened later, does not. */
export interface PaidPage extends OrderDetails {
  state: 'succeeded' | 'already-paid';
  /** Absent if another payer paid the invoice: then the page shows nothing of that payment. */
  paymentReference?: string;
  /** Present together with the reference. */
  charge?: ChargeDetails;
  /** `returnUrl` with the parameters of H6. Absent on a device that scanned the code. */
  returnUrl?: string;
}

/** The session or invoice can no longer be paid. */
export interface ClosedPage extends OrderDetails {
  state: 'refused' | 'expired' | 'cancelled';
}

/** The static code of a till without an open invoice; the page checks again automatically. */
export interface TillPage {
  state: 'till';
  merchantName: string;
}

/** Unknown session or code. */
export interface NotFoundPage {
  state: 'not-found';
  /** A code was scanned: the page then suggests other steps than after a link. */
  isScanned?: boolean;
}

/** The state of the session is not available now. The page reloads automatically. */
export interface UnavailablePage {
  state: 'unavailable';
}

export type SessionPage = PayablePage | ProcessingPage | VerificationPage | PaidPage | ClosedPage;
export type PayPageModel = SessionPage | TillPage | NotFoundPage | UnavailablePage;

/** `manifest.json` of the page's build: script and style are inlined in each page, so that a phone on a slow network sends one request. */
export interface PageManifest {
  /** One for each language, with its messages. */
  scripts: Readonly<Record<LanguageTag, PageAsset>>;
  style: PageAsset;
}

export interface PageAsset {
  content: string;
  /** Hash for the page's content security policy: `sha384-…`. */
  integrity: string;
}

/** A page is a sequence of these: text rendered for it, and parts that all pages share. */
export type PagePiece = string | PageAsset;
