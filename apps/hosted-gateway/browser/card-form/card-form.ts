/** The card form in the document: formats the input while the payer types, and shows errors beside the fields. */
import { cardBrand, formatCardNumber, formatExpiry } from '@svc/sdk/card';
import type { DeclinedPayment } from '../payment-flow/payment-flow.js';
import type { ScriptMessages } from '../script-messages.js';
import { byId, createParagraph } from '../views/document-parts.js';
import {
  CARD_FIELDS,
  type CardFieldName,
  type CardFieldTexts,
  checkCardFields,
  findCaretAfterFormat,
  shouldFormatAfter,
} from './card-fields.js';

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

/** The id of the message above the form, which describes a field that the bank did not accept. */
const DECLINE_DESCRIPTION = 'form-error ';

export class CardForm {
  private readonly form = byId<HTMLFormElement>('pay-form');
  private readonly fields = byId<HTMLFieldSetElement>('pay-fields');
  private readonly message = byId('form-error');
  private readonly title = document.title;
  private isPressingPay = false;
  /** The texts of the fields during a payment, while the fields are empty. */
  private savedTexts: CardFieldTexts | undefined;

  constructor(
    private readonly now: () => Date,
    private readonly messages: Pick<ScriptMessages, 'cvvHints' | 'fieldErrors'>,
  ) {}

  /**
   * Enables the form.
   *
   * @param pay called with the texts when the payer presses Pay and all fields are valid
   * @param checkAmountFields validates the fields for amount and tip, which are above the card fields
   */
  start(pay: (texts: CardFieldTexts) => void, checkAmountFields: () => boolean): void {
    // Removes input that the browser may have restored after a reload.
    this.form.reset();
    for (const field of CARD_FIELDS) this.watch(field);
    byId('pay-button').addEventListener('pointerdown', () => (this.isPressingPay = true));
    for (const type of ['pointerup', 'pointercancel'])
      window.addEventListener(type, () => (this.isPressingPay = false));
    this.form.addEventListener('submit', (event) => {
      event.preventDefault();
      const texts = this.readTexts();
      if (this.fields.disabled) return;
      const isCardValid = this.showProblems(texts);
      // Does not remove the previous notice before a payment, so that the page does not move.
      if (checkAmountFields() && isCardValid) pay(texts);
      else this.showNotice('');
    });
    this.enable(true);
  }

  get isTyped(): boolean {
    return Object.values(this.readTexts()).some((text) => text !== '');
  }

  enable(isEnabled: boolean): void {
    this.fields.disabled = !isEnabled;
  }

  /** Empties the fields during the payment, because browser extensions can read hidden fields too. */
  clearFields(): void {
    this.savedTexts = this.readTexts();
    document.title = this.title;
    for (const field of CARD_FIELDS) this.input(field).value = '';
  }

  restoreFields(): void {
    const texts = this.savedTexts;
    this.savedTexts = undefined;
    for (const field of texts ? CARD_FIELDS : []) this.input(field).value = texts![field];
  }

  /** Shows a message above the form and focuses it, so that screen readers announce it. */
  showMessage(text: string): void {
    this.showNotice(text);
    if (text !== '') this.message.focus();
  }

  /** Shows a message above the form without moving the focus, because the payer may be typing. */
  showNotice(text: string): void {
    this.showParagraphs(text === '' ? [] : [createParagraph(text)]);
    document.title = this.title;
  }

  /**
   * Shows why the last payment failed, above the form. Marks and focuses the field that the bank did not accept, without
   * a second message beside it, or focuses the message if the field is unknown. Clears only the CVV, because the CVV must
   * not be stored.
   */
  showDecline({ title, next, paymentsLeft, reference, field }: DeclinedPayment): void {
    this.input('cvv').value = '';
    const details = [paymentsLeft, reference ?? ''].filter((text) => text !== '');
    this.showParagraphs([
      createParagraph(title, 'notice-title'),
      createParagraph(next),
      ...details.map((text) => createParagraph(text, 'notice-detail')),
    ]);
    document.title = `${title} · ${this.title}`;
    const declinedField = CARD_FIELDS.find((name) => name === field);
    if (declinedField === undefined) return this.message.focus();
    this.showProblem(declinedField, undefined);
    const input = this.input(declinedField);
    input.setAttribute('aria-invalid', 'true');
    // A screen reader reads the reason with the field.
    input.setAttribute('aria-describedby', `${DECLINE_DESCRIPTION}${input.getAttribute('aria-describedby')}`);
    input.focus();
    // On a phone the focus may have scrolled the message out of sight.
    this.message.scrollIntoView({ block: 'nearest' });
  }

