/**
 * Everything the payment page shows, decided before it is rendered. The views take no decision and know no session:
 * what a state needs is in its type, so a receipt without a reference or a form without a key does not compile.
 */
import type { LanguageTag } from '../languages/languages.js';

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
  /** Absent where a till's invoice has none. */
  merchantOrderId?: string | undefined;
  /** An invoice of a till: there is no store to go back to, and whoever pays it may be one of several people. */
  isAtTill?: boolean;
  /** Integer cents. */
  amountCents: number;
  currencyISOCode: string;
  /** What is bought, in the merchant's order. */
  customFields: readonly { key: string; value: string }[];
  /** The same of a till's invoice: whole lines, in integer cents, less than 0 for a return. */
  lines?: readonly { label: string; quantity: number; amountCents: number }[];
  /**
   * `cancelUrl`, finished: with the parameters of H6; `returnUrl` once paid. Absent on a device that scanned the code: it is
   * not the shop's.
   */
  backToStoreUrl?: string;
  /** A charge came too late, or second, and the bank gave it back: the payer is told. */
  givenBack?: readonly GivenBack[];
  /** A session of a test key: no money moves, and the page says so. */
  isTest?: boolean;
  /** BCP 47, as the merchant gave it for the session: for a payer who has not chosen a language here. */
  locale?: string | undefined;
}

/** What was charged, to which card, and when. */
export interface ChargeShown {
  /** Masked: `**** 4242`. Absent where it was not paid with a card. */
  cardLabel?: string;
  /** ISO 8601 UTC. */
  at: string;
}

/** A charge that was given back, and when. */
export interface GivenBack extends ChargeShown {
  /** Integer cents. */
  amountCents: number;
  currencyISOCode: string;
}

/** What a merchant lets the payer of an invoice choose. */
export interface PaymentChoice {
  /** Integer cents: the least that can be paid where the amount can be changed; undefined where it cannot. */
  amountMinCents: number | undefined;
  hasTip: boolean;
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
  /** In its last minutes the payer can ask for more. */
  hasMoreTime?: boolean | undefined;
  encryptionKey: EncryptionKey;
  /** ISO 8601 UTC; when the page was made. A device whose clock is wrong counts from it. */
  madeAt: string;
  /** Why the last try failed (P4); with `declined`. */
  decline?: DeclineShown | undefined;
  /** Of an invoice. */
  choice?: PaymentChoice;
  /** Text of the code to be shown beside the form: an address (D5). Absent on a device that scanned it. */
  code?: string;
}

export interface DeclineShown {
  errorReference: string;
  message: string;
  /** For a payer who asks the store, or its support. */
  paymentReference?: string;
}

/** A payment is on its way; the script asks until it is not. Nothing leads away from it: it may be approved yet. */
export interface ProcessingPage extends Omit<OrderShown, 'backToStoreUrl'> {
  state: 'processing';
  /** It takes longer than usual. */
  isLate: boolean;
}

/**
 * The bank wants to know that it is the payer. Nothing is charged before, and nobody is kept from paying otherwise: the form
 * for another card leads back to the store. This page never does, because the payer may just have confirmed: whether money can have
 * moved already is not asked, so that nothing depends on the answer.
 */
export interface VerificationPage extends Omit<OrderShown, 'backToStoreUrl'> {
  state: 'verification';
  /** The bank's own page. */
  verificationUrl: string;
  /** ISO 8601 UTC. */
  until: string;
  /** This page, asked for its form; relative to its own address. Absent where no other card can be used instead. */
  anotherCardUrl?: string;
  /** The payment that the bank asks about. */
  charge: ChargeShown;
}

/** `succeeded` goes back to the merchant by itself; `already-paid`, opened again later, does not. */
export interface PaidPage extends OrderShown {
  state: 'succeeded' | 'already-paid';
  /** Absent where somebody else has paid the invoice: then nothing of that payment is shown. */
  paymentReference?: string;
  /** With the reference. */
  charge?: ChargeShown;
  /** `returnUrl`, finished: with the parameters of H6. Absent on a device that scanned the code. */
  returnUrl?: string;
}

/** Nothing can be paid any more. */
export interface ClosedPage extends OrderShown {
  state: 'refused' | 'expired' | 'cancelled';
}

/** The static code of a till that has nothing to pay; the page looks again by itself. */
export interface TillPage {
  state: 'till';
  merchantName: string;
}

/** No such session: nothing is known, and nothing is told. */
export interface NotFoundPage {
  state: 'not-found';
  /** A code was scanned: the payer can do something else with it than one who followed a link. */
  isScanned?: boolean;
}

/** Nobody can say now what the state of the session is. The page asks again by itself. */
export interface UnavailablePage {
  state: 'unavailable';
}

export type SessionPage = PayablePage | ProcessingPage | VerificationPage | PaidPage | ClosedPage;
export type PayPageModel = SessionPage | TillPage | NotFoundPage | UnavailablePage;

/** `manifest.json` of the page's build: what is part of each page, so that a phone on a slow network asks once. */
export interface PageParts {
  /** One for each language, with its messages. */
  scripts: Readonly<Record<LanguageTag, PagePart>>;
  style: PagePart;
}

export interface PagePart {
  content: string;
  /** The hash by which the page's policy allows it: `sha384-…`. */
  integrity: string;
}

/** A page, in order: what was rendered for it, and the parts that other pages have, too. */
export type PagePiece = string | PagePart;
