/** The card form in the document: formats while somebody types, shows what is wrong beside its field. */
import { cardBrand, formatCardNumber, formatExpiry } from '@svc/sdk/card';
import { form as formStrings } from '../src/page-views/strings.js';
import {
  CARD_FIELDS,
  caretAfterFormat,
  checkCardFields,
  type CardFieldName,
  type CardFieldTexts,
} from './card-fields.js';
import { byId } from './document-parts.js';

const IDS: Readonly<Record<CardFieldName, string>> = {
  cardNumber: 'card-number',
  expiry: 'card-expiry',
  cvv: 'card-cvv',
  holderName: 'card-name',
};

const FORMATS: Partial<Record<CardFieldName, (text: string) => string>> = {
  cardNumber: formatCardNumber,
  expiry: formatExpiry,
  cvv: (text) => text.normalize('NFKC').replace(/\D/g, '').slice(0, 4),
};

export class CardForm {
  private readonly form = byId<HTMLFormElement>('pay-form');
  private readonly fields = byId<HTMLFieldSetElement>('pay-fields');
  private readonly message = byId('form-error');
  private isPressingPay = false;

  constructor(private readonly now: () => Date) {}

  /** Makes the form usable. `pay` gets a card whose fields are right. */
  start(pay: (texts: CardFieldTexts) => void): void {
    // A browser may have restored what was typed before a reload; a declined card is typed again on purpose.
    this.form.reset();
    for (const field of CARD_FIELDS) this.watch(field);
    byId('pay-button').addEventListener('pointerdown', () => (this.isPressingPay = true));
    for (const end of ['pointerup', 'pointercancel']) window.addEventListener(end, () => (this.isPressingPay = false));
    this.form.addEventListener('submit', (event) => {
      event.preventDefault();
      const texts = this.texts();
      if (!this.fields.disabled && this.showProblems(texts)) pay(texts);
    });
    this.enable(true);
  }

  enable(isEnabled: boolean): void {
    this.fields.disabled = !isEnabled;
  }

  /** Above the form; takes the focus, so that it is read out where it stands. */
  showMessage(text: string): void {
    this.message.textContent = text;
    this.message.hidden = text === '';
    if (text !== '') this.message.focus();
  }

  /** Card data is not left in a document that the browser may keep. */
  clear(): void {
    this.form.reset();
  }

  private texts(): CardFieldTexts {
    const text = (field: CardFieldName) => this.input(field).value;
    return { cardNumber: text('cardNumber'), expiry: text('expiry'), cvv: text('cvv'), holderName: text('holderName') };
  }

  private showProblems(texts: CardFieldTexts): boolean {
    this.showMessage('');
    const problems = checkCardFields(texts, this.now());
    for (const field of CARD_FIELDS) this.showProblem(field, problems[field]);
    const firstWrong = CARD_FIELDS.find((field) => problems[field] !== undefined);
    if (firstWrong) this.input(firstWrong).focus();
    return firstWrong === undefined;
  }

  private watch(field: CardFieldName): void {
    const input = this.input(field);
    input.addEventListener('input', (event) => {
      // Until composition ends the text belongs to the input method.
      if (!(event instanceof InputEvent && event.isComposing)) this.format(field, input);
      if (field === 'cardNumber') this.showBrand();
      // A complaint goes as soon as it is no longer true, and none comes while somebody is still typing.
      if (input.getAttribute('aria-invalid') === 'true' && !this.problemOf(field)) this.showProblem(field, undefined);
    });
    input.addEventListener('blur', () => {
      // A complaint that appears under a pressed button moves it away, and the click goes nowhere.
      if (this.isPressingPay) return;
      if (input.value.trim() !== '') this.showProblem(field, this.problemOf(field));
    });
  }

  private format(field: CardFieldName, input: HTMLInputElement): void {
    const formatted = FORMATS[field]?.(input.value);
    if (formatted === undefined || formatted === input.value) return;
    const caret = caretAfterFormat(input.value, input.selectionStart ?? input.value.length, formatted);
    input.value = formatted;
    if (document.activeElement === input) input.setSelectionRange(caret, caret);
  }

  private showBrand(): void {
    const brand = cardBrand(this.input('cardNumber').value);
    byId('card-brand').textContent = brand.label;
    byId('card-cvv-hint').textContent = brand.cvvLengths[0] === 4 ? formStrings.cvvHintFour : formStrings.cvvHint;
  }

  private problemOf(field: CardFieldName): string | undefined {
    return checkCardFields(this.texts(), this.now())[field];
  }

  private showProblem(field: CardFieldName, problem: string | undefined): void {
    const input = this.input(field);
    if (problem) input.setAttribute('aria-invalid', 'true');
    else input.removeAttribute('aria-invalid');
    const text = byId(`${IDS[field]}-error`);
    if (text.textContent !== (problem ?? '')) text.textContent = problem ?? '';
  }

  private input(field: CardFieldName): HTMLInputElement {
    return byId<HTMLInputElement>(IDS[field]);
  }
}
