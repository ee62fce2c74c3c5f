import { closedStates, open, order, render, succeeded, textOf, withoutLanguages } from '../../test/pages.js';
import { type Language, languageOf, LANGUAGES } from '../languages/languages.js';
import type { OrderDetails, PayablePage } from './pay-page-model.js';

/** As decide-page returns it for an invoice: without links to a store. */
const { backToStoreUrl: _, merchantOrderId: __, ...atTill } = order;
const invoice = { ...atTill, isAtTill: true, siteName: 'TILL-1', customFields: [] } satisfies OrderDetails;
const fixed = { amountMinCents: undefined, hasTip: false };
const form = { ...open, ...invoice, merchantOrderId: undefined, choice: fixed } as PayablePage;
const there = (model: Parameters<typeof render>[0], language: Language = languageOf('en')): string =>
  withoutLanguages(render(model, { language }));

describe('an invoice of a till', () => {
  it('shows its line items like a till receipt: weighed items, returned items and single items', () => {
    const lines = [
      { label: 'Rooibos cappuccino', quantity: 2, amountCents: 8_950 },
      { label: 'Apples', quantity: 0.12345, amountCents: 323 },
      { label: 'Bottle', quantity: -1, amountCents: -200 },
      { label: '<b>Bag</b>', quantity: 1, amountCents: 0 },
    ];
    const text = textOf(there({ ...form, lines }));
    for (const shown of ['2 × Rooibos cappuccino R 89.50', '0.123 × Apples R 3.23', '-1 × Bottle −R 2.00', '&lt;b>Bag'])
      expect(text).toContain(shown);
    expect(textOf(there({ ...form, lines }, languageOf('af')))).toContain('0,123 × Apples R 3,23');
    expect(text).not.toContain('1 × &lt;b>Bag');
  });

  it('folds most of 500 line items', () => {
    const lines = Array.from({ length: 500 }, (_each, index) => ({
      ...{ label: `Line ${index}`, quantity: 1, amountCents: index },
    }));
    const [before, folded] = there({ ...form, lines }).split('<details>');
    expect([before!.includes('Line 3'), before!.includes('Line 4')]).toEqual([true, false]);
    expect(folded).toContain('Line 499');
  });

  it('shows no order reference if there is none', () => {
    expect(there(form)).not.toContain('<dt><bdi>Order</bdi>');
    expect(there({ ...succeeded, ...invoice, merchantOrderId: undefined })).not.toContain('<dt><bdi>Order</bdi>');
  });
});

describe('the options of its payer', () => {
  it('are absent unless the merchant offers them', () => {
    const html = there(form);
    expect(html).not.toMatch(/id="pay-(amount|tip)"/);
    expect(html).toContain('data-amount="12345" data-amount-min="12345" data-currency="ZAR"');
    expect(there(open)).not.toContain('data-amount');
  });

  it('are a tip, initially empty, and an amount, initially that of the invoice: fields that a native post would not send', () => {
    const choice = { amountMinCents: 100, hasTip: true };
    const html = there({ ...form, choice });
    expect(/<input [^>]*id="pay-amount"[^>]*>/.exec(html)?.[0]).toContain('value="123.45"');
    expect(/<input [^>]*id="pay-tip"[^>]*>/.exec(html)?.[0]).not.toContain('value');
    expect(html).not.toMatch(/<input[^>]* name=/);
    expect(html).toContain('data-amount-min="100"');
    expect(there({ ...form, choice }, languageOf('af'))).toContain('value="123,45"');
    for (const [hasTip, amountMinCents] of [
      [true, undefined],
      [false, 100],
    ] as const) {
      const one = there({ ...form, choice: { hasTip, amountMinCents } });
      expect([one.includes('id="pay-tip"'), one.includes('id="pay-amount"')]).toEqual([hasTip, !hasTip]);
    }
  });
});

describe('once it is closed', () => {
  it('shows the receipt to its payer, without a link to a store', () => {
    const { returnUrl: _url, ...receipt } = succeeded;
    const text = textOf(there({ ...receipt, ...invoice }));
    for (const shown of ['1VQ5K3P0ABCDEFGHJK', '20 November 2026', 'The till knows it too.'])
      expect(text).toContain(shown);
    expect(text).not.toContain('shop');
  });

  it('shows others that it is paid, without a reference and without a time', () => {
    const text = textOf(there({ ...invoice, state: 'already-paid' }));
    expect(text).toContain('There is nothing left to pay.');
    expect(text).not.toMatch(/reference|Date|2026/);
  });

  it.each(LANGUAGES)('has a text for each final state in $tag that mentions no store', (language) => {
    for (const state of closedStates) {
      const html = there({ ...invoice, state }, language);
      const { heading } = language.messages.closedAtTill[state];
      expect([textOf(html).includes(heading), html.includes('<a ')]).toEqual([true, false]);
      expect(textOf(html)).not.toContain('{tries}');
      expect(html).toContain(heading);
    }
  });
});
