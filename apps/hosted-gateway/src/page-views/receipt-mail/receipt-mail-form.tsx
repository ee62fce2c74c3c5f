/**
 * The form with which a payer gets the receipt by e-mail. It is an ordinary form, so it also works without the script.
 * Afterwards the page shows whether the mail server accepted the mail.
 */
import type { Messages } from '../../languages/en.js';

/** The result of the last request, from the address of the page. */
export const RECEIPT_RESULTS = ['sent', 'failed', 'limited', 'invalid'] as const;
export type ReceiptResult = (typeof RECEIPT_RESULTS)[number];

export interface ReceiptMailForm {
  /** Path to which the form is sent. */
  readonly action: string;
  readonly result?: ReceiptResult | undefined;
}

export function ReceiptMail({ form, texts }: { form: ReceiptMailForm; texts: Messages['receiptMail'] }) {
  const { action, result } = form;
  const isSent = result === 'sent';
  return (
    <details class="receipt-mail" id="receipt-mail" open={result !== undefined}>
      <summary>{texts.summary}</summary>
      {result === undefined ? null : (
        <p class={isSent ? 'notice news' : 'notice'} id="receipt-result" role="status" tabIndex={-1}>
          {texts[result]}
        </p>
      )}
      <form method="post" action={action}>
        <label for="receipt-email">{texts.address}</label>
        <div class="control">
          <input
            id="receipt-email"
            name="email"
            type="email"
            required
            maxLength={254}
            autoComplete="email"
            autoCapitalize="off"
            spellcheck={false}
          />
        </div>
        <button class="primary" type="submit">
          {texts.send}
        </button>
        <p class="hint">{texts.note}</p>
      </form>
    </details>
  );
}