  private showParagraphs(paragraphs: readonly HTMLElement[]): void {
    // Removes the message that the server rendered about an earlier payment.
    document.getElementById('decline')?.remove();
    this.message.replaceChildren(...paragraphs);
    this.message.hidden = paragraphs.length === 0;
  }

  /** Removes the card data, because the browser may store the document in its back/forward cache. */
  clear(): void {
    this.savedTexts = undefined;
    this.form.reset();
  }

  private readTexts(): CardFieldTexts {
    const text = (field: CardFieldName) => this.input(field).value;
    return { cardNumber: text('cardNumber'), expiry: text('expiry'), cvv: text('cvv'), holderName: text('holderName') };
  }

  private showProblems(texts: CardFieldTexts): boolean {
    const problems = checkCardFields(texts, this.now(), this.messages.fieldErrors);
    for (const field of CARD_FIELDS) this.showProblem(field, problems[field]);
    const firstInvalid = CARD_FIELDS.find((field) => problems[field] !== undefined);
    if (firstInvalid) this.input(firstInvalid).focus();
    return firstInvalid === undefined;
  }

  private watch(field: CardFieldName): void {
    const input = this.input(field);
    input.addEventListener('input', (event) => {
      const { inputType, isComposing } = event instanceof InputEvent ? event : {};
      const edit = {
        inputType,
        caret: input.selectionStart ?? input.value.length,
        length: input.value.length,
      };
      // Does not format the text while an input method is composing it.
      if (isComposing !== true && shouldFormatAfter(field, edit)) this.format(field, input);
      if (field === 'cardNumber') this.showBrand();
      // Removes an error as soon as the field is valid. New errors appear only when the payer leaves the field.
      if (input.getAttribute('aria-invalid') === 'true' && !this.findProblem(field)) this.showProblem(field, undefined);
    });
    input.addEventListener('blur', () => {
      this.format(field, input);
      // Shows no error while the button is pressed, because the text would move the button, and the click would miss
      // it.
      if (this.isPressingPay) return;
      if (input.value.trim() !== '') this.showProblem(field, this.findProblem(field));
    });
  }

  private format(field: CardFieldName, input: HTMLInputElement): void {
    const formatted = FORMATS[field]?.(input.value);
    if (formatted === undefined || formatted === input.value) return;
    const caret = findCaretAfterFormat(input.value, input.selectionStart ?? input.value.length, formatted);
    input.value = formatted;
    if (document.activeElement === input) input.setSelectionRange(caret, caret);
  }

  private showBrand(): void {
    const brand = cardBrand(this.input('cardNumber').value);
    byId('card-brand').textContent = brand.label;
    for (const mark of byId('card-marks').querySelectorAll('li'))
      mark.className = brand.name === 'unknown' || mark.dataset['brand'] === brand.name ? '' : 'other';
    const [digits, ...others] = brand.cvvLengths;
    const { cvvHints } = this.messages;
    byId('card-cvv-hint').textContent =
      cvvHints[others.length === 0 && (digits === 3 || digits === 4) ? digits : 'either'];
    // Validates the CVV again, because its length depends on the brand.
    if (this.input('cvv').getAttribute('aria-invalid') === 'true') this.showProblem('cvv', this.findProblem('cvv'));
  }

  private findProblem(field: CardFieldName): string | undefined {
    return checkCardFields(this.readTexts(), this.now(), this.messages.fieldErrors)[field];
  }

  private showProblem(field: CardFieldName, problem: string | undefined): void {
    const input = this.input(field);
    input.setAttribute('aria-describedby', input.getAttribute('aria-describedby')!.replace(DECLINE_DESCRIPTION, ''));
    if (problem) input.setAttribute('aria-invalid', 'true');
    else input.removeAttribute('aria-invalid');
    const errorElement = byId(`${IDS[field]}-error`);
    if (errorElement.textContent !== (problem ?? '')) errorElement.textContent = problem ?? '';
  }

  private input(field: CardFieldName): HTMLInputElement {
    return byId<HTMLInputElement>(IDS[field]);
  }
}
