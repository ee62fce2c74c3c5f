import { openInDom } from '../test/open-page.js';
import { paidPage, reversedCharges } from '../test/pages.js';

const RETURN_AFTER_MS = 21_000;

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

const isShown = (id: string): boolean => !document.getElementById(id)!.hidden;

async function openReceipt(model: Parameters<typeof openInDom>[0] = paidPage) {
  const navigation = openInDom(model);
  const print = jest.fn();
  Object.defineProperty(globalThis, 'print', { value: print, configurable: true, writable: true });
  const { showPrintButton, startRedirectCountdown } = await import('./views/receipt.js');
  showPrintButton();
  startRedirectCountdown();
  return { navigation, print };
}

test('the button prints the receipt', async () => {
  const { print } = await openReceipt();
  expect(isShown('print')).toBe(true);
  document.getElementById('print')!.click();
  expect(print).toHaveBeenCalledTimes(1);
});

test('the page returns to the shop after some seconds', async () => {
  const { navigation } = await openReceipt();
  jest.advanceTimersByTime(RETURN_AFTER_MS);
  expect(navigation.replace).toHaveBeenCalledWith('https://shop.example/thanks?paymentStatus=Success');
});

test('the page stays 20 s, so that a slow reader can stop the redirect', async () => {
  const { navigation } = await openReceipt();
  jest.advanceTimersByTime(19_900);
  expect(navigation.replace).not.toHaveBeenCalled();
  expect(isShown('stay')).toBe(true);
});

test('the page stays while it tells that another payment was refunded', async () => {
  const { navigation } = await openReceipt({ ...paidPage, reversedCharges });
  jest.advanceTimersByTime(RETURN_AFTER_MS);
  expect(navigation.replace).not.toHaveBeenCalled();
  expect(isShown('stay')).toBe(false);
});

test('the page does not return to the shop after the receipt was printed', async () => {
  const printed = await openReceipt();
  window.dispatchEvent(new window.Event('beforeprint'));
  jest.advanceTimersByTime(RETURN_AFTER_MS);
  expect(printed.navigation.replace).not.toHaveBeenCalled();
  expect([isShown('stay'), document.getElementById('returning')!.textContent]).toEqual([false, '']);
});

test('a page without a receipt has no button', async () => {
  const { paymentReference: _, charge: __, returnUrl: ___, ...paidByAnother } = paidPage;
  await expect(openReceipt({ ...paidByAnother, state: 'already-paid' })).resolves.toBeDefined();
  expect(document.getElementById('print')).toBeNull();
});
