import { qrSvg } from '@svc/kernel';
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
import type { OrderDetails } from './pay-page-model.js';

describe('the card form', () => {
  it('has four labelled fields without a name, so that a native form post does not send them', () => {
    const html = renderHtml(openPage);
    const labels = [...html.matchAll(/<label for="([^"]+)">([^<]+)<\/label>/g)].map(([, id, text]) => [id, text]);
    expect(labels).toEqual([
      ['card-number', 'Card number'],
      ['card-expiry', 'Expiry date'],
      ['card-cvv', 'CVV'],
      ['card-name', 'Name on card'],
    ]);
    const inputs = [...html.matchAll(/<input [^>]*>/g)].map(([tag]) => tag);
    expect(inputs.map((tag) => /autocomplete="([^"]+)"/.exec(tag)?.[1])).toEqual([
      'cc-number',
      'cc-exp',
      'cc-csc',
      'cc-name',
    ]);
    expect(inputs.filter((tag) => tag.includes('inputmode="numeric"'))).toHaveLength(3);
    for (const tag of inputs) {
      expect(tag).not.toMatch(/\s(name|value)=/);
      const describedBy = /aria-describedby="([^"]+)"/.exec(tag)?.[1]?.split(' ') ?? [];
      expect(describedBy.length).toBeGreaterThan(0);
      for (const id of describedBy) expect(html).toContain(`id="${id}"`);
    }
    expect(html).not.toMatch(/<form[^>]*\s(action|method)=/);
    expect(html).toContain('<fieldset id="pay-fields" disabled>');
  });

  it('has a button with the amount, and instructions for browsers without scripts', () => {
    const html = renderHtml(openPage);
    expect(readVisibleText(/<button class="primary".*<\/button>/s.exec(html)?.[0] ?? '').trim()).toBe('Pay R 123.45');
    expect(/<noscript>(.*?)<\/noscript>/s.exec(html)?.[1]).toContain('needs JavaScript');
  });

  it('contains the data for the script, with only the public members of the key', () => {
    const keyWithPrivateMember = { ...openPage.encryptionKey, d: 'the-private-part', use: 'enc' };
    const html = renderHtml({ ...openPage, encryptionKey: keyWithPrivateMember });
    const main = /<main ([^>]*)>/.exec(html)?.[1] ?? '';
    expect(main).toContain('data-state="open"');
    expect(main).toContain('data-session-id="0198f2c4-7a3b-7c11-9d2e-5b6a7c8d9e0f"');
    expect(main).toContain('data-calls-path="/pay/0198f2c4-7a3b-7c11-9d2e-5b6a7c8d9e0f"');
    expect(main).toContain('data-session-version="3"');
    expect(main).toContain('data-payment-number="1"');
    expect(main).toContain('data-expires-at="2026-11-20T18:33:36.123Z"');
    const key = /data-encryption-key="([^"]*)"/.exec(main)?.[1]?.replaceAll('&quot;', '"') ?? '';
    expect(JSON.parse(key)).toEqual(openPage.encryptionKey);
    expect(html).not.toContain('the-private-part');
  });

  it('shows the reason, the next step and the payments left after a decline', () => {
    const text = readVisibleText(renderHtml(declinedPage));
    expect(text).toContain('There is not enough money on this card');
    expect(text).toContain('Nothing was charged.');
    expect(text).toContain('You have 4 of 5 attempts left.');
    expect(readVisibleText(renderHtml({ ...declinedPage, paymentsLeft: 1 }))).toContain('This is your last attempt.');
    expect(renderHtml(declinedPage)).toContain('role="alert"');
    expect(renderHtml(openPage)).not.toContain('id="decline"');
  });

  it('shows the message of an unknown decline reason, even if the reason is a name such as `constructor`', () => {
    for (const errorReference of ['99', 'constructor', '__proto__']) {
      const text = readVisibleText(
        renderHtml({ ...declinedPage, decline: { errorReference, message: 'Ask your bank.' } }),
      );
      expect(text).toContain('The payment did not go through');
      expect(text).toContain('Ask your bank.');
    }
  });
});

describe('the page for another device', () => {
  const code = 'https://pay.example/c/01234567890123456789';
  const openedByCode = ({ backToStoreUrl: _, ...model }: OrderDetails): OrderDetails => ({
    ...model,
    callsPath: '/c/0123',
  });

  it('is reached by a QR code beside the form: inline SVG, dark on white, with a text for screen readers', () => {
    for (const model of [openPage, declinedPage]) {
      const html = renderHtml({ ...model, code });
      expect(html).toContain(qrSvg(code, 'QR code that opens this payment on a phone').trim());
      expect(html).toContain('<path fill="#fff" d="M0 0h');
      expect(readVisibleText(html)).toContain('Scan this code with the camera of the other device');
      // On a phone, the style sheet shows the code only when this element is open.
      expect(html).toContain('<details><summary>Pay with another device</summary></details>');
      expect(html).not.toMatch(/\sstyle=|<img/);
    }
    expect(renderHtml(openPage)).not.toContain('id="code-view"');
  });

  it('has no link to the shop after the payment, because the page on the desktop returns to the shop', () => {
    const { returnUrl: _, ...receipt } = paidPage;
    for (const state of ['succeeded', 'already-paid'] as const) {
      const { backToStoreUrl: __, ...withoutStoreLinks } = receipt;
      const html = renderHtml({ ...withoutStoreLinks, state });
      expect(readVisibleText(html)).toContain('The other device shows the payment too.');
      expect(removeLanguageLinks(html)).not.toContain('<a ');
    }
    for (const state of closedStates)
      expect(removeLanguageLinks(renderHtml({ ...openedByCode(order), state }))).not.toContain('<a ');
    expect(
      removeLanguageLinks(renderHtml({ ...openedByCode(openPage), state: 'processing', isLate: false })),
    ).not.toContain('<a ');
  });

  it('gives advice if the code is unknown', () => {
    const text = readVisibleText(renderHtml({ state: 'not-found', isScanned: true }));
    expect(text).toContain('This code cannot be paid here');
    expect(text).toContain('scan it with a payment app');
  });

  it('shows the merchant of a till’s static code, and reloads until there is an open invoice', () => {
    const html = removeLanguageLinks(renderHtml({ state: 'till', merchantName: '<b>Karoo</b>' }));
    expect(readVisibleText(html)).toContain('Nothing to pay at this till yet');
    expect(html).toContain('&lt;b>Karoo');
    expect(html).toContain('<noscript><meta http-equiv="refresh" content="5"');
    expect(html).not.toMatch(/<form|<a |class="amount"/);
  });
});
