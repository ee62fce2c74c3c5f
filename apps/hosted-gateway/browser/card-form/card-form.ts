/** The card form in the document: formats the input while the payer types, and shows errors beside the fields. */
import { cardBrand, formatCardNumber, formatExpiry } from '@svc/sdk/card';
import type { DeclinedAttempt } from '../payment-flow/payment-flow.js';
import type { ScriptMessages } from '../script-messages.js';
import { byId, paragraph } from '../views/document-parts.js';
import {
  CARD_FIELDS,
  type CardFieldName,
  type CardFieldTexts,
  caretAfterFormat,
  checkCardFields,
  isFormattedAfter,
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

export class CardForm {
  private readonly form = byId<HTMLFormElement>('pay-form');
  private readonly fields = byId<HTMLFieldSetElement>('pay-fields');
  private readonly message = byId('form-error');
  private readonly title = document.title;
  private isPressingPay = false;
  /** The typed card while the payment is in progress and the fields are empty. */
  private savedTexts: CardFieldTexts | undefined;

  constructor(
    private readonly now: () => Date,
    private readonly messages: Pick<ScriptMessages, 'cvvHints' | 'fieldErrors'>,
  ) {}

  /**
   * Enables the form. `pay` gets a card whose fields are valid.
   *
   * @param checkOthers validates the other fields of the form, which are above the card fields
   */
  start(pay: (texts: CardFieldTexts) => void, checkOthers: () => boolean): void {
    // A browser may restore the input after a reload. After a decline the payer should type the card again.
    this.form.reset();
    for (const field of CARD_FIELDS) this.watch(field);
    byId('pay-button').addEventListener('pointerdown', () => (this.isPressingPay = true));
    for (const end of ['pointerup', 'pointercancel']) window.addEventListener(end, () => (this.isPressingPay = false));
    this.form.addEventListener('submit', (event) => {
      event.preventDefault();
      const texts = this.texts();
      if (this.fields.disabled) return;
      const isCardRight = this.showProblems(texts);
      // During a payment the previous notice stays until the next one replaces it, so that nothing moves.
      if (checkOthers() && isCardRight) pay(texts);
      else this.showNotice('');
    });
    this.enable(true);
  }

  get isTyped(): boolean {
    return Object.values(this.texts()).some((text) => text !== '');
  }

  enable(isEnabled: boolean): void {
    this.fields.disabled = !isEnabled;
  }

  /** Empties the fields during the payment, because browser extensions can read hidden fields too. */
  clearFields(): void {
    this.savedTexts = this.texts();
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

  /** Same as {@link showMessage}, but keeps the focus, because the payer may be typing. */
  showNotice(text: string): void {
    this.show(text === '' ? [] : [paragraph(text)]);
    document.title = this.title;
  }

  /** Shows why the last attempt failed. The input stays, except the CVV, which must not be stored. The invalid field gets the focus. */
  showDecline({ title, next, triesLeft, reference, field }: DeclinedAttempt): void {
    this.input('cvv').value = '';
    const details = [triesLeft, ...(reference === undefined ? [] : [reference])];
    this.show([
      paragraph(title, 'notice-title'),
      paragraph(next),
      ...details.map((text) => paragraph(text, 'notice-detail')),
    ]);
    document.title = `${title} · ${this.title}`;
    const wrong = CARD_FIELDS.find((name) => name === field);
    if (wrong !== undefined) this.showProblem(wrong, title);
    (wrong === undefined ? this.message : this.input(wrong)).focus();
  }

  private show(paragraphs: readonly HTMLElement[]): void {
    // The server's message about the previous attempt no longer applies.
    document.getElementById('decline')?.remove();
    this.message.replaceChildren(...paragraphs);
    this.message.hidden = paragraphs.length === 0;
  }

  /** Removes card data: the browser may keep the document in its cache. */
  clear(): void {
    this.savedTexts = undefined;
    this.form.reset();
  }

  private texts(): CardFieldTexts {
    const text = (field: CardFieldName) => this.input(field).value;
    return { cardNumber: text('cardNumber'), expiry: text('expiry'), cvv: text('cvv'), holderName: text('holderName') };
  }

  private showProblems(texts: CardFieldTexts): boolean {
    const problems = checkCardFields(texts, this.now(), this.messages.fieldErrors);
    for (const field of CARD_FIELDS) this.showProblem(field, problems[field]);
    const firstWrong = CARD_FIELDS.find((field) => problems[field] !== undefined);
    if (firstWrong) this.input(firstWrong).focus();
    return firstWrong === undefined;
  }

  private watch(field: CardFieldName): void {
    const input = this.input(field);
    input.addEventListener('input', (event) => {
      const { inputType, isComposing } = event instanceof InputEvent ? event : {};
      const edit = { inputType, caret: input.selectionStart ?? input.value.length, length: input.value.length };
      // Until composition ends the text belongs to the input method.
      if (isComposing !== true && isFormattedAfter(field, edit)) this.format(field, input);
      if (field === 'cardNumber') this.showBrand();
      // Removes an error as soon as the field is valid. New errors appear only when the payer leaves the field.
      if (input.getAttribute('aria-invalid') === 'true' && !this.problemOf(field)) this.showProblem(field, undefined);
    });
    input.addEventListener('blur', () => {
      this.format(field, input);
      // An error message that appears while the button is pressed would move it, and the click would miss.
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
    const [digits, ...others] = brand.cvvLengths;
    const { cvvHints } = this.messages;
    byId('card-cvv-hint').textContent =
      cvvHints[others.length === 0 && (digits === 3 || digits === 4) ? digits : 'either'];
    // The valid CVV length depends on the brand.
    if (this.input('cvv').getAttribute('aria-invalid') === 'true') this.showProblem('cvv', this.problemOf('cvv'));
  }

  private problemOf(field: CardFieldName): string | undefined {
    return checkCardFields(this.texts(), this.now(), this.messages.fieldErrors)[field];
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
