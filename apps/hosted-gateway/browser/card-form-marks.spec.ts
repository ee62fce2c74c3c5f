import { buildFormPage, findInput, openInDom, readText, RENDERED_AT } from '../test/open-page.js';

async function openForm() {
  openInDom(await buildFormPage());
  const { CardForm } = await import('./card-form/card-form.js');
  const { messages } = await import('./messages.js');
  const form = new CardForm(() => RENDERED_AT, messages);
  form.start(
    () => undefined,
    () => true,
  );
  return form;
}

function typeCard(cardNumber: string): void {
  const input = findInput('card-number');
  input.value = cardNumber;
  input.dispatchEvent(new window.Event('input'));
}

const listDimmed = (): (string | undefined)[] =>
  [...document.querySelectorAll<HTMLElement>('#card-marks .other')].map((mark) => mark.dataset['brand']);

test('typing a card dims the marks of all other schemes, and of none while the scheme is unknown', async () => {
  await openForm();
  typeCard('4');
  expect(listDimmed()).toEqual(['mastercard', 'amex', 'diners', 'discover', 'jcb', 'unionpay', 'maestro']);
  typeCard('2221');
  expect(listDimmed()).not.toContain('mastercard');
  typeCard('9');
  expect(listDimmed()).toEqual([]);
});

test('a decline because of a field marks the field, and has its message only above the form', async () => {
  const form = await openForm();
  const decline = {
    paymentNumber: 2,
    title: 'The CVV is not correct',
    next: 'Check it.',
    paymentsLeft: '',
    field: 'cvv',
  };
  form.showDecline(decline);
  expect([readText('form-error'), readText('card-cvv-error')]).toEqual(['The CVV is not correctCheck it.', '']);
  expect(findInput('card-cvv').getAttribute('aria-invalid')).toBe('true');
  expect(document.activeElement?.id).toBe('card-cvv');
  const readDescription = () => findInput('card-cvv').getAttribute('aria-describedby');
  expect(readDescription()).toBe('form-error card-cvv-hint card-cvv-error');
  findInput('card-cvv').value = '123';
  findInput('card-cvv').dispatchEvent(new window.Event('input', { bubbles: true }));
  expect(readDescription()).toBe('card-cvv-hint card-cvv-error');
});
