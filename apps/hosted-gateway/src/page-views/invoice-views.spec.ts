import {
  closedStates,
  declinedPage,
  openPage,
  order,
  paidPage,
  readVisibleText,
  removeLanguageLinks,
  renderHtml,
} from '../../test/pages.js';
import { getLanguage, type Language, LANGUAGES } from '../languages/languages.js';
import type { OrderDetails, PayablePage } from './pay-page-model.js';

/** The order of an invoice, as decide-page.ts returns it: without links to a store. */
const { backToStoreUrl: _, merchantOrderId: __, ...orderWithoutStore } = order;
const invoice = {
  ...orderWithoutStore,
  invoiceOrigin: 'till',
  siteName: 'Market stall',
  customFields: [],
} satisfies OrderDetails;
const withoutChoice = { amountCents: undefined, tipMaxCents: undefined };
const invoiceForm = { ...openPage, ...invoice, merchantOrderId: undefined, choice: withoutChoice } as PayablePage;
const renderWithoutLanguages = (
  model: Parameters<typeof renderHtml>[0],
  language: Language = getLanguage('en'),
): string => removeLanguageLinks(renderHtml(model, { language }));

describe('the page of a till’s invoice', () => {
  it('shows the name of the site', () => {
    expect(readVisibleText(renderWithoutLanguages(invoiceForm))).toContain('Karoo Coffee Market stall');
  });

  it('shows no order reference if there is none', () => {
    expect(renderWithoutLanguages(invoiceForm)).not.toContain('<dt><bdi>Order</bdi>');
    expect(renderWithoutLanguages({ ...paidPage, ...invoice, merchantOrderId: undefined })).not.toContain(
      '<dt><bdi>Order</bdi>',
    );
  });
});

describe('the fields for amount and tip', () => {
  it('are absent unless the merchant enabled them', () => {
    const html = renderWithoutLanguages(invoiceForm);
    expect(html).not.toMatch(/id="pay-(amount|tip)"/);
    expect(html).toContain(
      'data-amount="12345" data-amount-min="12345" data-amount-max="12345" data-tip-max="0" data-currency="ZAR"',
    );
    expect(renderWithoutLanguages(openPage)).not.toContain('data-amount');
  });

  it('have no name, so that a native form post does not send them, and initially contain the invoice amount and no tip', () => {
    const choice = { amountCents: { min: 100, max: 123_450 }, tipMaxCents: 12_345 };
    const html = renderWithoutLanguages({ ...invoiceForm, choice });
    expect(/<input [^>]*id="pay-amount"[^>]*>/.exec(html)?.[0]).toContain('value="123.45"');
    expect(/<input [^>]*id="pay-tip"[^>]*>/.exec(html)?.[0]).not.toContain('value');
    expect(html).not.toMatch(/<input[^>]* name=/);
    expect(html).toContain('data-amount-min="100" data-amount-max="123450" data-tip-max="12345"');
    expect(renderWithoutLanguages({ ...invoiceForm, choice }, getLanguage('af'))).toContain('value="123,45"');
    for (const oneChoice of [
      { ...choice, amountCents: undefined },
      { ...choice, tipMaxCents: undefined },
    ]) {
      const htmlOfOneField = renderWithoutLanguages({ ...invoiceForm, choice: oneChoice });
      expect([htmlOfOneField.includes('id="pay-tip"'), htmlOfOneField.includes('id="pay-amount"')]).toEqual([
        oneChoice.tipMaxCents !== undefined,
        oneChoice.amountCents !== undefined,
      ]);
    }
  });
});

describe('the page of a closed invoice', () => {
  it('shows the receipt to its payer, without a link to a store', () => {
    const { returnUrl: _url, ...receipt } = paidPage;
    const text = readVisibleText(renderWithoutLanguages({ ...receipt, ...invoice }));
    for (const shown of ['1VQ5K3P0ABCDEFGHJK', '20 November 2026', 'The till receives the confirmation too.'])
      expect(text).toContain(shown);
    expect(text).not.toContain('shop');
  });

  it('shows other payers that the invoice is paid, without reference and time', () => {
    const text = readVisibleText(renderWithoutLanguages({ ...invoice, state: 'already-paid' }));
    expect(text).toContain('There is nothing left to pay.');
    expect(text).not.toMatch(/reference|Date|2026/);
  });

  it.each(LANGUAGES)('has a text in $tag for each final state, without a link to a store', (language) => {
    for (const state of [...closedStates, 'paused'] as const) {
      const html = renderWithoutLanguages({ ...invoice, state }, language);
      const { heading } = language.messages.closedAtTill[state];
      expect([readVisibleText(html).includes(heading), html.includes('<a ')]).toEqual([true, false]);
      expect(readVisibleText(html)).not.toContain('{payments}');
      expect(html).toContain(heading);
    }
  });

  it('reloads automatically while the static code is paused, in every browser and without a script', () => {
    const html = renderWithoutLanguages({ ...invoice, state: 'paused' });
    expect(html).toContain('<meta http-equiv="refresh" content="30"');
    expect(html).not.toMatch(/<noscript|<script/);
    for (const state of closedStates) expect(renderWithoutLanguages({ ...invoice, state })).not.toContain('http-equiv');
  });
});

test('the form of an invoice shows no number of payments left', () => {
  const declined = { ...declinedPage, ...invoice, paymentsLeft: undefined } as PayablePage;
  expect(renderWithoutLanguages(declined)).not.toMatch(/attempts left|notice-detail"><\/p>/);
});

describe('the page of a payment request', () => {
  const request = { ...invoice, invoiceOrigin: 'request' as const };

  it.each(LANGUAGES)('has a text in $tag for each final state, which names neither a till nor a store', (language) => {
    for (const state of closedStates) {
      const html = renderWithoutLanguages({ ...request, state }, language);
      const { heading, note } = language.messages.closedRequest[state];
      expect(readVisibleText(html)).toContain(`${heading} ${note}`);
      expect(html).not.toContain('<a ');
    }
  });

  it('tells the payer that the sender receives the confirmation too', () => {
    const { returnUrl: _url, ...receipt } = paidPage;
    const text = readVisibleText(renderWithoutLanguages({ ...receipt, ...request }));
    expect(text).toContain('The sender of the request receives the confirmation too.');
    expect(text).not.toMatch(/till|other device/);
  });
});
