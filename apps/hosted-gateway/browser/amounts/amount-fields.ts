/** The input fields for the amount and the tip of an invoice, if the merchant offers these options. */
import { fill } from '../../src/languages/fill.js';
import { formatAmount } from '../../src/languages/format-amount.js';
import { messages } from '../messages.js';
import { byId } from '../views/document-parts.js';
import { pageData } from '../views/page-document.js';
import {
  type AmountProblem,
  type AmountTexts,
  checkAmounts,
  type ChosenAmounts,
  findTipMax,
  readAmounts,
} from './chosen-amounts.js';

export class AmountFields {
  private readonly amount = document.getElementById('pay-amount') as HTMLInputElement | null;
  private readonly tip = document.getElementById('pay-tip') as HTMLInputElement | null;
  private readonly limits = {
    invoiceAmount: Number(pageData['amount']),
    amountMin: Number(pageData['amountMin']),
    amountMax: Number(pageData['amountMax']),
    tipMax: Number(pageData['tipMax']),
  };

  private isPressingPay = false;

  constructor() {
    for (const input of [this.amount, this.tip]) {
      input?.addEventListener('input', () => this.onInput());
      // Shows no error while the button is pressed, because the text would move the button, and the click would miss
      // it.
      input?.addEventListener('blur', () => void (this.isPressingPay || this.showProblems()));
    }
    byId('pay-button').addEventListener('pointerdown', () => (this.isPressingPay = true));
    for (const type of ['pointerup', 'pointercancel'])
      window.addEventListener(type, () => (this.isPressingPay = false));
  }

  /** Validates both fields and shows errors. Returns false and focuses the first invalid field if there is one. */
  check(): boolean {
    const problems = this.showProblems();
    const invalidField = problems.amount ? this.amount : problems.tip ? this.tip : null;
    invalidField?.focus();
    return invalidField === null;
  }

  read(): ChosenAmounts {
    return readAmounts(this.readTexts(), this.limits);
  }

  private readTexts(): AmountTexts {
    return { amount: this.amount?.value, tip: this.tip?.value };
  }

  private showProblems(): ReturnType<typeof checkAmounts> {
    const problems = checkAmounts(this.readTexts(), this.limits);
    this.showProblem(this.amount, problems.amount);
    this.showProblem(this.tip, problems.tip);
    return problems;
  }

  private showProblem(input: HTMLInputElement | null, problem: AmountProblem | undefined): void {
    if (input === null) return;
    if (problem) input.setAttribute('aria-invalid', 'true');
    else input.removeAttribute('aria-invalid');
    const { amountMin, amountMax } = this.limits;
    const most = input === this.amount ? amountMax : findTipMax(this.readTexts(), this.limits);
    // With no-break spaces, because an amount in a sentence must not be divided at the end of a line.
    const amounts = { least: this.format(amountMin, '\u00a0'), most: this.format(most, '\u00a0') };
    const text = problem ? fill(messages.choiceErrors[problem], amounts) : '';
    const errorElement = byId(`${input.id}-error`);
    if (errorElement.textContent !== text) errorElement.textContent = text;
  }

  /**
   * Removes an error message as soon as its field is valid, and shows the total on the button if both fields are valid.
   */
  private onInput(): void {
    const problems = checkAmounts(this.readTexts(), this.limits);
    if (!problems.amount) this.showProblem(this.amount, undefined);
    if (!problems.tip) this.showProblem(this.tip, undefined);
    if (problems.amount || problems.tip) return;
    const { amount, tipAmount } = this.read();
    const [sum, parts] = [this.format(amount + tipAmount), [amount, tipAmount].map((cents) => this.format(cents))];
    byId('pay-button').querySelector('.money')!.textContent = sum;
    if (this.tip) byId('pay-sum').textContent = tipAmount === 0 ? '' : `${parts.join(' + ')} = ${sum}`;
  }

  private format(cents: number, space = ' '): string {
    return formatAmount(cents, pageData['currency'] ?? '', messages.format).replaceAll(' ', space);
  }
}
