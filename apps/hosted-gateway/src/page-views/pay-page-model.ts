/**
 * Everything the payment page shows, decided before it is rendered. The views take no decision and know no session:
 * what a state needs is in its type, so a receipt without a reference or a form without a key does not compile.
 */

/** The processor's public key for card data (P8). Public members only are ever written into the page. */
export interface EncryptionKey {
  kty: string;
  crv: string;
  x: string;
  y: string;
  kid: string;
}

/** What every page about a session shows. */
export interface OrderShown {
  sessionId: string;
  /** Where the calls of the script begin, on this origin. */
  callsPath: string;
  /** Changes with every change of the session; lets the script notice one that keeps the state's name. */
  sessionVersion?: number | string | undefined;
  merchantName: string;
  siteName?: string | undefined;
  merchantOrderId: string;
  /** Integer cents. */
  amountCents: number;
  currencyISOCode: string;
  /** What is bought, in the merchant's order. */
  customFields: readonly { key: string; value: string }[];
  /**
   * `cancelUrl`, finished: with the parameters of H6; `returnUrl` once paid. Absent on a device that scanned the code: it is
   * not the shop's.
   */
  backToStoreUrl?: string;
  /** A charge came too late, or second, and the bank gave it back: the payer is told. */
  hasGivenBack?: boolean;
  /** BCP 47, from the payer's browser; formats amounts and dates. An unusable one is ignored. */
  locale: string;
}

/** The card form: before the first try (`open`) or after one that failed (`declined`). */
export interface PayablePage extends OrderShown {
  state: 'open' | 'declined';
  /** Number of the coming try, from 1. */
  try: number;
  /** The coming one included. */
  triesLeft: number;
  /** ISO 8601 UTC; when the session ends, and with it the card data encrypted for it. */
  expiresAt: string;
  encryptionKey: EncryptionKey;
  /** Why the last try failed (P4); with `declined`. */
  decline?: { errorReference: string; message: string } | undefined;
  /** Text of the code to be shown beside the form: an address (D5). Absent on a device that scanned it. */
  code?: string;
}

/** A payment is on its way; the script asks until it is not. Nothing leads away from it: it may be approved yet. */
export interface ProcessingPage extends Omit<OrderShown, 'backToStoreUrl'> {
  state: 'processing';
  /** It takes longer than usual. */
  isLate: boolean;
}

/** The bank wants to know that it is the payer. Nothing is charged before, and nobody is kept from paying otherwise. */
export interface VerificationPage extends OrderShown {
  state: 'verification';
  /** The bank's own page. */
  verificationUrl: string;
  /** ISO 8601 UTC. */
  until: string;
  /** This page, asked for its form; relative to its own address. Absent where no other card can be used instead. */
  anotherCardUrl?: string;
}

/** `succeeded` goes back to the merchant by itself; `already-paid`, opened again later, does not. */
export interface PaidPage extends OrderShown {
  state: 'succeeded' | 'already-paid';
  paymentReference: string;
  /** ISO 8601 UTC. */
  paidAt: string;
  /** `returnUrl`, finished: with the parameters of H6. Absent on a device that scanned the code. */
  returnUrl?: string;
}

/** Nothing can be paid any more. */
export interface ClosedPage extends OrderShown {
  state: 'refused' | 'expired' | 'cancelled';
}

/** The code of a till that a camera opened. It is paid with an app that has scanned it, not here. */
export interface TillPage {
  state: 'till';
  merchantName: string;
  /** Integer cents; null where the till's code is asked at the moment of paying what it stands for. */
  amountCents: number | null;
  /** With the amount. */
  currencyISOCode: string | null;
  /** BCP 47. */
  locale: string;
}

/** No such session: nothing is known, and nothing is told. */
export interface NotFoundPage {
  state: 'not-found';
  /** A code was scanned: the payer can do something else with it than one who followed a link. */
  isScanned?: boolean;
}

export type SessionPage = PayablePage | ProcessingPage | VerificationPage | PaidPage | ClosedPage;
export type PayPageModel = SessionPage | TillPage | NotFoundPage;

/** `manifest.json` of the page's build; the files are served under `/pay/assets/`. */
export interface PageAssets {
  script: { file: string; integrity: string };
  style: { file: string; integrity: string };
}
