/** Card numbers for attacks and for regular payers. A run uses each number for one card only. */
import { type CardData, isCardNumberValid } from '@svc/sdk/card';

/** Ranges of the simulated bank (README.md, "Cards of the simulated bank"). */
const CARD_LIST_RANGE = '4999';
const CHECKED_CVV_RANGE = '4998';
export const RIGHT_CVV = '123';
/** A list is spread over this many ranges of eight digits. */
const RANGES_OF_LIST = 1_000;
/** First digits of numbers that the simulated bank always approves. */
const ISSUERS = ['42', '45', '48', '51', '53', '55'];
/** A large issuer has several ranges of eight digits. */
const RANGES_OF_ISSUER = 8;

export class CardNumbers {
  private readonly salt: string;
  private payers = 0;
  private lists = 0;

  /** @param salt 0 to 99; runs on the same platform need different values */
  constructor(salt: number) {
    this.salt = pad(salt, 2);
  }

  /** Numbers of a thief's list from many ranges. The bank declines most of them. */
  newList(count: number): string[] {
    const list = pad(this.lists++, 1);
    return Array.from({ length: count }, (_, index) => {
      const range = `${CARD_LIST_RANGE}${pad(index % RANGES_OF_LIST, 4)}`;
      return withCheckDigit(`${range}${this.salt}${list}${pad(Math.floor(index / RANGES_OF_LIST), 4)}`);
    });
  }

  /** Numbers of a thief's list that all have the same first eight digits, for example because they were guessed. */
  newListOfOneRange(count: number): string[] {
    const range = `${CARD_LIST_RANGE}1${this.salt}${pad(this.lists++, 1)}`;
    return Array.from({ length: count }, (_, index) => withCheckDigit(range + pad(index, 7)));
  }

  /** A card that the bank approves. */
  newApproved(): CardData {
    const payer = this.payers++;
    const range = Math.floor(payer / ISSUERS.length) % RANGES_OF_ISSUER;
    return this.newCard(`${ISSUERS[payer % ISSUERS.length]!}70010${pad(range, 1)}`, payer);
  }

  /** A card that the bank approves only with the CVV {@link RIGHT_CVV}. */
  newWithCheckedCvv(): CardData {
    const payer = this.payers++;
    return this.newCard(`${CHECKED_CVV_RANGE}${pad(payer % 10_000, 4)}`, payer);
  }

  /** A card of a regular payer that the bank declines (98 of 100). Its range is in no list of {@link newList}. */
  newDeclined(): CardData {
    const payer = this.payers++;
    return this.newCard(`${CARD_LIST_RANGE}9${pad(payer % 1_000, 3)}`, payer);
  }

  private newCard(range: string, payer: number): CardData {
    return newCard(withCheckDigit(range + this.salt + pad(payer, 5)));
  }
}

export function newCard(cardNumber: string, cvv = RIGHT_CVV): CardData {
  return { cardNumber, cvv, holderName: 'Thandi Nkosi', expiryMonth: 12, expiryYear: 2035 };
}

function pad(value: number, digits: number): string {
  const text = String(value).padStart(digits, '0');
  if (text.length !== digits) throw new Error(`${value} has more than ${digits} digits.`);
  return text;
}

/** Appends the check digit. */
function withCheckDigit(payload: string): string {
  const number = [...'0123456789'].map((digit) => payload + digit).find(isCardNumberValid);
  if (number === undefined) throw new Error(`No card number begins with ${payload}.`);
  return number;
}
