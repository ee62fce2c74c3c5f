/** The control interface of the emulator of Adyen, with which a person or a test causes what happens at a bank. */
import { waitUntil } from '@svc/testing';

/** Test cards with the expiry date and security code that Adyen publishes for them. */
export const ADYEN_CARD = { expiry: '03 / 30', cvv: '737' };
export const ADYEN_APPROVED = '4111 1111 1111 1111';
export const ADYEN_VERIFIED = '4212 3456 7890 1237';

interface EmulatedPayment {
  readonly pspReference: string;
  readonly order: { readonly reference: string; readonly amount: { readonly value: number } };
  readonly state: string;
}

interface EmulatedModification {
  readonly pspReference: string;
  readonly type: string;
  readonly paymentPspReference?: string;
}

interface EmulatorState {
  readonly payments: readonly EmulatedPayment[];
  readonly modifications: readonly EmulatedModification[];
  readonly storedCards: readonly { readonly isDeleted: boolean }[];
}

export class AdyenEmulator {
  /** @param url `http://127.0.0.1:port` */
  constructor(private readonly url: string) {}

  state(): Promise<EmulatorState> {
    return this.call('GET', '/state');
  }

  /** The authorised or refused payments with the platform's reference; the oldest first. */
  async payments(paymentReference: string): Promise<readonly EmulatedPayment[]> {
    const { payments } = await this.state();
    return payments.filter(({ order }) => order.reference === paymentReference);
  }

  /** The payment, as soon as it is captured. Throws if it was authorised twice. */
  async captured(paymentReference: string): Promise<EmulatedPayment> {
    const [payment, second] = await waitUntil('the capture at Adyen', 20_000, async () => {
      const payments = await this.payments(paymentReference);
      return payments[0]?.state === 'captured' ? payments : undefined;
    });
    if (second !== undefined) throw new Error(`${paymentReference} was authorised twice`);
    return payment!;
  }

  /** The card scheme rejects the capture of this payment, after it had succeeded. */
  async failCapture(pspReference: string): Promise<void> {
    await this.call('POST', `/payments/${pspReference}/capture-failed`, {});
  }

  /** The next webhooks with this code are stored until they are released. */
  async withholdWebhooks(eventCode: string, times: number): Promise<void> {
    await this.call('POST', '/webhook-rules', { action: 'withhold', eventCode, times });
  }

  /** Sends the withheld webhooks with this code. */
  async releaseWebhooks(eventCode: string): Promise<void> {
    await this.call('DELETE', '/webhook-rules');
    await this.call('POST', '/webhooks/release', { order: 'oldest-first', eventCode });
  }

  /** The next downloads of reports get this status. */
  async refuseReports(status: number, times: number): Promise<void> {
    await this.call('POST', '/faults', { type: 'status', operation: 'reports', status, times });
  }

  /** The next requests of this operation are executed, but their responses are lost. */
  async loseResponses(operation: 'payments', times: number): Promise<void> {
    await this.call('POST', '/faults', { type: 'lose-response', operation, times });
  }

  /** Faults that are still waiting for a request do not occur. */
  async clearFaults(): Promise<void> {
    await this.call('DELETE', '/faults');
  }

  async advanceClock(advanceMs: number): Promise<void> {
    await this.call('POST', '/clock', { advanceMs });
  }

  /** The bank of the payer refuses the refund of this payment, after it had succeeded. */
  async failRefund({ pspReference }: EmulatedPayment): Promise<void> {
    const { modifications } = await this.state();
    const refund = modifications.find(
      ({ type, paymentPspReference }) => type === 'refund' && paymentPspReference === pspReference,
    );
    if (refund === undefined) throw new Error(`There is no refund of ${pspReference}`);
    await this.call('POST', `/refunds/${refund.pspReference}/failed`, {});
  }

  /** Opens a dispute of the payment, or moves it to this stage, named by the event of Adyen's webhook. */
  async dispute({ pspReference }: EmulatedPayment, eventCode: string): Promise<void> {
    await this.call('POST', `/payments/${pspReference}/disputes`, { eventCode });
  }

  /** Closes the batch of the merchant account, and makes its settlement details report. */
  async closeBatch(merchantAccount: string): Promise<void> {
    await this.call('POST', '/settlements', { merchantAccount });
  }

  private async call<T>(method: 'DELETE' | 'GET' | 'POST', path: string, body?: object): Promise<T> {
    const response = await fetch(`${this.url}/emulator${path}`, {
      method,
      ...(body ? { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) } : {}),
    });
    if (!response.ok) throw new Error(`The emulator answered ${response.status}: ${await response.text()}`);
    return (await response.json()) as T;
  }
}
