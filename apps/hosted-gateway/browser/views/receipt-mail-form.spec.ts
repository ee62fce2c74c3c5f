import { openInDom, readText } from '../../test/open-page.js';
import { paidPage, receiptMailPages } from '../../test/pages.js';

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

async function openReceipt(page = receiptMailPages[0]!) {
  const navigation = openInDom(page);
  const { startRedirectCountdown } = await import('./receipt.js');
  startRedirectCountdown();
  return navigation;
}

const focusedId = (): string | undefined => document.activeElement?.id;

describe('the form of the receipt', () => {
  it('stops the return to the shop when the payer opens it', async () => {
    const { replace } = await openReceipt();
    const details = document.getElementById('receipt-mail') as HTMLDetailsElement;
    details.open = true;
    details.dispatchEvent(new (document.defaultView as unknown as typeof globalThis).Event('toggle'));
    jest.advanceTimersByTime(60_000);
    expect(replace).not.toHaveBeenCalled();
    expect([readText('returning'), readText('returning-seconds')]).toEqual(['', '']);
    expect(document.getElementById('stay')!.hidden).toBe(true);
  });

  it('does not stop the return while the payer does not open it', async () => {
    const { replace } = await openReceipt();
    jest.advanceTimersByTime(20_000);
    expect(replace).toHaveBeenCalledTimes(1);
  });

  it('announces the result instead of the heading, and the page stays', async () => {
    const { replace } = await openReceipt(receiptMailPages.find(({ receiptMail }) => receiptMail?.result === 'sent'));
    expect(focusedId()).toBe('receipt-result');
    jest.advanceTimersByTime(60_000);
    expect(replace).not.toHaveBeenCalled();
  });

  it('is absent from a receipt that cannot be sent', async () => {
    const { replace } = await openReceipt(paidPage);
    expect(focusedId()).toBe('outcome-heading');
    jest.advanceTimersByTime(20_000);
    expect(replace).toHaveBeenCalledTimes(1);
  });
});
