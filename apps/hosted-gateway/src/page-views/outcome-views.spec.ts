import {
  allPages,
  declinedPage,
  openPage,
  order,
  paidPage,
  readVisibleText,
  removeLanguageLinks,
  renderHtml,
  reversedCharges,
  verificationPage,
} from '../../test/pages.js';
import type { PayPageModel } from './pay-page-model.js';

const sessionPages = allPages.filter(({ state }) => !['not-found', 'till', 'unavailable'].includes(state));

describe('the payment page', () => {
  it('asks the payer to wait in state processing, and reloads automatically in browsers without scripts', () => {
    const html = renderHtml({ ...order, state: 'processing', isLate: false });
    expect(readVisibleText(html)).toContain('Confirming with your bank…');
    expect(/<p class="hint" id="processing-late" hidden/.test(html)).toBe(true);
    const late = renderHtml({ ...order, state: 'processing', isLate: true });
    expect(readVisibleText(late)).toContain('Still checking with your bank. Do not pay again.');
    expect(/<p class="hint" id="processing-late" hidden/.test(late)).toBe(false);
    expect(html).toMatch(/<noscript><meta http-equiv="refresh" content="5"\s*\/?><\/noscript>/);
    expect(html).not.toContain('<form');
  });

  it('has in state verification a link to the bank, its deadline, and a link to use another card if that is possible', () => {
    const html = renderHtml(verificationPage);
    expect(html).toContain('href="https://bank.example/challenges/1?a=b&amp;c=d"');
    expect(readVisibleText(html)).toContain('Nothing is charged before you have confirmed.');
    for (const shown of ['20 November 2026 at 20:18 SAST', '20 November 2026 at 20:03 SAST', '**** 3220', 'R 123.45'])
      expect(readVisibleText(html)).toContain(shown);
    expect(html).toContain('href="?sessionId=1&amp;card=another"');
    expect(html).toMatch(/<noscript><meta http-equiv="refresh"/);
    const { anotherCardUrl: _, ...withoutAnotherCard } = verificationPage;
    expect(renderHtml(withoutAnotherCard)).not.toContain('card=another');
    expect(renderHtml({ ...verificationPage, verificationUrl: 'javascript:alert(1)' })).not.toContain('javascript');
  });

  it('shows reversed charges in every state, with amount, card and time', () => {
    for (const model of sessionPages) {
      const text = readVisibleText(renderHtml({ ...model, reversedCharges } as PayPageModel));
      for (const shown of ['was refunded to your card', 'R 99.00', '**** 0119', '20 November 2026 at 20:04 SAST'])
        expect(text).toContain(shown);
    }
    expect(renderHtml({ ...openPage, reversedCharges: [] })).not.toContain('refunded');
    expect(renderHtml(openPage)).not.toContain('refunded');
  });

  it('shows the initial of any merchant name, in a colour that depends on the name', () => {
    const findMark = (merchantName: string) =>
      /<span class="mark tone-(\d)"[^>]*>([^<]*)<\/span>/.exec(renderHtml({ ...openPage, merchantName }));
    expect(findMark('karoo coffee')?.slice(1)).toEqual(findMark('karoo coffee')?.slice(1));
    expect(findMark('karoo coffee')?.[2]).toBe('K');
    expect(findMark('"><b>7</b>')?.[2]).toBe('B');
    expect([findMark('😀')?.[2], findMark('')?.[2], findMark('\u202E…')?.[2]]).toEqual(['•', '•', '•']);
    const tones = new Set(Array.from({ length: 200 }, (_, index) => findMark(`Shop ${index}`)?.[1]));
    expect(tones.size).toBe(8);
  });

  it('is a receipt in state succeeded, with a link to the shop that works without scripts', () => {
    const html = renderHtml(paidPage);
    for (const shown of ['Payment successful', '1VQ5K3P0ABCDEFGHJK', '20 November 2026 at 20:03 SAST', 'R 123.45']) {
      expect(readVisibleText(html)).toContain(shown);
    }
    expect(html).toContain(
      '<a class="primary" id="return-link" href="https://shop.example/thanks?paymentStatus=Success">',
    );
    const text = readVisibleText(html);
    expect(text).toContain('give the payment reference');
    const { cardLabel: _, ...charge } = paidPage.charge!;
    expect(readVisibleText(renderHtml({ ...paidPage, charge }))).not.toContain('Card');
    expect(readVisibleText(html)).toContain('Return to Karoo Coffee');
    expect(html).toContain('id="returning"');
  });

  it.each([
    ['succeeded', paidPage, ['R 123.45', 'order-1001', '**** 4242']],
    ['already-paid', { ...paidPage, state: 'already-paid' as const }, ['R 123.45', 'order-1001', '**** 4242']],
    ['verification', verificationPage, ['R 123.45', 'order-1001', '**** 3220']],
  ] as const)('in state %s shows the amount, the order and the card only once', (_state, model, texts) => {
    const text = readVisibleText(renderHtml(model));
    for (const shownOnce of texts) expect([shownOnce, text.split(shownOnce).length - 1]).toEqual([shownOnce, 1]);
  });

  it('shows for a test session, and only for a test session, that no money moves', () => {
    for (const model of [openPage, declinedPage, paidPage, verificationPage]) {
      expect(readVisibleText(renderHtml({ ...model, isTest: true }))).toContain('TEST: no money moves');
      expect(readVisibleText(renderHtml(model))).not.toContain('TEST');
    }
  });

  it('has a reload link only beside the form, in case the script does not load', () => {
    expect(renderHtml(openPage)).toContain('<a href>load the page again</a>');
    expect(renderHtml(paidPage)).not.toContain('script-late');
  });

  it('has the receipt in state already-paid and does not redirect', () => {
    const html = renderHtml({ ...paidPage, state: 'already-paid' });
    expect(readVisibleText(html)).toContain('This order is already paid');
    expect(html).not.toContain('id="returning"');
  });

  it.each([
    ['refused', 'This payment cannot be tried again'],
    ['expired', 'This payment page has expired'],
    ['cancelled', 'This payment was cancelled'],
  ] as const)('in state %s shows the heading "%s", and that nothing was charged', (state, heading) => {
    const html = renderHtml({ ...order, state });
    expect(readVisibleText(html)).toContain(heading);
    expect(readVisibleText(html)).toContain('Nothing was charged.');
    expect(html).not.toContain('<form');
    expect(html).not.toContain('data-encryption-key');
  });

  it('contains no session id and no link in state not-found', () => {
    const html = renderHtml({ state: 'not-found' });
    expect(readVisibleText(html)).toContain('This payment page does not exist');
    expect(html).not.toContain('data-session-id');
    expect(removeLanguageLinks(html)).not.toContain('<a ');
  });
});
