import { cardBrand } from '@svc/sdk/card';
import {
  closedStates,
  openPage,
  order,
  paidPage,
  readVisibleText,
  removeLanguageLinks,
  renderHtml,
  verificationPage,
} from '../../test/pages.js';
import { getLanguage } from '../languages/languages.js';
import type { OrderBasket, OrderLine } from './basket/order-basket.js';
import { CARD_MARKS } from './icons.js';
import type { PayPageModel } from './pay-page-model.js';

const LINES: readonly OrderLine[] = [
  { label: 'Rooibos cappuccino', quantity: 2, unitPriceCents: 4_475, amountCents: 8_950 },
  { label: 'Apples', quantity: 0.12345, unitPriceCents: 2_619, amountCents: 323 },
  { label: 'Bottle', quantity: -1, unitPriceCents: 200, amountCents: -200 },
  { label: '<b>Bag</b>', quantity: 1, unitPriceCents: 100_000, amountCents: 100_000 },
];
const BASKET: OrderBasket = { lines: LINES, totalCents: 115_073, shippingCents: 6_000 };

/** The text of the basket in the summary. */
const readBasketText = (basket: OrderBasket, model: PayPageModel = openPage, tag: 'en' | 'af' = 'en'): string => {
  const html = removeLanguageLinks(renderHtml({ ...model, basket } as PayPageModel, { language: getLanguage(tag) }));
  return readVisibleText(/<div class="basket">.*<\/section>/s.exec(html)?.[0].split('</section>')[0] ?? '').trim();
};

describe('the basket', () => {
  it('shows each line with its name, its quantity and unit price unless the quantity is 1, and its total; then delivery, tax and total', () => {
    expect(readBasketText({ ...BASKET, tax: { amountCents: 1_234, isIncluded: false } }).replace(/\s+/g, ' ')).toBe(
      '5 items · R 1 150.73 Rooibos cappuccino 2 × R 44.75 R 89.50 Apples 0.123 × R 26.19 R 3.23 ' +
        'Bottle −1 × R 2.00 −R 2.00 &lt;b>Bag&lt;/b> R 1 000.00 Delivery R 60.00 VAT R 12.34 Total R 1 150.73',
    );
  });

  it('shows an included tax below the total, and no row for what the merchant did not send', () => {
    const { shippingCents: _, ...basket } = BASKET;
    expect(readBasketText({ ...basket, tax: { amountCents: 1_234, isIncluded: true } })).toMatch(
      /R 1 000\.00\s+Total\s+R 1 150\.73\s+VAT included\s+R 12\.34$/,
    );
    expect(readBasketText(basket)).not.toMatch(/VAT|Delivery/);
  });

  it('is in the language of the page', () => {
    expect(readBasketText(BASKET, openPage, 'af')).toMatch(/^5 artikels · R 1 150,73 .*0,123 × R 26,19.*Totaal/s);
  });

  it.each([
    openPage,
    { ...order, state: 'processing', isLate: false },
    verificationPage,
    paidPage,
    { ...paidPage, state: 'already-paid' },
    ...closedStates.map((state) => ({ ...order, state })),
  ] as PayPageModel[])('is shown in state $state', (model) => {
    expect(readBasketText(BASKET, model)).toContain('Rooibos cappuccino');
  });

  it('is absent without lines', () => {
    expect(renderHtml(openPage)).not.toContain('class="basket"');
  });

  it('is folded with its number of pieces and total, except a single line', () => {
    expect(renderHtml({ ...openPage, basket: BASKET })).toMatch(
      /<details><summary>5 items · <bdi class="money">R 1 150\.73<\/bdi><\/summary><\/details><div class="folded">/,
    );
    const one = renderHtml({ ...openPage, basket: { lines: LINES.slice(0, 1), totalCents: 8_950 } });
    expect(one).toContain('<div class="basket"><div class="folded">');
    expect(readVisibleText(one)).not.toContain('items');
  });

  it('scrolls if it has more than ten lines, and can then be reached with the keyboard', () => {
    const withLines = (length: number) =>
      renderHtml({ ...openPage, basket: { lines: Array.from({ length }, () => LINES[0]!), totalCents: 1 } });
    expect(withLines(10)).toContain('<div class="lines"><table>');
    const long = withLines(500);
    expect(long).toContain('<div class="lines scrolling" role="region" tabindex="0" aria-label="1000 items"><table>');
    expect(long.match(/<tr>/g)).toHaveLength(500);
  });
});

describe('the receipt on paper', () => {
  const text = readVisibleText(renderHtml({ ...paidPage, isTest: true, basket: BASKET }));

  it.each([
    ['the merchant and the shop', /Karoo Coffee Online store/],
    ['that it is a test', /TEST: no money moves/],
    ['the amount', /Amount\s+R 123\.45/],
    ['the card', /Card\s+\*\*\*\* 4242/],
    ['the time', /Date\s+20 November 2026 at 20:03 SAST/],
    ['the order number', /Order\s+order-1001/],
    ['the payment reference', /Payment reference\s+1VQ5K3P0ABCDEFGHJK/],
    ['the lines, the delivery and the total', /Bottle.*Delivery\s+R 60\.00\s+Total\s+R 1 150\.73/],
  ])('has %s', (_, shown) => expect(text).toMatch(shown));

  it('has a button to print it, which only the script shows, and only the payer of an invoice gets it', () => {
    expect(renderHtml(paidPage)).toContain(
      '<button class="plain" type="button" id="print" hidden>Print or save the receipt',
    );
    expect(renderHtml({ ...order, state: 'already-paid' })).not.toContain('id="print"');
    expect(renderHtml(openPage)).not.toContain('id="print"');
  });
});

describe('the marks of the card schemes', () => {
  it('are those of every brand that the form recognises, with its label', () => {
    const examples = {
      visa: '4',
      mastercard: '51',
      amex: '34',
      diners: '36',
      discover: '6011',
      jcb: '3528',
      unionpay: '62',
      maestro: '50',
    };
    expect(Object.keys(CARD_MARKS)).toEqual(Object.keys(examples));
    for (const [name, digits] of Object.entries(examples))
      expect(cardBrand(digits)).toMatchObject({ name, label: CARD_MARKS[name as keyof typeof CARD_MARKS].label });
  });

  it('are shown before the payer types, with text alternatives', () => {
    const marks = /<ul class="marks" id="card-marks" role="list" aria-label="Accepted cards">(.*?)<\/ul>/s.exec(
      renderHtml(openPage),
    )?.[1];
    expect(
      [...marks!.matchAll(/<li data-brand="(\w+)"><svg [^>]*role="img" aria-label="(\w+)"/g)].map(
        ([, , label]) => label,
      ),
    ).toEqual(['Visa', 'Mastercard', 'Amex', 'Diners', 'Discover', 'JCB', 'UnionPay', 'Maestro']);
    expect(renderHtml(paidPage)).not.toContain('card-marks');
  });
});
